/** Gives an agent file another name, leaving every other character of it as it is. */
import { isScalar, parseDocument, stringify } from 'yaml';
import { ok, type Result } from '../../base/result.ts';
import type { Diagnostic } from '../text/diagnostics.ts';
import { splitFile } from '../text/frontmatter.ts';
import { sourceText } from '../text/source-text.ts';

/** Fails where there is no frontmatter to put the name into. What else is wrong with the file is for whoever loads it. */
export function setName(file: string, content: string, name: string): Result<string, Diagnostic> {
  const source = sourceText(file, content);
  const { text } = source;
  const spans = splitFile(source);
  if (!spans.ok) return spans;
  const { start, end } = spans.value.frontmatter;
  const written = stringify(name, { lineWidth: 0 }).trimEnd();
  const node = parseDocument(text.slice(start, end)).get('name', true);
  const range = isScalar(node) ? node.range : undefined;
  if (range === undefined || range === null) return ok(`${text.slice(0, start)}name: ${written}\n${text.slice(start)}`);
  return ok(text.slice(0, start + range[0]) + written + text.slice(start + range[1]));
}
