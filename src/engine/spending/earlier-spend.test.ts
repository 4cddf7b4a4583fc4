/** What a run spent before it had a limit: each call once, whoever below it made it, and whatever was counted already. */
import { expect, it } from 'vitest';
import { answered, eventList, ROOT, started } from '../../../test/support/event-list.ts';
import type { RunId } from '../../base/ids.ts';
import { EARLIER_STEP, earlierSpend } from './earlier-spend.ts';

const CHILD = 'run_child1' as RunId;
const step = 'turn/1/model';

it('counts what nobody counted, for the run and for those below it', () => {
  const list = eventList();
  started(list, 'worker');
  answered(list, 1, { tokens: [10, 5], nanoUsd: 7 });
  started(list, 'helper', { origin: { kind: 'pattern', parent: ROOT, role: 'worker' } }, { run: CHILD });
  const failed = { turn: 1, model: 'test/model', attempt: 1, final: false } as const;
  list.add('model.failed', { ...failed, error: { kind: 'overloaded', message: 'no' } }, { run: CHILD, step });
  list.add('model.failed', { ...failed, error: { kind: 'cancelled', message: 'no' } }, { run: CHILD, step });
  answered(list, 1, { tokens: [1, 1], nanoUsd: 2 }, { run: CHILD, step });
  expect(earlierSpend(list.events, ROOT)).toEqual({ calls: 3, tokens: 17, nanoUsd: 9 });
  expect(earlierSpend(list.events, CHILD)).toEqual({ calls: 2, tokens: 2, nanoUsd: 2 });
});

it('takes what was settled for somebody else as it was settled, and what was settled for it not again', () => {
  const list = eventList();
  started(list, 'worker');
  const amounts = { calls: 1, tokens: 100, nanoUsd: 50 };
  for (const scopes of [['project'], ['project', ROOT]]) {
    list.add('budget.reserved', { scopes, amounts }, { step });
    answered(list, 1, { tokens: [10, 5], nanoUsd: 7 }, { step });
    list.add('budget.settled', { scopes, reserved: amounts, spent: { calls: 1, tokens: 16, nanoUsd: 8 } }, { step });
  }
  expect(earlierSpend(list.events, ROOT)).toEqual({ calls: 1, tokens: 16, nanoUsd: 8 });
  // Nobody knows how this one went.
  list.add('budget.reserved', { scopes: ['project'], amounts }, { step });
  expect(earlierSpend(list.events, ROOT)).toEqual({ calls: 2, tokens: 116, nanoUsd: 58 });
});

it('is put on the account once', () => {
  const list = eventList();
  started(list, 'worker');
  answered(list, 1);
  const spent = earlierSpend(list.events, ROOT);
  const reserved = { calls: 0, tokens: 0, nanoUsd: 0 };
  list.add('budget.settled', { scopes: [ROOT], reserved, spent }, { step: EARLIER_STEP });
  expect(earlierSpend(list.events, ROOT)).toEqual(reserved);
});
