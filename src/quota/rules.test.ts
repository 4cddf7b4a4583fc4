import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import type { QuotaClaim } from './port.ts';
import { dealOut, type Holder, settleClaim } from './rules.ts';

const claim = (changes: Partial<QuotaClaim> = {}): QuotaClaim => ({
  account: 'a',
  needed: 1,
  used: 0,
  inFlight: 0,
  succeeded: 0,
  ...changes,
});
const needs = fc.array(fc.nat(60), { minLength: 1, maxLength: 12 });
const workers = (all: readonly number[]) => all.map((needed, index) => ({ worker: `w${index}`, needed }));

describe('dealOut', () => {
  it('never deals out more than is allowed, nor to anybody more than they need while another lacks something', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), needs, fc.nat(100), (allowed, all, turn) => {
        const dealt = dealOut(allowed, workers(all), turn);
        const shares = all.map((needed, index) => ({ needed, share: dealt.get(`w${index}`) ?? -1 }));
        const total = shares.reduce((sum, { share }) => sum + share, 0);
        expect(total).toBeLessThanOrEqual(allowed);
        const hungry = shares.filter(({ needed, share }) => share < needed);
        if (hungry.length === 0) return;
        expect(total).toBe(allowed);
        const least = Math.min(...hungry.map(({ share }) => share));
        for (const { needed, share } of shares) {
          expect(share).toBeLessThanOrEqual(needed);
          expect(share).toBeLessThanOrEqual(least + 1);
        }
      }),
    );
  });

  it('leaves something for whoever comes next, as long as there is plenty', () => {
    const dealt = dealOut(1_000, workers([10, 10, 10]), 0);
    expect([...dealt.values()]).toEqual([20, 20, 20]);
    expect([...dealOut(1_000, workers([1, 0]), 0).values()]).toEqual([9, 0]);
  });

  it('gives what cannot be divided to each in turn', () => {
    const lucky = [0, 1, 2].map((turn) => [...dealOut(1, workers([5, 5, 5]), turn)].find(([, share]) => share === 1)?.[0]);
    expect(lucky.toSorted()).toEqual(['w0', 'w1', 'w2']);
  });
});

describe('settleClaim', () => {
  it('keeps all shares together within what is allowed, whatever is claimed in whatever order', () => {
    const step = fc.record({
      worker: fc.nat(4),
      needed: fc.nat(40),
      inFlight: fc.nat(40),
      succeeded: fc.nat(20),
      refused: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let account = { allowed: 20, pausedUntil: 0 };
        const shares = new Map<string, Holder>();
        let now = 1_000;
        for (const { worker, needed, inFlight, succeeded, refused } of steps) {
          now += 300;
          const name = `w${worker}`;
          // Nobody has more under way than they were granted before.
          const under = Math.min(inFlight, shares.get(name)?.held ?? 0);
          const others = [...shares.values()].filter((holder) => holder.worker !== name);
          const refusal = refused ? { forMs: 500, begunAgoMs: 100 } : undefined;
          const asked = claim({ needed: Math.max(needed, under), used: under, inFlight: under, succeeded, refusal });
          const settled = settleClaim(account, others, name, asked, now, 20);
          account = settled.account;
          shares.set(name, settled.holder);
          const held = others.reduce((sum, holder) => sum + holder.held, 0);
          expect(settled.share.granted).toBeGreaterThanOrEqual(0);
          if (settled.share.granted > 0) expect(held + settled.share.granted).toBeLessThanOrEqual(Math.floor(account.allowed));
          expect(account.allowed).toBeGreaterThanOrEqual(1);
          expect(account.allowed).toBeLessThanOrEqual(20);
        }
      }),
    );
  });

  it('halves what was really used for the first refusal, not for calls that had begun before it', () => {
    const refusal = { forMs: 2_000, begunAgoMs: 10 };
    const first = settleClaim(
      { allowed: 1_000, pausedUntil: 0 },
      [{ worker: 'b', needed: 30, used: 30, held: 30 }],
      'a',
      claim({ used: 10, refusal }),
      5_000,
      1_000,
    );
    expect(first.account).toEqual({ allowed: 20, pausedUntil: 7_000 });
    expect(first.isNews).toBe(true);
    const late = settleClaim(
      first.account,
      [],
      'b',
      claim({ used: 30, refusal: { forMs: 10, begunAgoMs: 3_000 } }),
      7_500,
      1_000,
    );
    expect(late.account.allowed).toBe(20);
    const again = settleClaim(first.account, [], 'b', claim({ used: 30, refusal }), 7_500, 1_000);
    expect(again.account.allowed).toBe(10);
  });

  it('waits no longer than the longest pause, however long the provider asks', () => {
    const refusal = { forMs: 3_600_000, begunAgoMs: 0 };
    const { share } = settleClaim({ allowed: 4, pausedUntil: 0 }, [], 'a', claim({ refusal }), 1_000, 4);
    expect(share.pausedForMs).toBe(limits.retryMaxMs);
  });
});
