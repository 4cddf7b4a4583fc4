/**
 * A small PNG of the first picture of a GIF. How many dots are unpacked is bounded by what the header promises, and that by
 * `limits.artifactImageDots`; one that holds fewer than it promises has no thumbnail.
 */
import { limits } from '../base/limits.ts';
import { type PngPicture, smallPng } from './png-writer.ts';

interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Which colour each dot has. */
  readonly dots: Uint8Array;
  readonly palette: Buffer;
  readonly interlaced: boolean;
  /** The colour that stands for none. */
  readonly none: number | undefined;
}

const RGBA = 4;
const OPAQUE = 255;

export function gifThumbnail(given: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length < 13) return undefined;
  const [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)];
  const frame = firstFrame(bytes);
  if (frame === undefined || width * height === 0 || width * height > limits.artifactImageDots) return undefined;
  const rowAt = frame.interlaced ? interlacedRows(frame.height) : undefined;
  const copy: PngPicture['copy'] = (x, y, to, at) => {
    const [column, row] = [x - frame.left, y - frame.top];
    if (column < 0 || row < 0 || column >= frame.width || row >= frame.height) return;
    const colour = frame.dots[(rowAt?.[row] ?? row) * frame.width + column] ?? 0;
    if (colour === frame.none || (colour + 1) * 3 > frame.palette.length) return;
    frame.palette.copy(to, at, colour * 3, colour * 3 + 3);
    to[at + RGBA - 1] = OPAQUE;
  };
  return smallPng({ width, height, colour: 6, copy });
}

const EXTENSION = 0x21;
const CONTROL = 0xf9;
const PICTURE = 0x2c;

/** Past what stands before it, block by block. */
function firstFrame(bytes: Buffer): Frame | undefined {
  const common = paletteAt(bytes, 13, bytes[10] ?? 0);
  let none: number | undefined;
  for (let at = 13 + common.length; at + 10 <= bytes.length; ) {
    if (bytes[at] === PICTURE) return frameAt(bytes, at, common, none);
    if (bytes[at] !== EXTENSION) return undefined;
    if (bytes[at + 1] === CONTROL && ((bytes[at + 3] ?? 0) & 1) === 1) none = bytes[at + 6];
    at = blocksFrom(bytes, at + 2).end;
  }
  return undefined;
}

function frameAt(bytes: Buffer, at: number, common: Buffer, none: number | undefined): Frame | undefined {
  const [left, top] = [bytes.readUInt16LE(at + 1), bytes.readUInt16LE(at + 3)];
  const [width, height, flags] = [bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7), bytes[at + 9] ?? 0];
  if (width * height === 0 || width * height > limits.artifactImageDots) return undefined;
  const own = paletteAt(bytes, at + 10, flags);
  const dataAt = at + 10 + own.length;
  const dots = unpacked(bytes[dataAt] ?? 0, blocksFrom(bytes, dataAt + 1).data, width * height);
  if (dots === undefined) return undefined;
  const palette = own.length > 0 ? own : common;
  return { left, top, width, height, dots, palette, interlaced: (flags & 0x40) !== 0, none };
}

const paletteAt = (bytes: Buffer, at: number, flags: number): Buffer =>
  bytes.subarray(at, (flags & 0x80) === 0 ? at : at + 3 * (2 << (flags & 7)));

/** Blocks of up to 255 bytes with their length before each; one of none is the last. */
function blocksFrom(bytes: Buffer, from: number): { readonly data: Buffer; readonly end: number } {
  const parts: Buffer[] = [];
  let at = from;
  for (let length = bytes[at] ?? 0; length > 0; length = bytes[at] ?? 0) {
    parts.push(bytes.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { data: Buffer.concat(parts), end: at + 1 };
}

const MOST_CODES = 4_096;
const MOST_BITS = 12;

/** What LZW made of so many dots; `undefined` when it is not as many, or no LZW. */
function unpacked(minimum: number, data: Buffer, count: number): Uint8Array | undefined {
  if (minimum < 2 || minimum > 8) return undefined;
  const clear = 1 << minimum;
  const [before, last, stack] = [new Uint16Array(MOST_CODES), new Uint8Array(MOST_CODES), new Uint8Array(MOST_CODES + 1)];
  const dots = new Uint8Array(count);
  let [size, next, previous, first] = [minimum + 1, clear + 2, -1, 0];
  for (let [at, held, bits, out] = [0, 0, 0, 0]; out < count; ) {
    for (; bits < size; bits += 8, at += 1) {
      const byte = data[at];
      if (byte === undefined) return undefined;
      held |= byte << bits;
    }
    const code = held & ((1 << size) - 1);
    held >>>= size;
    bits -= size;
    if (code === clear) [size, next, previous] = [minimum + 1, clear + 2, -1];
    else {
      // A code may be the next one, which is then what was before and its own beginning.
      if (code === clear + 1 || code > next || (previous === -1 && code > clear)) return undefined;
      let [depth, walk] = [0, code];
      if (code === next) [stack[0], depth, walk] = [first, 1, previous];
      for (; walk > clear; walk = before[walk] ?? 0, depth += 1) stack[depth] = last[walk] ?? 0;
      first = walk;
      dots[out] = first;
      out += 1;
      for (; depth > 0 && out < count; out += 1) {
        depth -= 1;
        dots[out] = stack[depth] ?? 0;
      }
      if (previous !== -1 && next < MOST_CODES) {
        [before[next], last[next]] = [previous, first];
        next += 1;
        if (next === 1 << size && size < MOST_BITS) size += 1;
      }
      previous = code;
    }
  }
  return dots;
}

/** Where each row stands, when every eighth comes first, then those between, and so on. */
function interlacedRows(height: number): readonly number[] {
  const rows: number[] = [];
  let stands = 0;
  for (const [from, step] of [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const)
    for (let row = from; row < height; row += step, stands += 1) rows[row] = stands;
  return rows;
}
