/** Small pictures as PNG, with what Node has. */
import { crc32, deflateSync } from 'node:zlib';

export const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const EDGE_DOTS = 256;
/** Dots have so many bytes, by colour type: grey, RGB, palette, grey and alpha, RGBA. */
export const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export interface PngPicture {
  readonly width: number;
  readonly height: number;
  /** As PNG numbers them. */
  readonly colour: 0 | 2 | 3 | 4 | 6;
  /** Writes the bytes of one dot. */
  copy(x: number, y: number, to: Buffer, at: number): void;
}

/** Every n-th dot, so that no edge has more than 256. `chunks`: what belongs to the colours. */
export function smallPng(picture: PngPicture, chunks: readonly Buffer[] = []): Uint8Array {
  const { colour, copy } = picture;
  const channels = PNG_CHANNELS[colour] ?? 1;
  const step = Math.max(1, Math.ceil(Math.max(picture.width, picture.height) / EDGE_DOTS));
  const [width, height] = [Math.ceil(picture.width / step), Math.ceil(picture.height / step)];
  const rows = Buffer.alloc(height * (1 + width * channels));
  for (let y = 0, to = 0; y < height; y += 1) {
    to += 1;
    for (let x = 0; x < width; x += 1, to += channels) copy(x * step, y * step, rows, to);
  }
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, colour, 0, 0, 0], 8);
  const parts = [pngChunk('IHDR', size), ...chunks, pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([PNG_SIGNATURE, ...parts]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(8 + body.length);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), 4 + body.length);
  return framed;
}
