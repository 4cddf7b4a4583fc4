import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Json, JsonObject } from '../../base/json.ts';
import { createFrameReader, createFrameWriter } from './framing.ts';

const MIB = 1024 * 1024;

function reading(maxBytes = 64 * MIB) {
  const frames: JsonObject[] = [];
  const garbage: string[] = [];
  const problems: string[] = [];
  const reader = createFrameReader({
    maxBytes,
    onFrame: (frame) => frames.push(frame),
    onGarbage: (line) => garbage.push(line),
    onTooLong: (problem) => problems.push(problem),
  });
  return { reader, frames, garbage, problems };
}

const frame = (params: Json): JsonObject => ({ jsonrpc: '2.0', method: 'm', params });
const line = (value: Json): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/** The bytes in pieces whose lengths repeat. */
function* pieces(bytes: Buffer, lengths: readonly number[]): Generator<Buffer> {
  for (let start = 0, index = 0; start < bytes.length; index += 1) {
    const length = lengths[index % lengths.length] ?? 1;
    yield bytes.subarray(start, start + length);
    start += length;
  }
}

const awkward = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\u2028', '\u2029', '\u0085', '\r\n', '\n', '\0', '👩‍👩‍👧', '\ud800', '"}\n{"'),
);
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
/** What a library may print: never a frame, never a newline. */
const noise = fc
  .oneof(fc.string({ unit: 'grapheme' }), fc.json(), fc.constantFrom('{', 'null', '[]', '{"jsonrpc":"1.0"}', '(node:1) Warning'))
  .map((text) => text.replaceAll('\n', ' '));

describe('frames on the wire', () => {
  it('come through whatever the pieces are', () => {
    fc.assert(
      fc.property(fc.array(fc.array(awkward), { maxLength: 10 }), lengths, (values, sizes) => {
        const { reader, frames, garbage } = reading();
        const bytes = Buffer.concat(values.map((value) => line(frame(value))));
        for (const piece of pieces(bytes, sizes)) reader.push(piece);
        expect(frames).toEqual(values.map((value) => JSON.parse(JSON.stringify(frame(value)))));
        expect(garbage).toEqual([]);
      }),
    );
  });

  it('are found between lines that are none', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(noise, awkward), { maxLength: 10 }), lengths, (lines, sizes) => {
        const { reader, frames, garbage } = reading();
        const bytes = Buffer.concat(lines.flatMap(([text, value]) => [Buffer.from(`${text}\n`), line(frame(value))]));
        for (const piece of pieces(bytes, sizes)) reader.push(piece);
        expect(frames).toHaveLength(lines.length);
        expect(garbage).toHaveLength(lines.filter(([text]) => text.trim() !== '').length);
      }),
    );
  });

  it('are found again in any bytes without a throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => {
        const { reader, frames } = reading(1_000);
        for (const chunk of chunks) reader.push(Buffer.from(chunk));
        expect(frames).toEqual([]);
      }),
    );
  });

  it.each([
    ['64 KiB', 65_536],
    ['7 bytes', 7],
  ])('of 10 MiB come through in pieces of %s, and each byte is copied a few times at most', (_name, size) => {
    const { reader, frames } = reading();
    const allocate = vi.spyOn(Buffer, 'allocUnsafe');
    onTestFinished(() => allocate.mockRestore());
    const text = '\u2028é'.repeat((10 * MIB) / 5);
    const bytes = line(frame(text));
    expect(bytes.length).toBeGreaterThan(10 * MIB);
    const cut = pieces(bytes, [size]);
    allocate.mockClear();
    for (const piece of cut) reader.push(piece);
    expect(frames[0]?.['params'] === text).toBe(true);
    expect(allocate).toHaveBeenCalled();
    expect(allocate.mock.calls.reduce((sum, [room]) => sum + room, 0)).toBeLessThan(5 * bytes.length);
  });
});

describe('a line that is too long', () => {
  it('is an error that names the limit, and nothing is read after it', () => {
    const { reader, frames, problems } = reading(100);
    reader.push(line(frame('fits')));
    for (const piece of pieces(line(frame('x'.repeat(100))), [9])) reader.push(piece);
    reader.push(line(frame('late')));
    expect(frames).toEqual([frame('fits')]);
    expect(problems).toEqual(['a line is longer than 100 bytes (the limit runnerLineBytes)']);
  });

  it('may have exactly the length that is allowed', () => {
    const bytes = line(frame('exact'));
    const { reader, frames } = reading(bytes.length - 1);
    for (const piece of pieces(bytes, [3])) reader.push(piece);
    expect(frames).toHaveLength(1);
    expect(createFrameWriter(new PassThrough(), bytes.length - 1).write(frame('exact')).ok).toBe(true);
    expect(createFrameWriter(new PassThrough(), bytes.length - 2).write(frame('exact'))).toMatchObject({
      error: expect.stringContaining('runnerLineBytes'),
    });
  });
});

describe('writing frames', () => {
  it('waits for a reader that is slow, and keeps the order', async () => {
    const taken: string[] = [];
    let most = 0;
    const slow: Writable = new Writable({
      highWaterMark: 64,
      write(chunk: Buffer, _encoding, done) {
        most = Math.max(most, slow.writableLength);
        taken.push(chunk.toString());
        setImmediate(done);
      },
    });
    const writer = createFrameWriter(slow, 1_000);
    const all = Array.from({ length: 50 }, (_, index) => frame(`number ${index}`));
    for (const one of all) writer.write(one);
    await writer.flushed();
    expect(taken.map((text) => JSON.parse(text))).toEqual(all);
    // What waits lies with the writer, not in the stream.
    expect(most).toBeLessThan(200);
  });

  it('gives up when the stream is gone', async () => {
    const stream = new PassThrough({ highWaterMark: 1 });
    stream.on('error', () => {});
    const writer = createFrameWriter(stream, 1_000);
    for (let index = 0; index < 5; index += 1) writer.write(frame(index));
    stream.destroy();
    await writer.flushed();
    expect(writer.write(frame('late')).ok).toBe(true);
  });
});
