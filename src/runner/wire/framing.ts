/**
 * One JSON value per line, over a stream of bytes. Both ends of a runner's pipes speak it.
 *
 * - A line ends at byte 0x0A and nowhere else: U+2028, a carriage return or a character cut in two by the pipe change nothing.
 * - A byte is copied a fixed number of times on average, however small the pieces are that it comes in.
 * - What is no frame (a library that prints to stdout, say) is passed over, and its end kept to explain a crash.
 * - No line may be longer than `maxBytes`. After one that is, nothing more is read.
 */
import type { Writable } from 'node:stream';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';

const NEWLINE = 0x0a;
const FIRST_ALLOCATION = 4_096;
/** A buffer that grew beyond this for one long line is not kept for the short ones after it. */
const KEPT_BYTES = 65_536;

export interface FrameReading {
  readonly maxBytes: number;
  onFrame(frame: JsonObject): void;
  onGarbage(line: string): void;
  onTooLong(problem: string): void;
}

export interface FrameReader {
  push(chunk: Buffer): void;
}

export function createFrameReader(reading: FrameReading): FrameReader {
  let kept = Buffer.alloc(0);
  let length = 0;
  let broken = false;

  const keep = (piece: Buffer): void => {
    const needed = length + piece.length;
    if (needed > kept.length) {
      const larger = Buffer.allocUnsafe(Math.min(reading.maxBytes, Math.max(needed, kept.length * 2, FIRST_ALLOCATION)));
      kept.copy(larger, 0, 0, length);
      kept = larger;
    }
    piece.copy(kept, length);
    length = needed;
  };

  const finish = (piece: Buffer): void => {
    // What comes in one piece is not copied.
    if (length > 0) keep(piece);
    const line = length > 0 ? kept.toString('utf8', 0, length) : piece.toString();
    if (kept.length > KEPT_BYTES) kept = Buffer.alloc(0);
    length = 0;
    deliver(line, reading);
  };

  const fits = (piece: Buffer): boolean => {
    broken = length + piece.length > reading.maxBytes;
    if (!broken) return true;
    kept = Buffer.alloc(0);
    reading.onTooLong(tooLong(reading.maxBytes));
    return false;
  };

  return {
    push(chunk) {
      let start = 0;
      while (!broken && start < chunk.length) {
        const end = chunk.indexOf(NEWLINE, start);
        const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
        if (!fits(piece)) return;
        if (end < 0) return keep(piece);
        finish(piece);
        start = end + 1;
      }
    },
  };
}

function deliver(line: string, reading: FrameReading): void {
  if (line.trim() === '') return;
  const parsed = parseJson(line);
  if (parsed.ok && isJsonObject(parsed.value) && parsed.value['jsonrpc'] === '2.0') reading.onFrame(parsed.value);
  else reading.onGarbage(line);
}

function tooLong(maxBytes: number): string {
  return `a line is longer than ${maxBytes} bytes (the limit runnerLineBytes)`;
}

export interface FrameWriter {
  /** The failure says why this frame can never be sent. */
  write(frame: JsonObject): Result<void, string>;
  /** Resolves when everything written so far has been handed over, or never will be. */
  flushed(): Promise<void>;
}

/**
 * Hands lines over one by one and waits whenever the stream is full. What waits here is bounded by those who write: every
 * frame answers or asks something, and only so many questions may be open.
 */
export function createFrameWriter(stream: Writable, maxBytes: number): FrameWriter {
  const waiting: Buffer[] = [];
  let full = false;
  let idle: (() => void)[] = [];

  const proceed = (): void => {
    full = false;
    let taken = 0;
    for (; taken < waiting.length && !full && stream.writable; taken += 1) full = !stream.write(waiting[taken]);
    waiting.splice(0, stream.writable ? taken : waiting.length);
    if (waiting.length > 0 || (full && stream.writable)) return;
    for (const resolve of idle) resolve();
    idle = [];
  };
  stream.on('drain', proceed);
  stream.on('close', proceed);

  return {
    write(frame) {
      const line = Buffer.from(`${JSON.stringify(frame)}\n`);
      if (line.length > maxBytes + 1) return fail(tooLong(maxBytes));
      waiting.push(line);
      if (!full) proceed();
      return ok(undefined);
    },
    flushed: () =>
      new Promise((resolve) => {
        idle.push(resolve);
        if (!full) proceed();
      }),
  };
}
