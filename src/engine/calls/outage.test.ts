/** Since when a provider fails a tree: of what the ledger holds, only that provider's own failures and answers count. */
import { expect, it } from 'vitest';
import { appendOrFail, givenRun } from '../../../test/conformance/ledger/support.ts';
import { startedAt } from '../../../test/support/event-list.ts';
import { handClock } from '../../../test/support/hand-clock.ts';
import { openTestLedger, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { limits } from '../../base/limits.ts';
import type { ModelFailure, Payloads } from '../../events/catalogue.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { outageSoFar } from './outage.ts';

const AWAY: ModelFailure = { kind: 'network', message: 'connect ECONNREFUSED' };
const REFUSED: ModelFailure = { kind: 'auth', message: 'refused', status: 401 };
const LONG_AGO = limits.outagePatienceMs / 1_000;

/** Seconds after the beginning, the model, and what came of asking it: a failure, or an answer. */
type Told = readonly [seconds: number, model: string, error?: ModelFailure];

it.each<readonly [string, number, readonly Told[]]>([
  [
    'from its first failure on',
    60,
    [
      [40, 'a/one', AWAY],
      [70, 'a/two', AWAY],
    ],
  ],
  [
    'whatever another provider answers meanwhile',
    60,
    [
      [40, 'a/one', AWAY],
      [70, 'b/one'],
      [80, 'a/one', AWAY],
    ],
  ],
  [
    'whatever another provider fails of',
    60,
    [
      [10, 'b/one', AWAY],
      [40, 'a/one', AWAY],
      [70, 'b/one', REFUSED],
    ],
  ],
  [
    'since it last answered',
    20,
    [
      [40, 'a/one', AWAY],
      [70, 'a/two'],
      [80, 'a/one', AWAY],
    ],
  ],
  [
    'since it was no outage',
    20,
    [
      [40, 'a/one', AWAY],
      [70, 'a/one', REFUSED],
      [80, 'a/one', AWAY],
    ],
  ],
  ['not since another outage, long before', 0, [[-LONG_AGO - 1, 'a/one', AWAY]]],
])('a provider has been away %s', async (_how, seconds, all) => {
  const clock = handClock();
  const ledger = openTestLedger({ path: ':memory:', clock });
  const writer = await givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });
  const events = all.map(([at, model, error]): NewEvent => {
    const place = { run: writer.run, actor: 'system', cause: writer.eventAt(1), at: startedAt(0) + (at - 100) * 1_000 } as const;
    if (error !== undefined)
      return { ...place, type: 'model.failed', payload: { turn: 1, model, attempt: 1, error, final: false } };
    const payload: Payloads['model.response'] = {
      ...{ turn: 1, message: { role: 'assistant', content: [{ type: 'text', text: 'Here.' }] }, finish: 'stop', usage: {} },
      ...{ requested: model, served: model, attempts: 1, durationMs: 1 },
    };
    return { ...place, type: 'model.response', payload };
  });
  await appendOrFail(writer, events);
  expect(await outageSoFar({ ledger, clock, session: writer.session }, 'a/one')).toBe(seconds * 1_000);
  await ledger.close();
});
