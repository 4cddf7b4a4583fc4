import { describe, expect, it } from 'vitest';
import { agent } from '../../../test/support/world.ts';
import { resultBytes } from './result-room.ts';

const plain = [{ type: 'text' as const, text: 'A plain text.' }];
const small = agent({ contextWindow: 9_000, maxOutputTokens: 1_000 });

describe('the room for a result', () => {
  it('is a twentieth of the room for the conversation', () => {
    expect(resultBytes(small, 1, plain)).toBe((8_000 * 4) / 20);
  });

  it('is no more than that in scripts with more tokens than characters, and between the two where they are mixed', () => {
    const wide = [{ type: 'text' as const, text: '漢字かな交じり文'.repeat(1_000) }];
    const characters = resultBytes(small, 1, wide) / 3;
    expect(characters * 1.5).toBeLessThanOrEqual(8_000 / 20);
    expect(characters * 1.5).toBeGreaterThan(8_000 / 25);
    const mixed = resultBytes(small, 1, [...plain, { type: 'text', text: '漢字' }]);
    expect(mixed).toBeGreaterThan(resultBytes(small, 1, wide));
    expect(mixed).toBeLessThan(resultBytes(small, 1, plain));
  });

  it('is shared when a turn makes many calls', () => {
    expect(resultBytes(small, 10, plain)).toBe((8_000 * 4) / 4 / 10);
  });

  it('is never so small that it tells nothing, unless the agent wants it', () => {
    expect(resultBytes(small, 1_000, plain)).toBe(512);
    expect(resultBytes({ ...small, toolResponseMaxBytes: 100 }, 1_000, plain)).toBe(100);
  });

  it('is what the agent says, as far as its turn has room', () => {
    expect(resultBytes({ ...small, toolResponseMaxBytes: 5_000 }, 1, plain)).toBe(5_000);
    expect(resultBytes({ ...small, toolResponseMaxBytes: 5_000 }, 4, plain)).toBe(2_000);
  });
});
