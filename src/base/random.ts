/** Where chance comes in. Everything that needs it takes a `Random`; only this file asks the machine for it. */
import { randomBytes } from 'node:crypto';

export interface Random {
  /** `count` bytes. */
  bytes(count: number): Uint8Array;
  /** A number in [0, 1). */
  fraction(): number;
}

/** Asked for in advance: each question to the machine costs as much as many bytes. Each byte is given once. */
const POOL_BYTES = 4_096;
let pool = new Uint8Array(0);

function fromPool(count: number): Uint8Array {
  if (count > POOL_BYTES) return randomBytes(count);
  if (pool.length < count) pool = randomBytes(POOL_BYTES);
  const given = pool.slice(0, count);
  pool = pool.subarray(count);
  return given;
}

export const systemRandom: Random = {
  bytes: fromPool,
  fraction: () => Math.random(),
};

/** A repeatable source (xorshift128) for tests and simulations: the same seed gives the same numbers for ever. */
export function seededRandom(seed: number): Random {
  let a = seed >>> 0 || 1;
  let b = 0x9e3779b9 ^ a;
  let c = 0x243f6a88;
  let d = 0xb7e15162 ^ (a << 7);
  const next = (): number => {
    const t = d ^ (d << 11);
    d = c;
    c = b;
    b = a;
    a = (a ^ (a >>> 19) ^ t ^ (t >>> 8)) >>> 0;
    return a;
  };
  for (let round = 0; round < 16; round += 1) next();
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
    fraction: () => next() / 0x1_0000_0000,
  };
}
