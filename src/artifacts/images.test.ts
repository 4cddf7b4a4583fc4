/** Previews of images: what the header says, the image itself when it is small, and thumbnails of PNG, GIF and JPEG. */
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { gifOf, jpegOf } from '../../test/support/artifacts/images.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import { gifThumbnail } from './gif-thumbnail.ts';
import { imageKind } from './image-kind.ts';
import { jpegThumbnail } from './jpeg-thumbnail.ts';
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

it('the size of WebP stands where its first part says', () => {
  const webp = (packed: string, at: number, bytes: readonly number[]): Buffer => {
    const image = Buffer.alloc(40);
    image.write('RIFF', 0);
    image.write(`WEBP${packed}`, 8);
    image.set(bytes, at);
    return image;
  };
  const size = { width: 300, height: 200 };
  expect(imageKind(webp('VP8X', 24, [0x2b, 1, 0, 199, 0, 0]))).toEqual({ ending: 'webp', size });
  expect(imageKind(webp('VP8 ', 23, [0x9d, 0x01, 0x2a, 0x2c, 0x41, 200, 0x80]))).toEqual({ ending: 'webp', size });
  const bits = 299 | (199 << 14);
  expect(
    imageKind(
      webp(
        'VP8L',
        20,
        [0x2f, bits, bits >> 8, bits >> 16, bits >> 24].map((byte) => byte & 255),
      ),
    ),
  ).toEqual({
    ...{ ending: 'webp', size },
  });
  expect(imageKind(webp('VP8 ', 23, [1, 2, 3]))).toEqual({ ending: 'webp' });
  expect(imageKind(webp('VP8X', 24, [1]).subarray(0, 26))).toEqual({ ending: 'webp' });
});

/** The dots of one of our own, row by row. */
function dotsIn(image: Uint8Array | undefined): { readonly rows: readonly (readonly number[])[]; readonly channels: number } {
  const bytes = Buffer.from(image ?? []);
  const { width = 0, height = 0 } = imageKind(bytes)?.size ?? {};
  const at = bytes.indexOf('IDAT');
  const raw = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
  const row = raw.length / height;
  return {
    channels: (row - 1) / width,
    rows: Array.from({ length: height }, (_, y) => [...raw.subarray(y * row + 1, (y + 1) * row)]),
  };
}

/** A block of a JPEG, which becomes a dot. */
const grey = (x: number, y: number): readonly [number, number, number] => [(x * 20 + y * 6) % 250, 128, 128];
const greyRows = (width: number, height: number) =>
  Array.from({ length: height }, (_, y) => Array.from({ length: width }, (_, x) => grey(x, y)[0]));

it.each([
  ['in one go', {}],
  ['with fewer blocks of its colours', { sampling: 2 }],
  ['read again from marks within', { restart: 3 }],
  ['one colour after the other', { apart: true, sampling: 2 }],
] as const)('of a JPEG %s each dot is the mean of a block', (_how, options) => {
  const { rows, channels } = dotsIn(jpegThumbnail(jpegOf(37, 21, grey, options)));
  expect(channels).toBe(3);
  expect(rows.map((row) => row.filter((_, at) => at % 3 === 0))).toEqual(greyRows(5, 3));
  expect(rows.flat().filter((value, at) => value !== rows.flat()[at - (at % 3)])).toEqual([]);
});

it('a JPEG that comes clear step by step is seen as in its first step', () => {
  const { rows } = dotsIn(jpegThumbnail(jpegOf(40, 24, grey, { progressive: true })));
  const seen = rows.map((row) => row.filter((_, at) => at % 3 === 0));
  expect(seen).toEqual(greyRows(5, 3).map((row) => row.map((value) => value - (value % 2))));
});

it('a JPEG has its colours, also where they are not taken apart', () => {
  const red = (): readonly [number, number, number] => [128, 128, 228];
  expect(dotsIn(jpegThumbnail(jpegOf(8, 8, red))).rows).toEqual([[255, 57, 128]]);
  expect(dotsIn(jpegThumbnail(jpegOf(8, 8, red, { plain: true }))).rows).toEqual([[128, 128, 228]]);
  expect(dotsIn(jpegThumbnail(jpegOf(8, 8, red, { colours: 1 })))).toEqual({ rows: [[128]], channels: 1 });
});

const large = jpegOf(640, 480, grey);
it.each([
  ['that ends in the middle', large.subarray(0, large.length - 700)],
  ['without tables', Buffer.concat([large.subarray(0, 2), large.subarray(large.indexOf(Buffer.from([0xff, 0xc0])))])],
  ['that promises more dots than anybody looks at', jpegOf(8, 8, grey, { claims: [60_000, 60_000] })],
  ['with more tables than any has', jpegOf(8, 8, grey, { tables: 40 })],
  ['that is none inside', Buffer.concat([large.subarray(0, 300), Buffer.alloc(10_000, 0xff)])],
  ['that is only a beginning', large.subarray(0, 3)],
])('there is no thumbnail of a JPEG %s', (_what, image) => {
  expect(jpegThumbnail(image)).toBeUndefined();
});

const PALETTE = [0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255] as const;
const striped = (x: number, y: number): number => (x + (y >> 2)) % 4;
const stripes = (width: number, height: number, none?: number) =>
  Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => striped(x, y)).flatMap((colour) =>
      colour === none ? [0, 0, 0, 0] : [...PALETTE.slice(colour * 3, colour * 3 + 3), 255],
    ),
  );

it.each([
  ['as it is', {}, undefined],
  ['with a colour that is none', { none: 2 }, 2],
  ['whose rows stand in another order', { interlaced: true }, undefined],
])('of a GIF the first picture is seen, %s', (_how, options, none) => {
  // Long enough that its codes have all their lengths.
  const image = gifOf(120, 90, PALETTE, (x, y) => (y < 60 ? striped(x, y) : (x * x + y * y * 3) % 4), options);
  const { rows, channels } = dotsIn(gifThumbnail(image));
  expect([channels, rows.length]).toEqual([4, 90]);
  expect(rows.slice(0, 60)).toEqual(stripes(120, 60, none));
  expect(dotsIn(gifThumbnail(gifOf(700, 2, PALETTE, striped))).rows[0]).toHaveLength(4 * 234);
});

const gif = gifOf(120, 90, PALETTE, striped);
it.each([
  ['that ends in the middle', gif.subarray(0, gif.length - 40)],
  ['without a picture', Buffer.concat([gif.subarray(0, 25), Buffer.from([0x3b])])],
  ['that promises more dots than anybody looks at', gifOf(8, 8, PALETTE, striped, { claims: [60_000, 60_000] })],
  ['that is only a beginning', gif.subarray(0, 8)],
])('there is no thumbnail of a GIF %s', (_what, image) => {
  expect(gifThumbnail(image)).toBeUndefined();
});

it('of what no thumbnail can be made the preview is the image itself, unless it is too large to be shown whole', () => {
  const webp = (bytes: number): Buffer => Buffer.concat([Buffer.from('RIFF    WEBPVP8 '), Buffer.alloc(bytes - 16, 1)]);
  const shown = webp(limits.artifactImagePreviewBytes);
  expect(preview(shown)).toEqual({ name: 'shot.webp', bytes: shown });
  expect(preview(webp(limits.artifactImagePreviewBytes + 1))).toBeUndefined();
  expect(preview(Buffer.concat([jpegOf(640, 480, grey), Buffer.alloc(limits.artifactThumbnailBytes)]))?.name).toBe('shot.png');
});
