/** Finds the run that a person means: a whole id, its beginning or end, a session, or `last`. */
import { TroupeError } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Engine } from '../../engine/port.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { Wait } from '../../projections/waits.ts';
import { afterFailure } from '../view/after-failure.ts';

const CHARACTERS_MIN = 4;

export async function findRun(ledger: Ledger, text: string): Promise<RunRow> {
  const rows = await ledger.runs({ limit: limits.runLookup });
  const found = matchRuns(rows, text);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length > 1) {
    const some = found.slice(0, 5).map((row) => `${row.run} (${row.agent})`);
    throw new TroupeError('usage', `"${text}" is the beginning or end of ${found.length} runs: ${some.join(', ')}`, {
      fix: 'give more characters of the id',
    });
  }
  if (rows.length === 0) {
    throw new TroupeError('unknown_run', 'There are no runs in this ledger yet', { fix: 'start one: troupe run <agent> "…"' });
  }
  if (text !== 'last' && text.length < CHARACTERS_MIN) {
    throw new TroupeError('usage', `"${text}" is too short for a run id`, {
      fix: `give at least ${CHARACTERS_MIN} characters, or: last`,
    });
  }
  throw new TroupeError('unknown_run', `There is no run "${text}" in this ledger`, { fix: 'see what there is: troupe ps --all' });
}

/** Newest first in, matches out. An exact id wins over any part of one. */
export function matchRuns(rows: readonly RunRow[], text: string): readonly RunRow[] {
  if (text === 'last') return rows.filter((row) => row.parent === null).slice(0, 1);
  if (text.length < CHARACTERS_MIN) return [];
  const exact = rows.filter((row) => row.run === text);
  if (exact.length > 0) return exact;
  const inSession = rows.filter((row) => row.session === text && row.parent === null);
  if (inSession.length > 0) return inSession.slice(0, 1);
  const bare = text.startsWith('run_') ? text.slice('run_'.length) : text;
  if (bare.length < CHARACTERS_MIN) return [];
  const part = rows.filter((row) => row.run.startsWith(`run_${bare}`) || row.run.endsWith(text));
  return part.length > 0 ? part : newestOfSessions(rows, text);
}

/** Whether the text names this very run, and not the session that it is the newest of. */
export function isNamedBy({ run }: RunRow, text: string): boolean {
  return text === 'last' || run.startsWith(text) || run.startsWith(`run_${text}`) || run.endsWith(text);
}

/** Says of each event, in order, whether it is of this run or of one below it. */
export function belongsTo(run: RunId): (event: LedgerEvent) => boolean {
  const runs = new Set<string>([run]);
  return (event) => {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && runs.has(parent)) runs.add(event.run_id);
    return runs.has(event.run_id);
  };
}

/** A session by a part of its id stands for its newest run. */
function newestOfSessions(rows: readonly RunRow[], text: string): readonly RunRow[] {
  const roots = rows.filter(({ session, parent }) => parent === null && (session.endsWith(text) || session.startsWith(text)));
  return [...new Map(roots.toReversed().map((row) => [row.session, row])).values()];
}

/** A run marked as running that no live process owns: it was cut off and can be resumed. */
export function stateOf(row: Pick<RunRow, 'state' | 'owner' | 'parent'>): RunRow['state'] | 'interrupted' {
  return row.state === 'running' && row.owner === null && row.parent === null ? 'interrupted' : row.state;
}

/** The same, where it is known what its tree asks: a root stands still for the sake of whoever asks below it. */
export function standingOf(row: RunRow, asked: readonly unknown[]): ReturnType<typeof stateOf> {
  const state = stateOf(row);
  return state === 'interrupted' && asked.length > 0 ? 'waiting' : state;
}

/**
 * The same for any run of a tree that nobody drives: it stands still for the sake of whoever asks in it or below it. One below
 * which nobody asks was cut off, or is paused or parked with its root.
 */
export function standingBelow(
  root: Pick<RunRow, 'run' | 'state' | 'owner' | 'parent'>,
  { run, state }: Pick<RunRow, 'run' | 'state'>,
  asks: boolean,
): ReturnType<typeof stateOf> {
  const own = run === root.run ? root.state : state;
  if (own !== 'running' || root.owner !== null) return own;
  if (asks) return 'waiting';
  return root.state === 'waiting' ? 'interrupted' : stateOf(root);
}

/** The word for a root run in every list, and the command that takes it further: both from what its tree asks now. */
export async function standingNext(engine: Pick<Engine, 'waits'>, row: RunRow): Promise<StandingNext> {
  const known = stateOf(row);
  if (known !== 'interrupted' && known !== 'waiting') return { state: known, next: nextCommand(row) };
  const waits = await engine.waits(row.run);
  const state = standingOf(row, waits);
  const asking = waits.find(({ run }) => run === row.run)?.run ?? waits[0]?.run;
  if (state !== 'waiting' || asking === undefined) return { state, next: nextCommand(row) };
  const asked = waits.filter(({ run }) => run === asking).map((wait) => ({ missing: 0, ...wait }));
  return { state, next: nextCommand({ ...row, run: asking, state }, asked) };
}

export interface StandingNext {
  readonly state: ReturnType<typeof stateOf>;
  readonly next: string | undefined;
}

/** `waits` is what it waits for, where that is known. `show` says it where one command could not answer it. */
export function nextCommand(
  row: Pick<RunRow, 'run' | 'state' | 'owner' | 'parent'>,
  waits: readonly Pick<Wait, 'kind' | 'missing'>[] = [],
  error: Failure | null = null,
): string | undefined {
  const state = stateOf(row);
  const id = shortId(row.run);
  if (state === 'waiting') {
    const [wait, ...others] = waits;
    if (wait === undefined || others.length > 0 || wait.missing > 0) return `troupe show ${id}`;
    return wait.kind === 'permission' ? `troupe approve ${id}` : `troupe answer ${id} "…"`;
  }
  if (row.parent === null && (state === 'failed' || state === 'budget_exhausted'))
    return `troupe ${afterFailure(id, state, error) ?? `show ${id}`}`;
  return state === 'interrupted' || state === 'paused' || state === 'parked' ? `troupe resume ${id}` : undefined;
}
