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
  const inWords = (message: string): string =>
    message.replace('the frontmatter', 'the file').replace('broken YAML', 'broken JSON');
  return fail(arrange(map.error.map((one) => ({ ...one, message: inWords(one.message) }))));
}
