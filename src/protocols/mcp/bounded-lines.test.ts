import { Readable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundedLines, requestIdOf } from './bounded-lines.ts';

async function through(chunks: readonly Uint8Array[], maxBytes: number): Promise<{ text: string; tooLong: number }> {
  let tooLong = 0;
  const lines = boundedLines(maxBytes, () => {
    tooLong += 1;
  });
  let text = '';
  for await (const chunk of Readable.from(chunks.map((one) => Buffer.from(one))).pipe(lines)) text += String(chunk);
  return { text, tooLong };
}

it('keeps every line that fits and only those, however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.stringMatching(/^[a-z]{0,30}$/)), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const fits = lines.filter((line) => line.length + 1 <= 12);
      expect(await through(chunks, 12)).toEqual({
        text: fits.map((line) => `${line}\n`).join(''),
        tooLong: lines.length - fits.length,
      });
    }),
  );
});

it.each([
  ['{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":9', '"}}', 7],
  ['{"method":"x","params":{"text":"', '"},"jsonrpc":"2.0","id":"a-1"}\n', 'a-1'],
  ['{"method":"x","params":{"text":"', '"},"jsonrpc":"2.0"}', undefined],
  ['nonsense', 'nonsense', undefined],
])('a line that is too long: knows the request of %s … %s', (head, tail, id) => {
  expect(requestIdOf({ head, tail })).toBe(id);
});

it('lets the last line through without its end', async () => {
  expect(await through([Buffer.from('a\nb')], 10)).toEqual({ text: 'a\nb', tooLong: 0 });
});
