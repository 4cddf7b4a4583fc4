/**
 * The part of the tar format (ustar) that a bundle is made of: plain files with short names and nothing of the machine that wrote
 * them, so that equal contents are equal bytes. What is read may be a stranger's: everything else that a tar can hold is refused.
 */
import { limits } from '../base/limits.ts';
import { badBundle, largeBundle } from './refusals.ts';

const BLOCK = 512;
const NAME_BYTES = 100;

/** A header and what fills the last block up. */
export function tarHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  if (Buffer.byteLength(name) > NAME_BYTES) throw badBundle(`the name ${name.slice(0, NAME_BYTES)}… is too long`);
  header.write(name, 0, NAME_BYTES, 'utf8');
  for (const [at, width, value] of [
    [100, 8, 0o644],
    [108, 8, 0],
    [116, 8, 0],
    [124, 12, size],
    [136, 12, 0],
  ] as const)
    header.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, width, 'latin1');
  header.write('        0', 148, 9, 'latin1');
  header.write('ustar\x0000', 257, 8, 'latin1');
  header.write(`${sumOf(header).toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
  return header;
}

export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

export interface TarEntry {
  readonly name: string;
  readonly body: Buffer;
}

/** `most`: how large an entry of this name may be; throws for a name that has no place here. */
export async function* readTar(
  chunks: AsyncIterable<Uint8Array>,
  most: (name: string) => { readonly bytes: number; readonly limit: string },
): AsyncGenerator<TarEntry, void> {
  const source = reader(chunks);
  const seen = new Set<string>();
  for (;;) {
    const header = await source.take(BLOCK, 'before its end');
    if (header.every((byte) => byte === 0)) break;
    const { name, size } = parsedHeader(header);
    const { bytes, limit } = most(name);
    if (size > bytes) throw largeBundle(`${name} has ${size} bytes`, limit, bytes);
    if (seen.has(name)) throw badBundle(`${name} is in it twice`);
    seen.add(name);
    if (seen.size > limits.bundleEntries)
      throw largeBundle(`it has more than ${limits.bundleEntries} entries`, 'bundleEntries', limits.bundleEntries);
    const body = await source.take(size, `in ${name}`);
    const padding = await source.take(tarPadding(size).length, `in ${name}`);
    if (!padding.every((byte) => byte === 0)) throw badBundle(`something is hidden behind ${name}`);
    yield { name, body };
  }
  await source.onlyZeros();
}

function parsedHeader(header: Buffer): { readonly name: string; readonly size: number } {
  if (header.toString('latin1', 257, 262) !== 'ustar') throw badBundle('it is no tar file, or is damaged');
  if (octal(header, 148, 8) !== sumOf(header)) throw badBundle('a header in it is damaged');
  const name = untilZero(header, 0, NAME_BYTES);
  const kind = String.fromCharCode(header[156] ?? 0);
  if (kind === '1' || kind === '2') throw badBundle(`${quotedName(name)} is a link`);
  if (kind !== '0') throw badBundle(`${quotedName(name)} is no plain file`);
  if (untilZero(header, 345, 155) !== '') throw badBundle(`${quotedName(name)} has a name that is too long`);
  return { name, size: octal(header, 124, 12) };
}

/** A stranger's name, for a message. */
export const quotedName = (name: string): string => JSON.stringify(name.slice(0, NAME_BYTES));

function octal(header: Buffer, at: number, width: number): number {
  const text = header.toString('latin1', at, at + width).replace(/[\0 ]+$/, '');
  if (!/^[0-7]{1,12}$/.test(text)) throw badBundle('a header in it is damaged, or names more bytes than a plain tar can');
  return Number.parseInt(text, 8);
}

function untilZero(header: Buffer, at: number, width: number): string {
  const field = header.subarray(at, at + width);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? width : end);
}

/** Over the header, with blanks in the place of the sum itself. */
function sumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at += 1) sum += at >= 148 && at < 156 ? 0x20 : (header[at] ?? 0);
  return sum;
}

interface Reader {
  take(size: number, where: string): Promise<Buffer>;
  onlyZeros(): Promise<void>;
}

/** Holds no more than a chunk and what is being put together. */
function reader(chunks: AsyncIterable<Uint8Array>): Reader {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let total = 0;
  const more = async (): Promise<boolean> => {
    const next = await source.next();
    if (next.done === true) return false;
    rest = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
    total += rest.length;
    if (total > limits.bundleBytes)
      throw largeBundle(`it has more than ${limits.bundleBytes} bytes`, 'bundleBytes', limits.bundleBytes);
    return true;
  };
  return {
    async take(size, where) {
      const parts: Buffer[] = [];
      let wanted = size;
      while (wanted > 0) {
        if (rest.length === 0 && !(await more())) throw badBundle(`the file stops ${where}: it was cut off`);
        const part = rest.subarray(0, wanted);
        rest = rest.subarray(part.length);
        wanted -= part.length;
        parts.push(part);
      }
      return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    },
    async onlyZeros() {
      do {
        if (!rest.every((byte) => byte === 0)) throw badBundle('something stands behind its end');
        rest = Buffer.alloc(0);
      } while (await more());
    },
  };
}
