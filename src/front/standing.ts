/** How a run stands, in one word that is the same everywhere, and the command that takes it further. */
import { codeOf } from '../base/errors.ts';
import { type RunId, shortId } from '../base/ids.ts';
import { closedAsImported, closedToWork } from '../engine/imported-sessions.ts';
import type { Engine } from '../engine/port.ts';
import type { Failure } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import type { Wait } from '../projections/waits.ts';
import { afterFailure } from './after-failure.ts';

/** Says of each event, in order, whether it is of this run or of one below it. */
export function belongsTo(run: RunId): (event: LedgerEvent) => boolean {
  const runs = new Set<string>([run]);
  return (event) => {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && runs.has(parent)) runs.add(event.run_id);
    return runs.has(event.run_id);
  };
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

/** The same in a session that came from elsewhere: nothing goes on in it, but what came in a bundle can be forked. */
export async function nextHere(
  ledger: Pick<Ledger, 'read'>,
  { session, run }: Pick<RunRow, 'session' | 'run'>,
  next: string | undefined,
): Promise<string | undefined> {
  if (next === undefined || next.startsWith('troupe show')) return next;
  try {
    if ((await closedToWork(ledger, session)) === undefined) return next;
    return (await closedAsImported(ledger, session)) === undefined ? `troupe fork ${shortId(run)}` : undefined;
  } catch (error) {
    // Of what is damaged that is told elsewhere.
    if (codeOf(error) === 'ledger_corrupt') return next;
    throw error;
  }
}
