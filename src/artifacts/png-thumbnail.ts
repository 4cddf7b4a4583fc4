/**
 * A small PNG of a large one: inflate, undo the filters, take every n-th dot. For pictures of eight bits that are not interlaced,
 * which nearly all are; of others there is no thumbnail. How much is inflated is bounded by what the header promises, and that by
 * `limits.artifactImageDots`: a small file cannot become a large one.
 */
import { inflateSync } from 'node:zlib';
import { limits } from '../base/limits.ts';
import { PNG_CHANNELS, PNG_SIGNATURE, type PngPicture, pngChunk, smallPng } from './png-writer.ts';

interface Header {
  readonly width: number;
  readonly height: number;
  readonly colour: PngPicture['colour'];
  readonly channels: number;
}

export function pngThumbnail(given: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const chunks = chunksIn(bytes);
  const header = headerOf(chunks.find(({ type }) => type === 'IHDR')?.data);
  if (header === undefined) return undefined;
  const dots = dotsOf(header, Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  if (dots === undefined) return undefined;
  const { width, height, colour, channels } = header;
  const palette = chunks.filter(({ type }) => type === 'PLTE' || type === 'tRNS').map(({ type, data }) => pngChunk(type, data));
  const copy: PngPicture['copy'] = (x, y, to, at) => {
    const from = (y * width + x) * channels;
    dots.copy(to, at, from, from + channels);
  };
  return smallPng({ width, height, colour, copy }, palette);
}

interface Chunk {
  readonly type: string;
  readonly data: Buffer;
}

function chunksIn(bytes: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return chunks;
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (at + 12 + length > bytes.length) break;
    chunks.push({ type: bytes.toString('latin1', at + 4, at + 8), data: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
}

function headerOf(data: Buffer | undefined): Header | undefined {
  if (data === undefined || data.length !== 13) return undefined;
  const [width, height, bits, colour, interlaced] = [data.readUInt32BE(0), data.readUInt32BE(4), data[8], data[9] ?? 7, data[12]];
  const channels = PNG_CHANNELS[colour];
  if (bits !== 8 || interlaced !== 0 || channels === undefined || width === 0 || height === 0) return undefined;
  return width * height > limits.artifactImageDots
    ? undefined
    : { width, height, colour: colour as PngPicture['colour'], channels };
}

/** The dots without the filters of their rows; `undefined` when the file is not what its header says. */
function dotsOf({ width, height, channels }: Header, packed: Buffer): Buffer | undefined {
  const row = width * channels;
  const wanted = height * (row + 1);
  let raw: Buffer;
  try {
    raw = inflateSync(packed, { maxOutputLength: wanted });
  } catch {
    return undefined;
  }
  if (raw.length !== wanted) return undefined;
  const dots = Buffer.alloc(height * row);
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (row + 1)] ?? 0;
    if (filter > 4) return undefined;
    for (let x = 0; x < row; x += 1) {
      const at = y * row + x;
      const left = x >= channels ? (dots[at - channels] ?? 0) : 0;
      const up = y > 0 ? (dots[at - row] ?? 0) : 0;
      const corner = x >= channels && y > 0 ? (dots[at - row - channels] ?? 0) : 0;
      dots[at] = (raw[y * (row + 1) + 1 + x] ?? 0) + predicted(filter, left, up, corner);
    }
  }
  return dots;
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
