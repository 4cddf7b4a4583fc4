/** Module for module what another encoder of the standard draws, for lengths in every version that there is. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { qrCode } from './qr-code.ts';

const LENGTHS = [3, 17, 18, 30, 60, 100, 106, 107, 134, 135, 160, 200, 230, 270, 271, 272, 340, 400, 500, 520];
const textOf = (length: number): string => `http://192.168.1.5:4747/login#abcDEF_-${'0123456789xyz'.repeat(60)}`.slice(0, length);
const written = (rows: readonly (readonly boolean[])[]): string => rows.map((row) => row.map(Number).join('')).join('\n');

describe('a QR code', () => {
  it('is the one of the standard', () => {
    const hash = createHash('sha256');
    for (const length of LENGTHS) hash.update(`${written(qrCode(textOf(length)) ?? [])}\n`);
    expect(hash.digest('hex')).toBe('5f71a534e86122fa21f6026e77c1d4d323233a3a2e8337ce1b3fe4be5a4e517b');
  });

  it('is none for a text that has no room in it', () => {
    expect(qrCode(textOf(520))?.length).toBe(15 * 4 + 17);
    expect(qrCode(textOf(521))).toBeUndefined();
  });
});
