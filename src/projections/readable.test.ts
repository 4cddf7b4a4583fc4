import { describe, expect, it } from 'vitest';
import {
  firstLine,
  readableBytes,
  readableCost,
  readableCount,
  readableDuration,
  readableInAndOut,
  readableMoney,
} from './readable.ts';

describe('readable figures', () => {
  it.each([
    [0, '$0'],
    [420_000, '$0.00042'],
    [5, '$0.000000005'],
    [27_000_000, '$0.027'],
    [1_270_000_000, '$1.27'],
    [-2_000_000_000, '-$2.00'],
  ])('money %d', (nanoUsd, text) => expect(readableMoney(nanoUsd)).toBe(text));

  it('never calls an unknown price nothing', () => {
    expect(readableCost({ nanoUsd: 0, unknownCalls: 0 })).toBe('$0');
    expect(readableCost({ nanoUsd: 0, unknownCalls: 1 })).toBe('cost unknown (1 call)');
    expect(readableCost({ nanoUsd: 1_000_000_000, unknownCalls: 2 })).toBe('$1.00 + unknown (2 calls)');
  });

  it('never calls tokens that nobody counted none', () => {
    const spent = { inputTokens: 1_500, outputTokens: 4, uncountedCalls: 0 };
    expect(readableInAndOut(spent)).toBe('1.5k in, 4 out');
    expect(readableInAndOut({ ...spent, uncountedCalls: 1 })).toBe('1.5k+? in, 4+? out');
    expect(readableInAndOut({ ...spent, outputTokens: 0, uncountedCalls: 1 })).toBe('1.5k+? in, unknown out');
    expect(readableInAndOut({ inputTokens: 0, outputTokens: 0, uncountedCalls: 1 })).toBe('tokens unknown');
  });

  it.each([
    [999, '999ms'],
    [1_240, '1.2s'],
    [59_960, '1m00s'],
    [61_000, '1m01s'],
    [3_700_000, '1h01m'],
    [-5, '0ms'],
  ])('duration %d', (milliseconds, text) => expect(readableDuration(milliseconds)).toBe(text));

  it('shows counts and bytes in round figures', () => {
    expect([999, 1_000, 999_960].map(readableCount)).toEqual(['999', '1.0k', '1.0M']);
    expect([5, 2_048, 3_145_728, 5_368_709_120].map(readableBytes)).toEqual(['5 B', '2.0 KiB', '3.0 MiB', '5.0 GiB']);
  });

  it('cuts a long text to one line', () => {
    expect(firstLine('a\n  b\tc', 10)).toBe('a b c');
    expect(firstLine('x'.repeat(50), 10)).toBe(`${'x'.repeat(9)}…`);
  });
});
