/** YAML text against a strict schema: a value, or every problem at once with line, column and a suggestion. */
import { z } from 'zod';
import { keysAt } from '../agents/definition/json-schema.ts';
import { diagnoseIssues } from '../agents/definition/schema-issues.ts';
import { withoutRefused } from '../agents/file/without-refused.ts';
import { arrange, type Diagnostic } from '../agents/text/diagnostics.ts';
import { sourceText } from '../agents/text/source-text.ts';
import { type PlaceOf, parseYamlMap } from '../agents/text/yaml-map.ts';
import type { JsonObject } from '../base/json.ts';
import { fail, ok, type Result } from '../base/result.ts';

export interface ParsedSettings<Value> {
  readonly value: Value;
  readonly placeOf: PlaceOf;
}

export function parseSettings<Schema extends z.ZodObject>(
  file: string,
  text: string,
  schema: Schema,
): Result<ParsedSettings<z.infer<Schema>>, readonly Diagnostic[]> {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  // The same reader serves agent files; here the whole file is what it calls frontmatter.
  const problems = (all: readonly Diagnostic[]) =>
    fail(arrange(all.map((one) => ({ ...one, message: one.message.replace('the frontmatter', 'the file') }))));
  if (!map.ok) return problems(map.error);
  const { placeOf } = map.value;
  const parsed = schema.safeParse(map.value.value, { reportInput: true });
  if (parsed.success) return ok({ value: parsed.data, placeOf });
  return problems(diagnoseIssues(parsed.error.issues, placeOf, (path) => keysAt(shapeOf(schema), path)));
}

export interface SalvagedSettings<Value> extends ParsedSettings<Value> {
  /** The names under these keys behind which something stands that is refused. */
  readonly names: Readonly<Record<'mcp' | 'vars' | 'providers' | 'prices', readonly string[]>>;
}

/** What can be read of settings with problems, so that `check` sees the rest of the project. Nothing is ever run with it. */
export function salvageSettings<Schema extends z.ZodObject>(
  file: string,
  text: string,
  schema: Schema,
): SalvagedSettings<z.infer<Schema>> | undefined {
  const source = sourceText(file, text);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  const kept = map.ok ? withoutRefused(map.value.value, schema) : undefined;
  if (!map.ok || kept === undefined) return undefined;
  const keysIn = (values: object, key: string): readonly string[] => {
    const found: unknown = Object.entries(values).find(([name]) => name === key)?.[1];
    return typeof found === 'object' && found !== null ? Object.keys(found) : [];
  };
  const { value: written, placeOf } = map.value;
  const namesAt = (key: string): readonly string[] => {
    const sound = keysIn({ ...kept.value }, key);
    return keysIn(written, key).filter((name) => !sound.includes(name));
  };
  return {
    value: kept.value,
    placeOf: (path, part) => placeOf(kept.written(path), part),
    names: { mcp: namesAt('mcp'), vars: namesAt('vars'), providers: namesAt('providers'), prices: namesAt('prices') },
  };
}

const shapeOf = (schema: z.ZodObject): JsonObject =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonObject;
