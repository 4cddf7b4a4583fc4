/** The text of a file that remembers where each character stands, so that every problem can be pointed at. */
import type { SourcePlace } from './diagnostics.ts';

export interface SourceText {
  /** The name to show for the file. */
  readonly file: string;
  /** Without a byte-order mark. */
  readonly text: string;
  placeAt(offset: number): SourcePlace;
}

export function sourceText(file: string, content: string): SourceText {
  const text = content.startsWith('\ufeff') ? content.slice(1) : content;
  let starts: readonly number[] | undefined;
  const placeAt = (offset: number): SourcePlace => {
    starts ??= lineStarts(text);
    const line = lastNotAfter(starts, offset);
    return { file, line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
  return { file, text, placeAt };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

/** Index of the last start that is not after `offset`, by halving. */
function lastNotAfter(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
