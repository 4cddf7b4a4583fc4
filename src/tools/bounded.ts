/**
 * Long text cut to a number of bytes: its head, a line that says how much is missing, its tail. What comes out is always
 * valid text: no UTF-8 character and no surrogate pair is split.
 */

export interface BoundedText {
  readonly text: string;
  /** Size of the original in bytes; present only when something was left out. */
  readonly wholeBytes?: number;
}

const IN_LEDGER = 'the whole is in the ledger';

/** Cuts `text` so that the result, marker included, has at most `maxBytes` bytes. */
export function boundResult(text: string, maxBytes: number, note: string = IN_LEDGER): BoundedText {
  // A character takes at most three bytes per UTF-16 unit, so short text needs no counting.
  if (text.length * 3 <= maxBytes) return { text };
  const wholeBytes = Buffer.byteLength(text);
  if (wholeBytes <= maxBytes) return { text };
  const room = maxBytes - Buffer.byteLength(omission(wholeBytes, note));
  if (room <= 0) return { text: headOf(text, maxBytes), wholeBytes };
  const head = headOf(text, Math.ceil(room / 2));
  const tail = tailOf(text, Math.floor(room / 2));
  const missing = wholeBytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return { text: head + omission(missing, note) + tail, wholeBytes };
}

/** The line that stands where bytes are missing. */
export function omission(bytes: number, note = ''): string {
  return `\n[… ${groupDigits(bytes)} bytes left out${note === '' ? '' : `; ${note}`} …]\n`;
}

/** The longest start of `text` with at most `maxBytes` bytes. */
export function headOf(text: string, maxBytes: number): string {
  // Every UTF-16 unit takes at least one byte, so the rest cannot fit.
  const bytes = Buffer.from(text.slice(0, Math.max(0, maxBytes) + 2));
  if (bytes.length <= maxBytes) return bytes.toString();
  return bytes.subarray(0, boundaryBefore(bytes, maxBytes)).toString();
}

/** The longest end of `text` with at most `maxBytes` bytes. */
export function tailOf(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return '';
  const bytes = Buffer.from(text.slice(-(maxBytes + 2)));
  if (bytes.length <= maxBytes) return bytes.toString();
  return bytes.subarray(boundaryAfter(bytes, bytes.length - maxBytes)).toString();
}

/** The last position at or before `index` where a character starts. */
export function boundaryBefore(bytes: Uint8Array, index: number): number {
  let position = Math.max(0, Math.min(index, bytes.length));
  while (position > 0 && position < bytes.length && isContinuation(bytes[position])) position -= 1;
  return position;
}

/** The first position at or after `index` where a character starts. */
export function boundaryAfter(bytes: Uint8Array, index: number): number {
  let position = Math.max(0, index);
  while (position < bytes.length && isContinuation(bytes[position])) position += 1;
  return position;
}

export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
