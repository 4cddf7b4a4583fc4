import { describe, expect, it } from 'vitest';
import { eventList, ROOT, started } from '../../../test/support/event-list.ts';
import { boundsOf, burnDown, usedWords } from './burn-down.ts';

describe('how a budget goes down', () => {
  it('holds what is reserved, and gives back what was not spent of it', () => {
    const list = eventList();
    started(list, 'lead');
    const scopes = [ROOT];
    const amounts = { calls: 1, tokens: 100, nanoUsd: 400 };
    list.add('budget.reserved', { scopes, amounts });
    list.add('budget.settled', { scopes, reserved: amounts, spent: { calls: 1, tokens: 60, nanoUsd: 100 } });
    list.add('budget.reserved', { scopes: ['project'], amounts });
    const [money, tokens] = boundsOf({ usd: 0.000001, tokens: 100 });
    if (money === undefined || tokens === undefined) throw new Error('no bounds');
    const lines = burnDown(list.events, ROOT, money)?.lines.map(({ values }) => values);
    expect(lines).toEqual([
      [1_000, 900],
      [600, 900],
      [1_000, 1_000],
    ]);
    expect(burnDown(list.events, ROOT, tokens)?.lines[1]?.values).toEqual([0, 40]);
    expect(usedWords(tokens, undefined)).toBe('0 settled, 0 reserved, of 100');
  });

  it('is not drawn where nothing was reserved', () => {
    const [bound] = boundsOf({ calls: 3 });
    expect(bound === undefined ? 'none' : burnDown([], ROOT, bound)).toBeUndefined();
    expect(boundsOf(null)).toEqual([]);
  });
});
