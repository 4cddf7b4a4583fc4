import { expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { userText } from '../../events/messages.ts';
import type { RunOrigin } from '../../events/run-origin.ts';
import { type DrivenRun, speakerOf } from './driven-run.ts';
import { createJournal } from './journal.ts';

const node = (name: string, parent: DrivenRun | undefined, origin: RunOrigin): DrivenRun => {
  const run = `run_${name}` as RunId;
  const depth = parent === undefined ? 0 : parent.depth + 1;
  const started = { agent: name, input: userText('Go.'), origin, depth };
  const journal = createJournal(run, name, systemClock, [], null);
  return { run, parent, depth, journal, whole: true, started, scopes: [], abort: new AbortController() };
};

const own = (parent: DrivenRun): RunOrigin => ({ kind: 'loop', parent: parent.run, role: 'reflection', as: 'self' });

it('a run that does the work of the one above it speaks in its name, others in their own', () => {
  const lead = node('lead', undefined, { kind: 'person' });
  const round = node('round', lead, own(lead));
  const again = node('again', round, own(round));
  const worker = node('worker', lead, { kind: 'pattern', parent: lead.run, role: 'worker' });
  expect([lead, round, again, worker].map((one) => speakerOf(one).run)).toEqual([
    'run_lead',
    'run_lead',
    'run_lead',
    'run_worker',
  ]);
});
