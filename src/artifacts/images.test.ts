/** Previews of images: what the header says, the image itself when it is small, and thumbnails of PNGs. */
import { crc32, deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import { imageKind } from './image-kind.ts';
import { pngThumbnail } from './png-thumbnail.ts';
import { previewOf } from './preview.ts';

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

function png(
  width: number,
  height: number,
  { colour = 2, interlaced = 0, rows }: { colour?: number; interlaced?: number; rows?: Buffer } = {},
) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, colour, 0, 0, interlaced], 8);
  const raw = rows ?? noise(height * (1 + width * 3), 1 + width * 3);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(raw)), chunk('IEND', Buffer.alloc(0))]);
}

/** Rows of every filter. */
function noise(bytes: number, row: number): Buffer {
  const raw = Buffer.from(seededRandom(1).bytes(bytes));
  for (let y = 0; y * row < bytes; y += 1) raw[y * row] = y % 5;
  return raw;
}

const preview = (first: Uint8Array) =>
  previewOf({ type: 'image', name: 'shot.png', bytes: first.length, text: false, first, whole: true });

it('a large PNG gets a thumbnail that is a PNG of at most 256 dots', () => {
  const image = png(600, 300);
  expect(image.length).toBeGreaterThan(limits.artifactThumbnailBytes);
  const small = preview(image);
  expect(small?.name).toBe('shot.png');
  expect(imageKind(small?.bytes ?? new Uint8Array())).toEqual({ ending: 'png', size: { width: 200, height: 100 } });
  expect(pngThumbnail(small?.bytes ?? new Uint8Array())).toBeDefined();
});

it('a small image is its own preview', () => {
  const image = png(2, 2);
  expect(preview(image)?.bytes).toEqual(image);
});

it.each([
  ['interlaced', png(600, 300, { interlaced: 1 })],
  ['of a colour nobody knows', png(600, 300, { colour: 5 })],
  ['of less than it promises', png(6_000, 3_000, { rows: noise(500_000, 1_801) })],
  ['of more than it promises', png(60, 30, { rows: noise(500_000, 181) })],
  ['that promises more dots than anybody looks at', png(100_000, 100_000, { rows: noise(500_000, 300_001) })],
  ['that is no PNG inside', Buffer.concat([png(2, 2).subarray(0, 40), Buffer.alloc(100_000, 7)])],
])('there is no thumbnail of a PNG %s', (_what, image) => {
  expect(pngThumbnail(image)).toBeUndefined();
});

it('the size of GIF and JPEG comes from their headers, and a header that lies harms nobody', () => {
  const gif = Buffer.from('GIF89a\x10\x00\x20\x00', 'latin1');
  expect(imageKind(gif)).toEqual({ ending: 'gif', size: { width: 16, height: 32 } });
  const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 50, 0, 60, 3, 0, 0, 0]);
  expect(imageKind(jpeg)).toEqual({ ending: 'jpg', size: { width: 60, height: 50 } });
  expect(imageKind(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0, 0]))).toEqual({ ending: 'jpg' });
  expect(imageKind(Buffer.from('nothing'))).toBeUndefined();
});
