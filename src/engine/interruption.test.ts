import { describe, expect, it } from 'vitest';
import { gravest, Interruption, joinAll, strongest } from './interruption.ts';

const waiting = new Interruption('waiting', 'for an answer');
const paused = new Interruption('paused', 'asked from outside');
const lost = new Interruption('lost', 'taken over');
const bug = new Error('a bug');

describe('of several reasons to stop', () => {
  it('losing the lease outranks a pause, and a pause a wait', () => {
    expect(strongest([waiting, paused, lost])).toBe(lost);
    expect(strongest([waiting, paused])).toBe(paused);
    expect(strongest([])).toBeUndefined();
  });

  it('a bug counts before all of them', () => {
    expect(gravest([waiting, lost, bug])).toBe(bug);
    expect(gravest([waiting, lost])).toBe(lost);
  });
});

describe('branches that are joined', () => {
  it('are waited for until all have come to their end, also when one has failed before', async () => {
    const slow = Promise.withResolvers<number>();
    let over = false;
    const joined = joinAll([Promise.reject(waiting), slow.promise]).finally(() => {
      over = true;
    });
    joined.catch(() => undefined);
    await Promise.resolve();
    expect(over).toBe(false);
    slow.resolve(1);
    await expect(joined).rejects.toBe(waiting);
  });

  it('pass on the gravest of what they failed with, or give their values', async () => {
    await expect(joinAll([Promise.reject(waiting), Promise.reject(paused)])).rejects.toBe(paused);
    expect(await joinAll([Promise.resolve(1), Promise.resolve(2)])).toEqual([1, 2]);
  });
});
