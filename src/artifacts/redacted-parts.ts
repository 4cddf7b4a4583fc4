/**
 * Secrets taken out of what is stored, part by part. Texts are cut between lines, and only where the cut goes through no secret:
 * both sides redacted must be the whole redacted. Nothing can be taken out of a binary file without breaking it, so one that
 * holds a secret is refused.
 */
import { isUtf8 } from 'node:buffer';
import { limits } from '../base/limits.ts';

export type StoredPart =
  | { readonly kind: 'part'; readonly bytes: Uint8Array; readonly text: boolean; readonly redacted: boolean }
  /** A secret in bytes that are no text. */
  | { readonly kind: 'secret' };

type Redact = (text: string) => string;

/** How much of a binary part is looked at again with the next one. */
const OVERLAP = 4_096;
/** How many places for a cut are tried. */
const CUTS = 32;
/** How much of a text is looked at beyond a cut. */
const AHEAD = 64 * 1024;

export async function* redactedParts(
  raw: AsyncIterable<Uint8Array>,
  redact: Redact,
  partBytes: number = limits.artifactPartBytes,
): AsyncGenerator<StoredPart> {
  let carry = Buffer.alloc(0);
  let binary = false;
  let before = '';
  const binaryPart = (bytes: Buffer): StoredPart => {
    const seen = before + bytes.toString('latin1');
    before = seen.slice(-OVERLAP);
    return redact(seen) === seen ? { kind: 'part', bytes, text: false, redacted: false } : { kind: 'secret' };
  };
  for await (const chunk of raw) {
    const window = Buffer.concat([carry, chunk]);
    carry = window;
    if (window.length < partBytes) continue;
    const whole = wholeCharacters(window);
    binary ||= !isText(window.subarray(0, whole));
    if (binary) {
      carry = Buffer.alloc(0);
      yield binaryPart(window);
    } else {
      const { bytes, rest, redacted } = cutText(window.subarray(0, whole).toString(), redact);
      carry = Buffer.concat([Buffer.from(rest), window.subarray(whole)]);
      yield { kind: 'part', bytes, text: true, redacted };
    }
  }
  if (carry.length === 0) return;
  if (binary || !isText(carry)) yield binaryPart(carry);
  else {
    const cleaned = redact(carry.toString());
    yield { kind: 'part', bytes: Buffer.from(cleaned), text: true, redacted: cleaned !== carry.toString() };
  }
}

const isText = (bytes: Uint8Array): boolean => isUtf8(bytes) && !bytes.includes(0);

/** Without the beginning of a character whose end comes with the next part. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return bytes.length;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return needs > back ? bytes.length - back : bytes.length;
    }
  }
  return bytes.length;
}

/** As much of the text as can be stored now, and the rest, which is looked at with what follows. */
function cutText(text: string, redact: Redact): { readonly bytes: Buffer; readonly rest: string; readonly redacted: boolean } {
  const cleaned = redact(text);
  const half = Math.floor(text.length / 2);
  // Well before the end: a secret that the cut would go through must be there as a whole to be seen.
  const before = text.lastIndexOf('\n', text.length - Math.min(AHEAD, Math.floor(half / 2)) - 1) + 1;
  let at = Math.max(before, half);
  for (let tries = 0; tries < CUTS && at > 1; tries += 1) {
    const split = isSecondHalf(text, at) ? at - 1 : at;
    const head = redact(text.slice(0, split));
    if (head + redact(text.slice(split)) === cleaned)
      return { bytes: Buffer.from(head), rest: text.slice(split), redacted: head !== text.slice(0, split) };
    at = split - Math.max(1, Math.floor(half / CUTS));
  }
  return { bytes: Buffer.from(cleaned), rest: '', redacted: cleaned !== text };
}

/** Whether a character of two units would be cut in its middle. */
const isSecondHalf = (text: string, at: number): boolean => /[\uDC00-\uDFFF]/.test(text.charAt(at));
