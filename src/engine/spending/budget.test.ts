import { describe, expect, it } from 'vitest';
import { limitingScopes, refusal, tighter, withTimeLimit } from './budget.ts';

describe('two budgets', () => {
  it('both hold: limit by limit the lower one counts', () => {
    const both = { usd: 2, tokens: 10, calls: 3, depth: 1, wallMs: 500 };
    expect(tighter({ usd: 2, tokens: 10, calls: 5, depth: 1 }, { usd: 3, calls: 3, depth: 4, wallMs: 500 })).toEqual(both);
    expect(tighter({ usd: 3, calls: 3, depth: 4, wallMs: 500 }, { usd: 2, tokens: 10, calls: 5, depth: 1 })).toEqual(both);
  });

  it('of which one says nothing are the other one', () => {
    expect(tighter(undefined, { calls: 3 })).toEqual({ calls: 3 });
    expect(tighter({ calls: 3 }, undefined)).toEqual({ calls: 3 });
    expect(tighter(undefined, undefined)).toBeUndefined();
  });
});

it('only budgets of what is counted are accounted for, also those that are nothing', () => {
  const scopes = [{ wallMs: 5 }, { depth: 2 }, { calls: 0 }, { usd: 0 }].map((limit, index) => ({
    scope: `run_${index}`,
    limit,
  }));
  expect(limitingScopes(scopes).map(({ scope }) => scope)).toEqual(['run_2', 'run_3']);
});

it('a limit of time is named where it is the shorter one, and there alone', () => {
  const limit = { milliseconds: 10, setting: 'assistants.lifetime' };
  expect(withTimeLimit({ calls: 3 }, limit)).toEqual({ budget: { calls: 3, wallMs: 10 }, timeLimit: 'assistants.lifetime' });
  expect(withTimeLimit({ wallMs: 11 }, limit)).toEqual({ budget: { wallMs: 10 }, timeLimit: 'assistants.lifetime' });
  expect(withTimeLimit({ wallMs: 10 }, limit)).toEqual({ budget: { wallMs: 10 } });
  expect(withTimeLimit({ wallMs: 9 }, limit)).toEqual({ budget: { wallMs: 9 } });
  expect(withTimeLimit({ wallMs: 9 }, undefined)).toEqual({ budget: { wallMs: 9 } });
});

it.each([
  ['tokens', { max: 100, value: 40, add: 4_738 }, '--budget-tokens 4778'],
  ['nanoUsd', { max: 100_000, value: 0, add: 9_210_001 }, '--budget-usd 0.0093'],
  ['nanoUsd', { max: 50_000_000, value: 49_000_000, add: 9_200_000 }, '--budget-usd 0.1'],
  ['calls', { max: 0, value: 0, add: 1 }, '--budget-calls 1'],
  ['calls', { max: 2, value: 5, add: 1 }, '--budget-calls 6'],
])('what is advised is enough for the call that was refused: %s %o', (unit, { max, value, add }, advice) => {
  const over = { kind: 'over_limit', counter: `budget/run_abcdef/${unit}`, max, value, add } as const;
  expect(refusal(over).message).toMatch(new RegExp(`${advice}$`));
});

it('names an amount that is smaller than a hundredth of a cent', () => {
  const over = { kind: 'over_limit', counter: 'budget/run_abcdef/nanoUsd', max: 10_000, value: 0, add: 9_000 } as const;
  expect(refusal(over).message).toContain('has $0.00001 of $0.00001 left');
});
