/**
 * Errands that are given to an agent elsewhere by the command line, whatever happens on the way: what is to be done next is read
 * from the ledger alone, as a person would see it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RunId } from '../../../src/base/ids.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { textOf } from '../../../src/events/messages.ts';
import { only, sessionOf, withLedger } from '../assistants/ledger.ts';

export interface Errand {
  readonly kind: 'plain' | 'ask';
  readonly words: string;
}

export const newErrand = (index: number): Errand => {
  const kind = index % 2 === 0 ? 'plain' : 'ask';
  return { kind, words: `${kind} ${index}.` };
};

/** The root runs in whose first message the words stand. */
async function runsOf(folder: string, { words }: Errand): Promise<readonly RunId[]> {
  if (!existsSync(join(folder, '.troupe', 'ledger.db'))) return [];
  return await withLedger(folder, async (ledger) => {
    const rows = await ledger.runs({ roots: true, limit: 1_000 });
    const found: RunId[] = [];
    for (const { run, session } of rows) {
      const [first] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
      if (first?.event_type === 'run.started' && textOf(first.payload.input.content).includes(words)) found.push(run);
    }
    return found;
  });
}

/** What a person would type next; `undefined` when it is done. */
export async function nextCommand(folder: string, errand: Errand): Promise<readonly string[] | undefined> {
  const [run] = await runsOf(folder, errand);
  if (run === undefined) return ['run', 'weather', errand.words];
  const events = await sessionOf(folder, run);
  if (only(events, 'run.ended').length > 0) return undefined;
  const asks = only(events, 'task.clarify').length > only(events, 'approval.answered').length;
  return asks ? ['answer', run, 'The second.'] : ['resume', run];
}

/** Here it is one run that ended well, asked its question once, and had one task there; there it is one task that ended well. */
export async function checkErrand(errand: Errand, here: string, there: string): Promise<void> {
  const { kind, words } = errand;
  const events = await theSession(here, errand);
  const said = `${kind === 'ask' ? 'Took the second' : 'Done'}, ${words}`;
  expect(only(events, 'run.ended').map(({ payload }) => [payload.status, payload.report.body])).toEqual([['completed', said]]);
  expect(new Set(only(events, 'peer.task').map(({ payload }) => payload.task)).size, words).toBe(1);
  const questions = only(events, 'task.clarify').map(({ payload }) => payload.question);
  expect(questions, words).toEqual(kind === 'ask' ? [expect.stringContaining('Which one')] : []);
  const task = await theSession(there, errand);
  expect(only(task, 'run.ended').map(({ payload }) => payload.status)).toEqual(['completed']);
  expect(only(task, 'approval.answered'), words).toHaveLength(questions.length);
}

async function theSession(folder: string, errand: Errand): Promise<readonly LedgerEvent[]> {
  const runs = await runsOf(folder, errand);
  expect(runs, `${errand.words} is one run in ${folder}`).toHaveLength(1);
  return await sessionOf(folder, runs[0] ?? '');
}
