import { expect, it } from 'vitest';
import { eventList } from '../../../test/support/event-list.ts';
import { systemClock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { userText } from '../../events/messages.ts';
import type { DrivenRun } from './driven-run.ts';
import { createJournal } from './journal.ts';
import { reopenedSince } from './standing-events.ts';

/** A run of which it is known at which positions it was reopened. */
function node(name: string, parent: DrivenRun | undefined, reopenedAt: readonly number[]): DrivenRun {
  const run = `run_${name}` as RunId;
  const list = eventList();
  for (const _ of reopenedAt) list.add('run.reopened', { undone: [] }, { run });
  const past = list.events.map((event, index) => ({ ...event, position: reopenedAt[index] ?? 0 }));
  const started = { agent: name, input: userText('Go.'), origin: { kind: 'person' as const }, depth: 0 };
  const journal = createJournal(run, name, systemClock, past, null);
  return { run, parent, depth: 0, journal, whole: true, started, scopes: [], abort: new AbortController() };
}

it.each([
  ['whose budget it is, after that', { lead: [], squad: [7] }, 'run_squad', 5, true],
  ['whose budget it is, before that', { lead: [], squad: [3] }, 'run_squad', 5, false],
  ['only somebody below whose budget it is', { lead: [], squad: [7] }, 'run_lead', 5, false],
  ['only somebody above whose budget it is', { lead: [7], squad: [] }, 'run_squad', 5, false],
  ['the top, where it is nobody of the tree whose budget it is', { lead: [7], squad: [] }, 'project', 5, true],
  ['nobody', { lead: [], squad: [] }, 'run_squad', 5, false],
] as const)('a budget that was out may not be so any more: reopened was %s', (_name, reopened, scope, position, expected) => {
  const squad = node('squad', node('lead', undefined, reopened.lead), reopened.squad);
  expect(reopenedSince(squad, scope, position)).toBe(expected);
});
