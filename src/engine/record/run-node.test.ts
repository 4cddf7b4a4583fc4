import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { createJournal } from './journal.ts';
import { type RunNode, speakerOf } from './run-node.ts';

const node = (name: string, parent: RunNode | undefined, more: Partial<Payloads['run.started']>): RunNode => {
  const run = `run_${name}` as RunId;
  const depth = parent === undefined ? 0 : parent.depth + 1;
  const started = { agent: name, input: userText('Go.'), depth, ...more };
  const journal = createJournal(run, name, systemClock, [], null);
  return { run, parent, depth, journal, whole: true, started, scopes: [], abort: new AbortController() };
};

it('a run that does the work of the one above it speaks in its name, others in their own', () => {
  const lead = node('lead', undefined, {});
  const round = node('round', lead, { part: 'self' });
  const again = node('again', round, { part: 'self' });
  const worker = node('worker', lead, {});
  expect([lead, round, again, worker].map((one) => speakerOf(one).run)).toEqual([
    'run_lead',
    'run_lead',
    'run_lead',
    'run_worker',
  ]);
});
