/** YAML text against a strict schema: a value, or every problem at once with line, column and a suggestion. */
import type { z } from 'zod';
import { arrange, type Diagnostic, errorAt, quote } from '../agents/diagnostics.ts';
import { sourceText } from '../agents/source-text.ts';
import { type PlaceOf, parseYamlMap } from '../agents/yaml-map.ts';
import { suggest } from '../base/did-you-mean.ts';
import { fail, ok, type Result } from '../base/result.ts';

export function parseSettings<Schema extends z.ZodObject>(
  file: string,
  text: string,
  schema: Schema,
): Result<z.infer<Schema>, readonly Diagnostic[]> {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  // The same reader serves agent files; here the whole file is what it calls frontmatter.
  if (!map.ok) return fail(map.error.map((one) => ({ ...one, message: one.message.replace('the frontmatter', 'the file') })));
  const parsed = schema.safeParse(map.value.value);
  if (parsed.success) return ok(parsed.data);
  const { placeOf } = map.value;
  return fail(arrange(parsed.error.issues.flatMap((issue) => diagnose(issue, Object.keys(schema.shape), placeOf))));
}

function diagnose(issue: z.core.$ZodIssue, known: readonly string[], placeOf: PlaceOf): readonly Diagnostic[] {
  const name = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return [errorAt(placeOf(issue.path), `${quote(name)} ${plainly(issue)}`)];
  return issue.keys.map((key) => {
    const where = name === '' ? '' : ` in ${quote(name)}`;
    const fix = name === '' ? suggest(key, known, 'keys') : undefined;
    return errorAt(placeOf([...issue.path, key], 'key'), `unknown key ${quote(key)}${where}`, fix);
  });
}

function plainly(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_union') return 'has a value of the wrong kind';
  return issue.message.startsWith('must') ? issue.message : `is not right: ${issue.message}`;
}
