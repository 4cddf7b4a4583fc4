/**
 * SHA-256, here and now. What the browser offers is asynchronous, one promise for each of a hundred thousand events, and is not
 * there at all on a page that came over plain HTTP.
 */
const CONSTANTS = fractionsOf((prime) => Math.cbrt(prime), 64);
const START = fractionsOf((prime) => Math.sqrt(prime), 8);
const BLOCK = 64;
const LENGTH_BYTES = 8;
const encoder = new TextEncoder();

/** The first bits behind the point of the roots of the first primes. */
function fractionsOf(root: (prime: number) => number, count: number): Uint32Array {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number += 1) if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  return Uint32Array.from(primes, (prime) => (root(prime) % 1) * 2 ** 32);
}

export function sha256(content: string | Uint8Array): string {
  const bytes = typeof content === 'string' ? encoder.encode(content) : content;
  const padded = new Uint8Array(Math.ceil((bytes.length + 1 + LENGTH_BYTES) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = Int32Array.from(START);
  const words = new Int32Array(BLOCK);
  for (let at = 0; at < padded.length; at += BLOCK) mix(state, words, view, at);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));
const wordAt = (words: Int32Array | Uint32Array, index: number): number => words[index] ?? 0;

function mix(state: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let index = 0; index < 16; index += 1) words[index] = view.getInt32(at + index * 4);
  for (let index = 16; index < BLOCK; index += 1) {
    const [early, late] = [wordAt(words, index - 15), wordAt(words, index - 2)];
    const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
    const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
    words[index] = wordAt(words, index - 16) + first + wordAt(words, index - 7) + second;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < BLOCK; index += 1) {
    const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const one = (h + high + ((e & f) ^ (~e & g)) + wordAt(CONSTANTS, index) + wordAt(words, index)) | 0;
    const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const two = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = wordAt(state, index) + word;
}
