/**
 * Cuts an agent file into its frontmatter and its body. The fences are lines that are exactly `---`; a `#!` line may stand
 * before the first. Line ends may be LF or CRLF. Offsets stay those of the file, so that positions can be kept.
 */
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type Diagnostic, errorAt } from './diagnostics.ts';
import type { SourceText } from './source-text.ts';

/** A stretch of a file's text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface FileSpans {
  readonly frontmatter: Span;
  readonly body: Span;
}

const FENCE_FIX = 'Start the file with a line `---`, then keys such as `model: …`, then another line `---`, then the prompt.';

export function splitFile(source: SourceText): Result<FileSpans, Diagnostic> {
  const { text } = source;
  const opening = text.startsWith('#!') ? nextLine(text, 0) : 0;
  if (!isFence(text, opening)) {
    return fail(errorAt(source.placeAt(Math.min(opening, text.length)), 'the file does not start with a line `---`', FENCE_FIX));
  }
  const start = nextLine(text, opening);
  const closing = findFence(text, start);
  if (closing === undefined) {
    return fail(errorAt(source.placeAt(opening), 'the frontmatter has no end', 'Close it with a line that is exactly `---`.'));
  }
  if (closing - start > limits.frontmatterBytes) {
    const message = `the frontmatter is longer than ${limits.frontmatterBytes} characters (limit frontmatterBytes)`;
    return fail(errorAt(source.placeAt(opening), message, 'Move long text below the frontmatter, into the prompt.'));
  }
  return ok({ frontmatter: { start, end: closing }, body: { start: nextLine(text, closing), end: text.length } });
}

/** Where the line after the one at `offset` starts; the end of the text when there is none. */
function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

function isFence(text: string, offset: number): boolean {
  if (!text.startsWith('---', offset)) return false;
  const rest = text.slice(offset + 3, offset + 5);
  return rest === '' || rest === '\r' || rest === '\r\n' || rest.startsWith('\n');
}

function findFence(text: string, from: number): number | undefined {
  for (let line = from; line < text.length; line = nextLine(text, line)) {
    if (isFence(text, line)) return line;
  }
  return undefined;
}
