/** Small images for tests, packed as other programs pack them. */

export interface JpegOptions {
  /** How many blocks of light stand for one of each other colour, on both edges. */
  readonly sampling?: 1 | 2;
  /** Marks from which reading can begin again, after so many units. */
  readonly restart?: number;
  /** A scan for each colour. */
  readonly apart?: boolean;
  readonly progressive?: boolean;
  readonly colours?: 1 | 3;
  /** Its colours are red, green and blue. */
  readonly plain?: boolean;
  /** Width and height that are not true. */
  readonly claims?: readonly [number, number];
  /** How often its tables are said. */
  readonly tables?: number;
}

/** Light, blue and red of a block. */
type Block = readonly [number, number, number];

interface Part {
  readonly id: number;
  /** Blocks on an edge of a unit. */
  readonly each: number;
}

const wide = (value: number): readonly number[] => [value >> 8, value & 255];
const segment = (marker: number, bytes: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, ...wide(bytes.length + 2), ...bytes]);
/** How many codes there are of each length. */
const codes = (length: number, count: number): readonly number[] =>
  Array.from({ length: 16 }, (_, index) => (index === length - 1 ? count : 0));
/** Codes of four bits for means, of two for the rest: the end, sixteen zeros, and one zero before two bits. */
const TABLES = [0x00, ...codes(4, 12), ...Array.from({ length: 12 }, (_, size) => size), 0x10, ...codes(2, 3), 0x00, 0xf0, 0x12];

/** Every block is of one colour, and has something in it that has to be passed over. */
export function jpegOf(width: number, height: number, at: (x: number, y: number) => Block, options: JpegOptions = {}): Buffer {
  const { sampling = 1, restart = 0, apart = false, progressive = false, colours = 3, plain = false, tables = 1 } = options;
  const parts = Array.from({ length: colours }, (_, index): Part => ({ id: index + 1, each: index === 0 ? sampling : 1 }));
  const scans = apart || colours === 1 ? parts.map((part) => [part]) : [parts];
  const [claimedWidth, claimedHeight] = options.claims ?? [width, height];
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...(plain ? [segment(0xee, [...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, 0])] : []),
    segment(0xdb, [0, 8, ...Array.from({ length: 63 }, () => 1)]),
    ...Array.from({ length: tables }, () => segment(0xc4, TABLES)),
    ...(restart === 0 ? [] : [segment(0xdd, wide(restart))]),
    segment(progressive ? 0xc2 : 0xc0, [
      ...[8, ...wide(claimedHeight), ...wide(claimedWidth), colours],
      ...parts.flatMap(({ id, each }) => [id, (each << 4) | each, 0]),
    ]),
    ...scans.flatMap((scan) => [
      segment(0xda, [scan.length, ...scan.flatMap(({ id }) => [id, 0]), 0, progressive ? 0 : 63, progressive ? 1 : 0]),
      scanOf(scan, unitsOf(scan, width, height, sampling), (x, y) => at(x, y), { sampling, restart, progressive }),
    ]),
    Buffer.from([0xff, 0xd9]),
  ]);
}

interface Unit {
  readonly part: Part;
  readonly x: number;
  readonly y: number;
}

/** Blocks of one colour come one by one, as many as it has; of several unit by unit. */
function unitsOf(scan: readonly Part[], width: number, height: number, sampling: number): readonly (readonly Unit[])[] {
  const [first] = scan;
  const alone = scan.length === 1 && first !== undefined ? first : undefined;
  const edge = (size: number): number =>
    alone === undefined ? Math.ceil(size / (8 * sampling)) : Math.ceil((size * alone.each) / sampling / 8);
  return Array.from({ length: edge(width) * edge(height) }, (_, unit) => {
    const [x, y] = [unit % edge(width), Math.floor(unit / edge(width))];
    if (alone !== undefined) return [{ part: alone, x, y }];
    return scan.flatMap((part) =>
      Array.from({ length: part.each ** 2 }, (_one, nth) => ({
        ...{ part, x: x * part.each + (nth % part.each), y: y * part.each + Math.floor(nth / part.each) },
      })),
    );
  });
}

function scanOf(
  scan: readonly Part[],
  units: readonly (readonly Unit[])[],
  at: (x: number, y: number) => Block,
  { sampling, restart, progressive }: Required<Pick<JpegOptions, 'sampling' | 'restart' | 'progressive'>>,
): Buffer {
  const bytes: number[] = [];
  let bits = '';
  const flush = (): void => {
    for (; bits.length > 0; bits = bits.slice(8)) {
      const byte = Number.parseInt(bits.slice(0, 8).padEnd(8, '1'), 2);
      bytes.push(byte, ...(byte === 0xff ? [0] : []));
    }
  };
  let before = new Map<Part, number>();
  for (const [index, unit] of units.entries()) {
    if (restart > 0 && index > 0 && index % restart === 0) {
      flush();
      bytes.push(0xff, 0xd0 | ((index / restart - 1) & 7));
      before = new Map();
    }
    for (const { part, x, y } of unit) {
      const step = sampling / part.each;
      const mean =
        ((at(x * step, y * step)[scan.length === 1 ? part.id - 1 : scan.indexOf(part)] ?? 0) - 128) >> (progressive ? 1 : 0);
      bits += bitsOf(mean - (before.get(part) ?? 0)) + (progressive ? '' : '01100100');
      before.set(part, mean);
    }
  }
  flush();
  return Buffer.from(bytes);
}

/** The code of its size, and it; a negative one less one, without what stands before. */
function bitsOf(difference: number): string {
  const size = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
  const value = difference < 0 ? difference + (1 << size) - 1 : difference;
  return size.toString(2).padStart(4, '0') + (size === 0 ? '' : value.toString(2).padStart(size, '0'));
}

export interface GifOptions {
  /** The colour that stands for none. */
  readonly none?: number;
  readonly interlaced?: boolean;
  readonly claims?: readonly [number, number];
}

/** `palette`: red, green and blue of four colours. */
export function gifOf(
  width: number,
  height: number,
  palette: readonly number[],
  at: (x: number, y: number) => number,
  { none, interlaced = false, claims = [width, height] }: GifOptions = {},
): Buffer {
  const small = (value: number): readonly number[] => [value & 255, value >> 8];
  const size = [...small(claims[0]), ...small(claims[1])];
  const steps = interlaced
    ? ([
        [0, 8],
        [4, 8],
        [2, 4],
        [1, 2],
      ] as const)
    : ([[0, 1]] as const);
  const rows = steps.flatMap(([from, step]) =>
    Array.from({ length: Math.ceil((height - from) / step) }, (_, nth) => from + nth * step),
  );
  const packed = packedCodes(rows.flatMap((y) => Array.from({ length: width }, (_, x) => at(x, y))));
  const blocks: number[] = [];
  for (let from = 0; from < packed.length; from += 255) {
    const block = packed.slice(from, from + 255);
    blocks.push(block.length, ...block);
  }
  return Buffer.from([
    ...[...Buffer.from('GIF89a'), ...size, 0x81, 0, 0, ...palette],
    ...(none === undefined ? [] : [0x21, 0xf9, 4, 1, 0, 0, none, 0]),
    ...[0x21, 0xfe, 2, 104, 105, 0],
    ...[0x2c, 0, 0, 0, 0, ...size, interlaced ? 0x40 : 0, 2, ...blocks, 0, 0x3b],
  ]);
}

/** LZW, beginning with four colours. */
function packedCodes(dots: readonly number[]): readonly number[] {
  const [clear, end] = [4, 5];
  let bits: number[] = [];
  let [size, next, known] = [3, 6, new Map<string, number>()];
  const put = (code: number): void => {
    for (let bit = 0; bit < size; bit += 1) bits.push((code >> bit) & 1);
  };
  put(clear);
  let word = '';
  const codeOf = (text: string): number => (text.length === 1 ? Number(text) : (known.get(text) ?? 0));
  for (const dot of dots) {
    const longer = `${word}${dot}`;
    if (longer.length === 1 || known.has(longer)) word = longer;
    else {
      put(codeOf(word));
      if (next === 4_096) {
        put(clear);
        [size, next, known] = [3, 6, new Map()];
      } else {
        known.set(longer, next);
        if (next === 1 << size && size < 12) size += 1;
        next += 1;
      }
      word = String(dot);
    }
  }
  put(codeOf(word));
  put(end);
  const bytes: number[] = [];
  for (; bits.length > 0; bits = bits.slice(8)) bytes.push(bits.slice(0, 8).reduce((sum, bit, index) => sum | (bit << index), 0));
  return bytes;
}
