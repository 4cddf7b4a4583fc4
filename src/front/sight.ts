/**
 * What somebody who asks from outside may see. Whoever may not see something does not learn that it exists: it is not found, like
 * what is not there.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { createRecentlyUsed } from '../base/recently-used.ts';
import { spawnerOf } from '../events/run-origin.ts';
import { nothingLeft } from '../ledger/pages.ts';
import type { FeedEntry, Ledger, RunRow } from '../ledger/port.ts';

/** The owner of the project sees every run; others see those that they spawned, and what is below them. */
export interface Seer {
  readonly name: string;
  readonly sees: 'everything' | 'own';
}

type Reading = Pick<Ledger, 'runs' | 'read'>;

/** The newest runs without a parent that they may see. */
export async function visibleRuns(ledger: Reading, seer: Seer): Promise<readonly RunRow[]> {
  const rows = await ledger.runs({ roots: true, limit: limits.listedRuns });
  if (seer.sees === 'everything') return rows;
  const visible: RunRow[] = [];
  for (const row of rows) if (await isOwn(ledger, row, seer)) visible.push(row);
  return visible;
}

export async function findVisibleRun(ledger: Reading, seer: Seer, run: string): Promise<RunRow | undefined> {
  const row = await rowOf(ledger, run as RunId);
  if (row === undefined || seer.sees === 'everything') return row;
  let root: RunRow | undefined = row;
  for (let depth = 0; depth <= limits.runDepth && root !== undefined && root.parent !== null; depth += 1)
    root = await rowOf(ledger, root.parent);
  return root !== undefined && root.parent === null && (await isOwn(ledger, root, seer)) ? row : undefined;
}

/** A session is seen whole or not at all: every run that it began with has to be theirs. */
export async function findVisibleSession(ledger: Reading, seer: Seer, text: string): Promise<SessionId | undefined> {
  const session = text as SessionId;
  const roots = await ledger.runs({ session, roots: true, limit: limits.listedRuns });
  if (seer.sees === 'everything') {
    // What is kept for the whole ledger has no runs.
    return roots.length > 0 || (await ledger.read({ session, limit: 1 })).length > 0 ? session : undefined;
  }
  if (roots.length === 0 || roots.length === limits.listedRuns) return undefined;
  for (const root of roots) if (!(await isOwn(ledger, root, seer))) return undefined;
  return session;
}

/**
 * Whether they see what is told of a session, asked again and again: remembered until another run begins in it, which may be
 * somebody else's. `undefined` for whoever sees everything.
 */
export function createSight(
  ledger: Reading,
  seer: Seer,
): ((entry: Pick<FeedEntry, 'session' | 'type'>) => Promise<boolean>) | undefined {
  const known = createRecentlyUsed<SessionId, boolean>(limits.streamSessionsSeen);
  if (seer.sees === 'everything') return undefined;
  return async ({ session, type }) => {
    const before = type === 'run.started' ? undefined : known.get(session);
    const sees = before ?? (await findVisibleSession(ledger, seer, session)) !== undefined;
    known.set(session, sees);
    return sees;
  };
}

async function rowOf(ledger: Reading, run: RunId): Promise<RunRow | undefined> {
  return (await ledger.runs({ run, limit: 1 }))[0];
}

async function isOwn(ledger: Reading, root: RunRow, { name }: Seer): Promise<boolean> {
  const [started] = await ledger
    .read({ session: root.session, run: root.run, types: ['run.started'], limit: 1 })
    .catch(nothingLeft);
  return started?.event_type === 'run.started' && spawnerOf(started.payload)?.by === name;
}
