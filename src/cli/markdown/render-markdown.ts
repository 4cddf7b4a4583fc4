/**
 * An answer as a person reads it on a terminal. Models write Markdown; it is drawn within the width there is, and what cannot
 * be read as Markdown is shown as it was written, broken between words.
 */
import { limits } from '../../base/limits.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { wrapToWidth } from '../terminal/text-width.ts';
import { blockLines } from './blocks.ts';

/** Lines of prose beyond this are hard to follow with the eye. */
const PROSE_WIDTH = 100;

export async function renderMarkdown(body: string, screen: Screen): Promise<readonly string[]> {
  const text = safeText(body).trimEnd();
  const width = Math.min(screen.width(), PROSE_WIDTH);
  if (isTooMuch(text)) return wrapToWidth(text, screen.width());
  // Only here, because most starts of the command line draw nothing.
  const { lexer } = await import('marked');
  try {
    return blockLines(lexer(text), { paint: screen.paint, width, depth: 0 });
  } catch (error) {
    // Nesting that is deep enough makes the lexer run out of stack.
    if (error instanceof RangeError) return wrapToWidth(text, screen.width());
    throw error;
  }
}

/** What may be markup. The time that the lexer takes grows with the square of how much of it stands in one paragraph. */
const SIGN = /[*_[\]>~`<\\@]|[-+.] /g;

function isTooMuch(text: string): boolean {
  if (text.length > limits.renderedCharacters) return true;
  return text.split(/\n[ \t]*\n/).some((paragraph) => (paragraph.match(SIGN)?.length ?? 0) > limits.renderedSigns);
}
