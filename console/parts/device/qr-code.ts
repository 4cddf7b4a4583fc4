/**
 * A text as a QR code (ISO/IEC 18004): bytes, error correction L, versions 1 to 15, which hold 520 bytes. The rows of the answer
 * are from top to bottom, `true` is dark; the quiet margin is for whoever draws it.
 */

/** Of each version: the codewords that correct errors in a block, and how many blocks there are. */
const BLOCKS: readonly (readonly [number, number])[] = [
  ...([
    [7, 1],
    [10, 1],
    [15, 1],
    [20, 1],
    [26, 1],
    [18, 2],
    [20, 2],
    [24, 2],
    [30, 2],
    [18, 4],
  ] as const),
  ...([
    [20, 4],
    [24, 4],
    [26, 4],
    [30, 4],
    [22, 6],
  ] as const),
];

/** `undefined`: it is too long for one that a phone still reads well. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = new TextEncoder().encode(text);
  const version = BLOCKS.findIndex((_block, index) => bytes.length <= roomOf(index + 1)) + 1;
  if (version === 0) return undefined;
  const words = corrected(dataWords(bytes, version), version);
  const drawn = [0, 1, 2, 3, 4, 5, 6, 7].map((mask) => drawnWith(words, version, mask));
  return drawn.reduce((best, one) => (penaltyOf(one) < penaltyOf(best) ? one : best));
}

/** Bits of a version that hold data and correction: all modules but those of its patterns. */
function bitsOf(version: number): number {
  const aligned = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const all = (16 * version + 128) * version + 64;
  return all - (version === 1 ? 0 : (25 * aligned - 10) * aligned - 55) - (version >= 7 ? 36 : 0);
}

function blocksOf(version: number): { readonly correcting: number; readonly blocks: number; readonly data: number } {
  const [correcting = 0, blocks = 1] = BLOCKS[version - 1] ?? [];
  return { correcting, blocks, data: Math.floor(bitsOf(version) / 8) - correcting * blocks };
}

const lengthBits = (version: number): number => (version < 10 ? 8 : 16);
const roomOf = (version: number): number => Math.floor((blocksOf(version).data * 8 - 4 - lengthBits(version)) / 8);

function dataWords(bytes: Uint8Array, version: number): readonly number[] {
  const { data } = blocksOf(version);
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  put(0b0100, 4);
  put(bytes.length, lengthBits(version));
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, data * 8 - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let filler = 0xec; bits.length < data * 8; filler ^= 0xec ^ 0x11) put(filler, 8);
  return Array.from({ length: data }, (_word, index) => Number.parseInt(bits.slice(index * 8, index * 8 + 8).join(''), 2));
}

/** In blocks, each with its correction, taken in turn: a stain hurts each of them a little. */
function corrected(words: readonly number[], version: number): readonly number[] {
  const { correcting, blocks, data } = blocksOf(version);
  const short = Math.floor(data / blocks);
  const longer = data % blocks;
  let from = 0;
  const parts = Array.from({ length: blocks }, (_block, index) => {
    const size = short + (index < blocks - longer ? 0 : 1);
    const own = words.slice(from, from + size);
    from += size;
    return { own, check: remainder(own, correcting) };
  });
  const taken: number[] = [];
  for (let index = 0; index <= short; index += 1) for (const { own } of parts) taken.push(...own.slice(index, index + 1));
  for (let index = 0; index < correcting; index += 1) for (const { check } of parts) taken.push(check[index] ?? 0);
  return taken;
}

/** Product in the field of 256 numbers that the code counts in. */
function times(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((right >> bit) & 1) * left);
  return product;
}

function remainder(words: readonly number[], degree: number): readonly number[] {
  let divisor = [...Array.from({ length: degree - 1 }, () => 0), 1];
  for (let index = 0, root = 1; index < degree; index += 1, root = times(root, 2))
    divisor = divisor.map((factor, place) => times(factor, root) ^ (divisor[place + 1] ?? 0));
  let rest = Array.from({ length: degree }, () => 0);
  for (const word of words) {
    const factor = word ^ (rest[0] ?? 0);
    rest = divisor.map((one, place) => (rest[place + 1] ?? 0) ^ times(one, factor));
  }
  return rest;
}

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

type Rows = (boolean | undefined)[][];

function drawnWith(words: readonly number[], version: number, mask: number): readonly (readonly boolean[])[] {
  const size = version * 4 + 17;
  const rows: Rows = Array.from({ length: size }, () => Array.from({ length: size }, () => undefined));
  const set = (x: number, y: number, dark: boolean): void => {
    const row = rows[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = dark;
  };
  drawPatterns(set, size, version);
  drawFormat(set, size, mask);
  const isMasked = MASKS[mask] ?? (() => false);
  const data = rows.map((row) => row.map((dark) => dark === undefined));
  let bit = 0;
  for (const [x, y] of zigzag(size)) {
    if (data[y]?.[x] !== true) continue;
    set(x, y, ((((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1) !== isMasked(x, y));
    bit += 1;
  }
  return rows.map((row) => row.map((dark) => dark === true));
}

type Set = (x: number, y: number, dark: boolean) => void;

function drawPatterns(set: Set, size: number, version: number): void {
  for (let index = 0; index < size; index += 1) {
    set(6, index, index % 2 === 0);
    set(index, 6, index % 2 === 0);
  }
  const square = (x: number, y: number, reach: number, isDark: (distance: number) => boolean): void => {
    for (let dy = -reach; dy <= reach; dy += 1)
      for (let dx = -reach; dx <= reach; dx += 1) set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
  };
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  const places = alignedAt(version, size);
  const last = places.length - 1;
  for (const [row, y] of places.entries())
    for (const [column, x] of places.entries()) {
      const isCorner = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0);
      if (!isCorner) square(x, y, 2, (distance) => distance !== 1);
    }
  if (version < 7) return;
  const said = (version << 12) | checkOf(version, 12, 0x1f25);
  for (let bit = 0; bit < 18; bit += 1) {
    const [dark, far, near] = [((said >> bit) & 1) === 1, size - 11 + (bit % 3), Math.floor(bit / 3)];
    set(far, near, dark);
    set(near, far, dark);
  }
}

function alignedAt(version: number, size: number): readonly number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_place, index) => size - 7 - (count - 2 - index) * step)];
}

function drawFormat(set: Set, size: number, mask: number): void {
  const said = (0b01 << 3) | mask;
  const bits = ((said << 10) | checkOf(said, 10, 0x537)) ^ 0x5412;
  for (let bit = 0; bit < 15; bit += 1) {
    const dark = ((bits >> bit) & 1) === 1;
    if (bit < 8) set(8, bit < 6 ? bit : bit + 1, dark);
    else set(bit === 8 ? 7 : 14 - bit, 8, dark);
    if (bit < 8) set(size - 1 - bit, 8, dark);
    else set(8, size - 15 + bit, dark);
  }
  set(8, size - 8, true);
}

function checkOf(value: number, bits: number, generator: number): number {
  let rest = value;
  for (let bit = 0; bit < bits; bit += 1) rest = (rest << 1) ^ ((rest >> (bits - 1)) * generator);
  return rest;
}

/** The way that data takes: pairs of columns from the right, up and down; the column of the timing pattern is passed over. */
function* zigzag(size: number): Generator<readonly [number, number]> {
  let isUp = true;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) for (const x of [right, right - 1]) yield [x, isUp ? size - 1 - step : step];
    isUp = !isUp;
  }
}

/** How hard it is to read: long stretches, squares, what looks like a corner, and more of one colour than of the other. */
function penaltyOf(rows: readonly (readonly boolean[])[]): number {
  const columns = rows.map((_row, index) => rows.map((row) => row[index] === true));
  let sum = 0;
  for (const line of [...rows, ...columns]) {
    const text = line.map((dark) => (dark ? '1' : '0')).join('');
    for (const [stretch] of text.matchAll(/0{5,}|1{5,}/g)) sum += stretch.length - 2;
    for (const corner of ['10111010000', '00001011101'])
      for (let at = text.indexOf(corner); at >= 0; at = text.indexOf(corner, at + 1)) sum += 40;
  }
  for (const [y, row] of rows.entries())
    for (const [x, dark] of row.entries())
      if (rows[y + 1]?.[x] === dark && row[x + 1] === dark && rows[y + 1]?.[x + 1] === dark) sum += 3;
  const dark = rows.flat().filter(Boolean).length / rows.length ** 2;
  return sum + Math.floor(Math.abs(dark * 20 - 10)) * 10;
}
