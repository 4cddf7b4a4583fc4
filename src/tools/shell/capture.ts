/**
 * Keeps the start and the end of a stream of any length in a fixed amount of memory, and counts the rest. The cost per byte
 * is one copy, so that a command that prints for hours is as cheap to watch as one that prints a line.
 */
import { endOf, startOf } from '../../base/whole-words.ts';
import { boundaryAfter, boundaryBefore, omission } from '../bounded.ts';

export interface Capture {
  append(chunk: Uint8Array): void;
  /** Everything that was ever appended, in bytes. */
  total(): number;
  /** The text; when bytes are missing, a line in its middle says how many. */
  text(): string;
}

const FIRST_ALLOCATION = 4_096;

export function createCapture(maxBytes: number): Capture {
  const headMax = Math.ceil(maxBytes / 2);
  const tailMax = Math.max(1, maxBytes - headMax);
  let head: Buffer = Buffer.alloc(0);
  let headBytes = 0;
  /** A ring; allocated only when the head is full. */
  let tail: Buffer | undefined;
  let tailTotal = 0;
  let total = 0;

  const appendHead = (chunk: Uint8Array): Uint8Array => {
    const taken = chunk.subarray(0, headMax - headBytes);
    const needed = headBytes + taken.length;
    if (needed > head.length) {
      const larger = Buffer.alloc(Math.min(headMax, Math.max(needed, head.length * 2, FIRST_ALLOCATION)));
      head.copy(larger, 0, 0, headBytes);
      head = larger;
    }
    head.set(taken, headBytes);
    headBytes = needed;
    return chunk.subarray(taken.length);
  };

  const appendTail = (chunk: Uint8Array): void => {
    tail ??= Buffer.alloc(tailMax);
    const skipped = Math.max(0, chunk.length - tailMax);
    let rest = chunk.subarray(skipped);
    tailTotal += skipped;
    while (rest.length > 0) {
      const at = tailTotal % tailMax;
      const piece = rest.subarray(0, tailMax - at);
      tail.set(piece, at);
      tailTotal += piece.length;
      rest = rest.subarray(piece.length);
    }
  };

  const tailBytes = (): Buffer => {
    if (tail === undefined) return Buffer.alloc(0);
    if (tailTotal <= tailMax) return tail.subarray(0, tailTotal);
    const at = tailTotal % tailMax;
    return Buffer.concat([tail.subarray(at), tail.subarray(0, at)]);
  };

  return {
    append: (chunk) => {
      total += chunk.length;
      const rest = headBytes < headMax ? appendHead(chunk) : chunk;
      if (rest.length > 0) appendTail(rest);
    },
    total: () => total,
    text: () => {
      const start = head.subarray(0, headBytes);
      const end = tailBytes();
      if (total === start.length + end.length) return Buffer.concat([start, end]).toString();
      // The first missing byte may lie inside a character, or inside a word that is secret: both edges move to whole ones.
      const first = withoutHalfWord(start.subarray(0, lastWholeCharacter(start)).toString(), 'end');
      const last = withoutHalfWord(end.subarray(boundaryAfter(end, 0)).toString(), 'start');
      return first + omission(total - Buffer.byteLength(first) - Buffer.byteLength(last)) + last;
    },
  };
}

/** What is left of a word that was cut goes too. */
const withoutHalfWord = (text: string, side: 'start' | 'end'): string =>
  side === 'end' ? startOf(`${text}x`, text.length) : endOf(`x${text}`, text.length);

/** Where to cut so that an unfinished character at the very end is left out. */
function lastWholeCharacter(bytes: Uint8Array): number {
  const lead = boundaryBefore(bytes, bytes.length - 1);
  const first = bytes[lead] ?? 0;
  const expected = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead + expected > bytes.length ? lead : bytes.length;
}
