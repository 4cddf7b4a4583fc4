/**
 * A file of JSON lines, however large, read in one go with little memory. Lines come as bytes were written: one that is too long
 * to be looked into is passed over but for its beginning, and the last one may lack its end.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';

export type TranscriptLine =
  | { readonly kind: 'object'; readonly value: JsonObject; readonly bytes: number; text(): string }
  /** `why` names what it is instead. */
  | { readonly kind: 'other'; readonly why: 'too long' | 'not JSON' | 'cut off'; readonly bytes: number; text(): string };

const NEWLINE = 10;

/** Of the first `end` bytes, so that a file that grows meanwhile is read as it was. */
export async function* transcriptLines(path: string, end: number): AsyncGenerator<TranscriptLine> {
  let kept: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer): void => {
    const room = limits.transcriptLineBytes - bytes;
    if (room > 0) kept.push(piece.length > room ? piece.subarray(0, room) : piece);
    bytes += piece.length;
  };
  const give = (isCut: boolean): TranscriptLine | undefined => {
    const line = lineFrom(kept, bytes, isCut);
    kept = [];
    bytes = 0;
    return line;
  };
  if (end === 0) return;
  for await (const chunk of createReadStream(path, { end: end - 1, highWaterMark: 256 * 1024 })) {
    let from = 0;
    const piece = chunk as Buffer;
    for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, from)) {
      take(piece.subarray(from, at));
      const line = give(false);
      if (line !== undefined) yield line;
      from = at + 1;
    }
    if (from < piece.length) take(piece.subarray(from));
  }
  const line = give(true);
  if (line !== undefined) yield line;
}

/** Nothing for a line without anything in it. */
function lineFrom(kept: readonly Buffer[], bytes: number, isLast: boolean): TranscriptLine | undefined {
  if (bytes > limits.transcriptLineBytes) {
    const begin = Buffer.concat(kept).subarray(0, limits.transcriptRecordBytes).toString();
    return { kind: 'other', why: 'too long', bytes, text: () => begin };
  }
  const text = Buffer.concat(kept)
    .toString()
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return undefined;
  const parsed = parseJson(text);
  if (parsed.ok && isJsonObject(parsed.value)) return { kind: 'object', value: parsed.value, bytes, text: () => text };
  return { kind: 'other', why: isLast && !parsed.ok ? 'cut off' : 'not JSON', bytes, text: () => text };
}

/** The SHA-256 of files, each up to its length here, with their names. */
export async function digestOf(files: readonly { readonly name: string; readonly path: string; readonly bytes: number }[]) {
  const hash = createHash('sha256');
  for (const { name, path, bytes } of files) {
    hash.update(`${JSON.stringify([name, bytes])}\n`);
    if (bytes > 0) for await (const chunk of createReadStream(path, { end: bytes - 1 })) hash.update(chunk as Buffer);
  }
  return hash.digest('hex');
}
