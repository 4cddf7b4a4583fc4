/** What is packed in a scan of a JPEG: the mean of every block. What says more of the block is passed over. */

/** By the next sixteen bits: how many of them are the code, times 256, and what it stands for. 0 where no code begins so. */
export type HuffmanTable = Uint16Array;

const CODES = 65_536;

/** With what they are for: the means have a number below 16. `undefined` when there is no sense in them, or they are too many. */
export function huffmanTables(body: Buffer, most: number): (readonly [number, HuffmanTable])[] | undefined {
  const tables: (readonly [number, HuffmanTable])[] = [];
  for (let at = 0; at < body.length; ) {
    const lengths = body.subarray(at + 1, at + 17);
    const count = lengths.reduce((sum, length) => sum + length, 0);
    const symbols = body.subarray(at + 17, at + 17 + count);
    if (lengths.length < 16 || symbols.length < count || tables.length >= most) return undefined;
    const table = tableOf(lengths, symbols);
    if (table === undefined) return undefined;
    tables.push([body[at] ?? 0, table]);
    at += 17 + count;
  }
  return tables;
}

function tableOf(lengths: Buffer, symbols: Buffer): HuffmanTable | undefined {
  const table = new Uint16Array(CODES);
  let [code, symbol] = [0, 0];
  for (const [index, count] of lengths.entries()) {
    const span = CODES >> (index + 1);
    for (let nth = 0; nth < count; nth += 1, code += span, symbol += 1) {
      if (code + span > CODES) return undefined;
      table.fill(((index + 1) << 8) | (symbols[symbol] ?? 0), code, code + span);
    }
  }
  return table;
}

export interface ScannedPart {
  /** Blocks of it in a unit. */
  readonly across: number;
  readonly down: number;
  /** Blocks of its own, without those that only fill a unit. */
  readonly own: { readonly columns: number; readonly rows: number };
  /** Units. */
  readonly columns: number;
  readonly rows: number;
  readonly means: Int16Array;
  isKnown: boolean;
}

interface Scanned {
  readonly part: ScannedPart;
  readonly mean: HuffmanTable;
  readonly rest: HuffmanTable | undefined;
}

interface ScanTerms {
  readonly restart: number;
  /** Bits that come later. */
  readonly shift: number;
  readonly onlyMeans: boolean;
}

/** False when it is not what it should be. */
export function scanned(wanted: readonly Scanned[], data: Buffer, { restart, shift, onlyMeans }: ScanTerms): boolean {
  const [first] = wanted;
  if (first === undefined) return false;
  const { columns, rows } = wanted.length === 1 ? first.part.own : first.part;
  const units = columns * rows;
  const pieces = piecesOf(data);
  const each = restart === 0 ? units : restart;
  if (pieces.length < Math.ceil(units / each)) return false;
  for (let unit = 0; unit < units; unit += each) {
    const bits = createBits(pieces[unit / each] ?? Buffer.alloc(0));
    const before = wanted.map(() => 0);
    for (let nth = unit; nth < Math.min(units, unit + each); nth += 1)
      for (const [index, { part, mean, rest }] of wanted.entries())
        for (const at of wanted.length === 1 ? [alone(part, nth)] : blocksOf(part, nth)) {
          const difference = bits.mean(mean);
          if (difference === undefined || (!onlyMeans && !bits.pass(rest))) return false;
          before[index] = (before[index] ?? 0) + difference;
          part.means[at] = (before[index] ?? 0) << shift;
        }
    if (bits.isOver()) return false;
  }
  for (const { part } of wanted) part.isKnown = true;
  return true;
}

const alone = ({ across, columns, own }: ScannedPart, nth: number): number =>
  Math.floor(nth / own.columns) * columns * across + (nth % own.columns);

function* blocksOf({ across, down, columns }: ScannedPart, unit: number): Generator<number> {
  const [column, row] = [(unit % columns) * across, Math.floor(unit / columns) * down];
  for (let y = 0; y < down; y += 1) for (let x = 0; x < across; x += 1) yield (row + y) * columns * across + column + x;
}

/** Between marks where reading begins again, without what is put in so that nothing looks like a mark. */
function piecesOf(data: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let [piece, length] = [Buffer.alloc(data.length), 0];
  for (let at = 0; at < data.length; at += 1) {
    const byte = data[at] ?? 0;
    const next = data[at + 1] ?? 0;
    if (byte === 0xff && next >= 0xd0 && next <= 0xd7) {
      pieces.push(piece.subarray(0, length));
      [piece, length] = [piece.subarray(length), 0];
      at += 1;
    } else {
      piece[length] = byte;
      length += 1;
      if (byte === 0xff && next === 0) at += 1;
    }
  }
  return [...pieces, piece.subarray(0, length)];
}

const LAST = 63;

function createBits(data: Buffer) {
  let [at, held, bits] = [0, 0, 0];
  const sixteen = (): number => {
    for (; bits < 16; bits += 8, at += 1) held = ((held << 8) | (data[at] ?? 0)) & 0xff_ffff;
    return (held >> (bits - 16)) & 0xffff;
  };
  /** What the next code stands for; `undefined` when there is no such code. */
  const symbol = (table: HuffmanTable): number | undefined => {
    const found = table[sixteen()] ?? 0;
    bits -= found >> 8;
    return found === 0 ? undefined : found & 0xff;
  };
  return {
    /** How much it differs from the one before. */
    mean(table: HuffmanTable): number | undefined {
      const size = symbol(table);
      if (size === undefined || size > 15) return undefined;
      if (size === 0) return 0;
      const value = sixteen() >> (16 - size);
      bits -= size;
      return value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
    },
    /** The rest of a block. */
    pass(table: HuffmanTable | undefined): boolean {
      for (let nth = 1; nth <= LAST; nth += 1) {
        const found = table === undefined ? undefined : symbol(table);
        if (found === undefined) return false;
        const [zeros, size] = [found >> 4, found & 0x0f];
        if (size === 0 && zeros !== 15) return true;
        nth += zeros;
        sixteen();
        bits -= size;
      }
      return true;
    },
    /** Whether more was read than there is. */
    isOver: () => at * 8 - bits > data.length * 8,
  };
}
