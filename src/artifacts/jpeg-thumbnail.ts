/**
 * A small PNG of a JPEG: one dot of each block of eight by eight, which is the mean of the block and stands before all else in
 * it. So nothing has to be transformed back. For pictures of eight bits with one colour or three, in one go or coming clear step
 * by step, which nearly all are. How many dots there may be is bounded by `limits.artifactImageDots`.
 */
import { limits } from '../base/limits.ts';
import { type HuffmanTable, huffmanTables, type ScannedPart, scanned } from './jpeg-scan.ts';
import { type PngPicture, smallPng } from './png-writer.ts';

interface Frame {
  readonly width: number;
  readonly height: number;
  readonly progressive: boolean;
  readonly parts: readonly Part[];
}

/** One colour. */
interface Part extends ScannedPart {
  readonly id: number;
  readonly quantization: number;
}

/** What was said before the picture. */
interface Said {
  readonly tables: Map<number, HuffmanTable>;
  /** The first number of each, which is for the mean. */
  readonly quantization: Map<number, number>;
  /** How many units stand between two marks where reading can begin again; 0 for all. */
  restart: number;
  isRgb: boolean;
  defined: number;
}

export function jpegThumbnail(given: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const said: Said = { tables: new Map(), quantization: new Map(), restart: 0, isRgb: false, defined: 0 };
  let frame: Frame | undefined;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return undefined;
    if (marker === 0xff) at += 1;
    else {
      const length = bytes.readUInt16BE(at + 2);
      const body = bytes.subarray(at + 4, at + 2 + length);
      if (length < 2 || body.length !== length - 2) return undefined;
      at += 2 + length;
      if (marker === SCAN) {
        const end = endOfScan(bytes, at);
        if (frame === undefined || !scan(body, bytes.subarray(at, end), frame, said)) return undefined;
        if (frame.parts.every(({ isKnown }) => isKnown)) return drawn(frame, said);
        at = end;
      } else if (isFrame(marker)) {
        frame = frame === undefined ? frameIn(marker, body) : undefined;
        if (frame === undefined) return undefined;
      } else if (!heard(marker, body, said)) return undefined;
    }
  }
  return undefined;
}

const SCAN = 0xda;
const PROGRESSIVE = 0xc2;
/** Tables may be said again and again; no decent picture does so often. */
const MOST_TABLES = 64;
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** False when it makes no sense. */
function heard(marker: number, body: Buffer, said: Said): boolean {
  if (marker === 0xdd) said.restart = body.length < 2 ? 0 : body.readUInt16BE(0);
  else if (marker === 0xee) said.isRgb = body.toString('latin1', 0, 5) === 'Adobe' && body[11] === 0;
  else if (marker === 0xdb) {
    for (let at = 0; at < body.length; at += (body[at] ?? 0) > 0x0f ? 129 : 65) {
      const [which, isWide] = [(body[at] ?? 0) & 0x0f, (body[at] ?? 0) > 0x0f];
      said.quantization.set(which, isWide ? ((body[at + 1] ?? 0) << 8) | (body[at + 2] ?? 0) : (body[at + 1] ?? 1));
    }
  } else if (marker === 0xc4) {
    const tables = huffmanTables(body, MOST_TABLES - said.defined);
    if (tables === undefined) return false;
    said.defined += tables.length;
    for (const [which, table] of tables) said.tables.set(which, table);
  }
  return true;
}

function frameIn(marker: number, body: Buffer): Frame | undefined {
  const count = body[5] ?? 0;
  if (marker > PROGRESSIVE || body[0] !== 8 || (count !== 1 && count !== 3) || body.length < 6 + 3 * count) return undefined;
  const [height, width] = [body.readUInt16BE(1), body.readUInt16BE(3)];
  if (width * height === 0 || width * height > limits.artifactImageDots) return undefined;
  const read = Array.from({ length: count }, (_, index) => {
    const [id = 0, sampling = 0, quantization = 0] = body.subarray(6 + 3 * index, 9 + 3 * index);
    return { id, across: sampling >> 4, down: sampling & 0x0f, quantization };
  });
  if (read.some(({ across, down }) => across < 1 || across > 4 || down < 1 || down > 4)) return undefined;
  const [most, highest] = [Math.max(...read.map(({ across }) => across)), Math.max(...read.map(({ down }) => down))];
  const [columns, rows] = [Math.ceil(width / (8 * most)), Math.ceil(height / (8 * highest))];
  const parts = read.map(({ id, across, down, quantization }): Part => {
    const own = { columns: Math.ceil((width * across) / (8 * most)), rows: Math.ceil((height * down) / (8 * highest)) };
    const means = new Int16Array(columns * across * rows * down);
    return { id, quantization, across, down, own, columns, rows, means, isKnown: false };
  });
  return { width: Math.ceil(width / 8), height: Math.ceil(height / 8), progressive: marker === PROGRESSIVE, parts };
}

/** Up to the next mark that is none of those within. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}

/** Of what comes later only the means count. */
function scan(head: Buffer, data: Buffer, { parts, progressive }: Frame, { tables, restart }: Said): boolean {
  const count = head[0] ?? 0;
  if (head.length < 4 + 2 * count) return false;
  const [from = 0, , precision = 0] = head.subarray(1 + 2 * count);
  if (from !== 0 || precision >> 4 !== 0) return progressive;
  const wanted = Array.from({ length: count }, (_, index) => {
    const [id, which = 0] = head.subarray(1 + 2 * index, 3 + 2 * index);
    const part = parts.find((one) => one.id === id);
    const [mean, rest] = [tables.get(which >> 4), tables.get(0x10 | (which & 0x0f))];
    return part === undefined || mean === undefined || (rest === undefined && !progressive) ? undefined : { part, mean, rest };
  });
  const known = wanted.filter((one) => one !== undefined);
  if (known.length !== count || count === 0) return false;
  return scanned(known, data, { restart, shift: precision & 0x0f, onlyMeans: progressive });
}

function drawn({ width, height, parts }: Frame, { quantization, isRgb }: Said): Uint8Array | undefined {
  const [first, second, third] = parts.map((part) => meansOf(part, parts, quantization.get(part.quantization) ?? 1));
  if (first === undefined) return undefined;
  if (second === undefined || third === undefined)
    return smallPng({ width, height, colour: 0, copy: (x, y, to, at) => void to.writeUInt8(within(first(x, y)), at) });
  const isPlain = isRgb || parts.map(({ id }) => String.fromCharCode(id)).join('') === 'RGB';
  const copy: PngPicture['copy'] = (x, y, to, at) => {
    const [light, blue, red] = [first(x, y), second(x, y), third(x, y)];
    const [b, r] = [blue - 128, red - 128];
    const dot = isPlain ? [light, blue, red] : [light + 1.402 * r, light - 0.344136 * b - 0.714136 * r, light + 1.772 * b];
    to.set(dot.map(within), at);
  };
  return smallPng({ width, height, colour: 2, copy });
}

/** The mean where it stands in the whole, also of a colour that has fewer. */
function meansOf({ across, down, columns, means }: Part, parts: readonly Part[], factor: number) {
  const [most, highest] = [Math.max(...parts.map((one) => one.across)), Math.max(...parts.map((one) => one.down))];
  return (x: number, y: number): number => {
    const [column, row] = [Math.floor((x * across) / most), Math.floor((y * down) / highest)];
    return ((means[row * columns * across + column] ?? 0) * factor) / 8 + 128;
  };
}

const within = (value: number): number => Math.max(0, Math.min(255, Math.round(value)));
