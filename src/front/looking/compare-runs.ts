/** Two runs of the ledger held against each other: both are read page by page, and only what is compared of them is kept. */
import { createHash } from 'node:crypto';
import { codeOf, messageOf } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import { type Failure, isEventType } from '../../events/catalogue.ts';
import { type LedgerEvent, SCHEMA_VERSION } from '../../events/envelope.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { type ComparedPlays, comparePlays, differencesIn } from '../../projections/comparing/compared.ts';
import { callsMade, createPlayed, type Played } from '../../projections/comparing/played.ts';
import { shownTokens } from '../summary.ts';

type Reading = Pick<Ledger, 'read' | 'runs'>;

export interface CompareOptions {
  /** Words of agents count too. */
  readonly prose: boolean;
  readonly now: number;
}

/** What programs get of it; its schema is `comparedRuns` of `shapes/comparing.ts`. */
export type RunsCompared = ReturnType<typeof comparedValue>;

export async function compareRows(
  ledger: Reading,
  a: RunRow,
  b: RunRow,
  { prose, now }: CompareOptions,
): Promise<Result<RunsCompared, Failure>> {
  const one = await readPlayed(ledger, a);
  if (!one.ok) return one;
  const other = await readPlayed(ledger, b);
  if (!other.ok) return other;
  const plays = comparePlays(one.value, other.value, prose);
  return ok(comparedValue(plays, [a, one.value], [b, other.value], { prose, now }));
}

async function readPlayed(ledger: Reading, row: RunRow): Promise<Result<Played, Failure>> {
  const { run, session } = row;
  try {
    const root = await rootOf(ledger, row);
    const [first] = await ledger.read({ session, types: ['session.started'], limit: 1 });
    const workspace = first?.event_type === 'session.started' ? first.payload.workspace : undefined;
    const { played, fold } = createPlayed(run, sha256, workspace);
    let read = 0;
    for await (const page of readPages(ledger, { session, root: root.run })) {
      read += page.length;
      if (read > limits.comparedEvents) return fail(tooLong(row));
      const newer = page.find(isNewer);
      if (newer !== undefined) return fail(ofNewer(row, newer));
      for (const event of page) fold(event);
    }
    return played.runs.has(run) ? ok(played) : fail(unreadable(row, 'its events are gone'));
  } catch (error) {
    return fail(unreadable(row, messageOf(error), codeOf(error)));
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');

const isNewer = (event: LedgerEvent): boolean => event.schema_version > SCHEMA_VERSION || !isEventType(event.event_type);

const tooLong = ({ run }: RunRow): Failure => ({
  code: 'too_long',
  message: `Run ${shortId(run)} has more than ${limits.comparedEvents} events (comparedEvents): it is too long to be compared.`,
  fix: 'Compare runs below it, one by one: troupe show names them.',
});

const ofNewer = ({ run }: RunRow, { event_id: id, event_type: type }: LedgerEvent): Failure => ({
  code: 'newer_version',
  message: `Event ${id} of run ${shortId(run)} (${type.slice(0, 100)}) was written by a newer version of Troupe.`,
  fix: 'Compare the runs with that version.',
});

const unreadable = ({ run }: RunRow, why: string, code = 'unreadable'): Failure => ({
  code,
  message: `What is recorded of run ${shortId(run)} cannot be read: ${why}`,
  fix: 'troupe ledger verify names what is broken. What was collected is gone: such a run cannot be compared any more.',
});

function comparedValue(
  plays: ComparedPlays,
  [rowA, a]: readonly [RunRow, Played],
  [rowB, b]: readonly [RunRow, Played],
  { prose, now }: CompareOptions,
) {
  const { files, counts, terms, sameAnswer } = plays;
  const sides = { a: sideOf(rowA, a, now), b: sideOf(rowB, b, now) };
  const amount = (how: string): number => files.filter((file) => file.how === how).length;
  const inFiles = { same: amount('same'), different: amount('different'), onlyA: amount('only_a'), onlyB: amount('only_b') };
  const others = files.filter(({ how }) => how !== 'same');
  const sameOutcome = sides.a.status === sides.b.status && sides.a.verification === sides.b.verification;
  return {
    same: differencesIn(counts) + terms.length + others.length === 0 && sameOutcome,
    ...sides,
    ...{ prose, terms, first: plays.first, counts, steps: plays.steps, left: plays.left, byStep: plays.byStep, sameAnswer },
    files: { ...inFiles, changed: others.slice(0, limits.comparedFiles) },
  };
}

function sideOf(row: RunRow, played: Played, now: number) {
  const { state, verification, error, spent, taken, turns, runs, forked, from, until, events } = played;
  const ended = state !== 'running';
  return {
    ...{ run: row.run, session: row.session, agent: row.agent, status: ended ? state : row.state, ended },
    verification: verification?.state ?? null,
    ...{ error, turns, toolCalls: callsMade(played), runs: runs.size, tokens: shownTokens(spent) },
    cost: { nanoUsd: spent.nanoUsd, unknownCalls: spent.unknownCalls, takenOver: taken.nanoUsd },
    durationMs: Math.max(0, (ended ? until : now) - from),
    ...{ events, forked },
  };
}
