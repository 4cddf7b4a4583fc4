/**
 * JSON as people write it for editors: with comments and trailing commas. Comments become spaces, so that every problem stays
 * where it stands; what is left is read as YAML, of which JSON is a part.
 */
import { fail, type Result } from '../../base/result.ts';
import { arrange, type Diagnostic } from './diagnostics.ts';
import { sourceText } from './source-text.ts';
import { parseYamlMap, type YamlMap } from './yaml-map.ts';

/** A string, or a comment of either kind; one that never ends goes to the end of the file. */
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** `file` is how problems name it. */
export function parseJsonText(file: string, text: string): Result<YamlMap, readonly Diagnostic[]> {
  const plain = text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('"') ? found : found.replace(/[^\n]/g, ' ')));
  const source = sourceText(file, plain);
  const map = parseYamlMap(source, { start: 0, end: source.text.length });
  if (map.ok) return map;
  const inWords = (message: string): string => message.replace('the frontmatter', 'the file');
  const [first, ...rest] = arrange(map.error.map((one) => ({ ...one, message: inWords(one.message) })));
  if (first === undefined) return map;
  const broken = [first, ...rest].find(({ message }) => message.startsWith(BROKEN));
  const found = brackets(plain);
  if (broken === undefined && found === undefined) return fail([first, ...rest]);
  // What the parser finds behind a bracket that is missing comes of that.
  const said = found ?? { message: 'this is no JSON', fix: 'Look for a comma, a quote or a bracket that is missing here.' };
  return fail([{ ...(broken ?? first), message: `broken JSON: ${said.message}`, fix: said.fix }]);
}

const BROKEN = 'broken YAML';
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };
const STRING_OR_BRACKET = /"(?:[^"\\\n]|\\.)*"|[[\]{}]/g;

/** The first bracket that is missing or too many; `undefined` where all of them fit. */
function brackets(plain: string): { readonly message: string; readonly fix: string } | undefined {
  const open: string[] = [];
  const lineAt = (index: number): number => plain.slice(0, index).split('\n').length;
  for (const { 0: sign, index } of plain.matchAll(STRING_OR_BRACKET)) {
    const closing = CLOSING[sign];
    if (closing !== undefined) open.push(closing);
    else if (!sign.startsWith('"')) {
      const wanted = open.pop();
      if (wanted === undefined) return { message: `a ${sign} too many in line ${lineAt(index)}`, fix: 'Take it out.' };
      if (wanted !== sign) return missing(wanted, `before the ${sign} in line ${lineAt(index)}`);
    }
  }
  const last = open.at(-1);
  return last === undefined ? undefined : missing(last, 'at the end');
}

const missing = (sign: string, where: string) => ({ message: `a ${sign} is missing ${where}`, fix: `Put a ${sign} there.` });
