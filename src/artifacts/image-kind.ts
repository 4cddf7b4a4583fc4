/** What an image is, by its first bytes: kind, width and height. Nothing is decoded. */
import { imageTypeOf } from '../tools/files/file-content.ts';

export interface ImageKind {
  readonly ending: 'png' | 'jpg' | 'gif' | 'webp';
  readonly size?: { readonly width: number; readonly height: number };
}

export function imageKind(given: Uint8Array): ImageKind | undefined {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  switch (imageTypeOf(bytes)) {
    case 'image/png':
      return bytes.length < 24 ? { ending: 'png' } : sized('png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
    case 'image/gif':
      return bytes.length < 10 ? { ending: 'gif' } : sized('gif', bytes.readUInt16LE(6), bytes.readUInt16LE(8));
    case 'image/jpeg':
      return jpegKind(bytes);
    case 'image/webp':
      return webpKind(bytes);
    default:
      return undefined;
  }
}

const sized = (ending: ImageKind['ending'], width: number, height: number): ImageKind => ({ ending, size: { width, height } });

/** Its first part says how the picture is packed, and that where the size stands. */
function webpKind(bytes: Buffer): ImageKind {
  const packed = bytes.length < 30 ? '' : bytes.toString('latin1', 12, 16);
  if (packed === 'VP8X') return sized('webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
  if (packed === 'VP8 ' && bytes.readUIntBE(23, 3) === 0x9d_012a)
    return sized('webp', bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
  if (packed !== 'VP8L' || bytes[20] !== 0x2f) return { ending: 'webp' };
  const size = bytes.readUInt32LE(21);
  return sized('webp', (size & 0x3fff) + 1, ((size >> 14) & 0x3fff) + 1);
}

/** Segment after segment, up to the one that says how large the picture is. */
function jpegKind(bytes: Buffer): ImageKind {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    const isSize = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isSize) return sized('jpg', bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return { ending: 'jpg' };
}
