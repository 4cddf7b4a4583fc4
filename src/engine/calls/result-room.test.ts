import { describe, expect, it } from 'vitest';
import { agent } from '../../../test/support/world.ts';
import { resultBytes } from './result-room.ts';

const small = agent({ contextWindow: 9_000, maxOutputTokens: 1_000 });

describe('the room for a result', () => {
  it('is a twentieth of the room for the conversation', () => {
    expect(resultBytes(small, 1)).toBe((8_000 * 4) / 20);
  });

  it('is shared when a turn makes many calls', () => {
    expect(resultBytes(small, 10)).toBe((8_000 * 4) / 4 / 10);
  });

  it('is never so small that it tells nothing, unless the agent wants it', () => {
    expect(resultBytes(small, 1_000)).toBe(512);
    expect(resultBytes({ ...small, toolResponseMaxBytes: 100 }, 1_000)).toBe(100);
  });

  it('is what the agent says, as far as its turn has room', () => {
    expect(resultBytes({ ...small, toolResponseMaxBytes: 5_000 }, 1)).toBe(5_000);
    expect(resultBytes({ ...small, toolResponseMaxBytes: 5_000 }, 4)).toBe(2_000);
  });
});
