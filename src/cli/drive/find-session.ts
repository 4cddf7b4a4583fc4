/** Finds the session that a person goes on in: the one that is named, or the newest conversation of their own. */
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import { groupOfSession } from '../../projections/groups.ts';
import { usageError } from '../terminal/command.ts';
import { findRun } from './find-run.ts';

export const NO_CONVERSATION = 'There is no conversation to go on with';
const START = 'start one: troupe run <agent> "…"';

/** A session by its own id or by any of its runs; gives its newest root run. */
export async function findSession(ledger: Ledger, text: string): Promise<RunRow> {
  const found = await findRun(ledger, text);
  const organisation = await readOrganisation(ledger);
  const group = groupOfSession(organisation, found.session);
  if (group === undefined) return (await ledger.runs({ session: found.session, roots: true, limit: 1 }))[0] ?? found;
  if (!organisation.groups.has(group.group))
    throw usageError(
      `The group ${group.name} of this session was deleted; it is closed for good`,
      'begin a new session: leave --session out',
    );
  throw usageError(`This session belongs to the group ${group.name}`, `talk to it: troupe groups send "${group.name}" "…"`);
}

export interface LatestConversation {
  readonly newest: RunRow;
  /** The unfinished run of a newer one. */
  readonly passedOver: RunRow | undefined;
}

/** The newest root run of the newest session that a person talks in, is no group's and has nothing unfinished. */
export async function latestConversation(ledger: Ledger): Promise<LatestConversation> {
  let unfinished: RunRow | undefined;
  for await (const [newest, rows] of conversations(ledger)) {
    const open = rows.find(({ endedAt }) => endedAt === null);
    if (open === undefined) return { newest, passedOver: unfinished };
    unfinished ??= open;
  }
  if (unfinished === undefined) throw usageError(NO_CONVERSATION, START);
  const short = shortId(unfinished.run);
  throw usageError(
    `Every conversation here has an unfinished run, the newest of them ${short}`,
    `finish it: troupe resume ${short}, or end it: troupe cancel ${short}`,
  );
}

/** Each session that a person talks in and is no group's, newest first: its newest root run, and all of them. */
export async function* conversations(ledger: Ledger): AsyncGenerator<readonly [newest: RunRow, roots: readonly RunRow[]]> {
  const organisation = await readOrganisation(ledger);
  const roots = await ledger.runs({ roots: true, limit: limits.runLookup });
  for (const [session, rows] of Map.groupBy(roots, (row) => row.session)) {
    const [newest] = rows;
    if (newest === undefined || groupOfSession(organisation, session) !== undefined) continue;
    if (await isByPerson(ledger, newest)) yield [newest, rows];
  }
}

/** What clients outside have spawned is theirs to talk to. */
async function isByPerson(ledger: Ledger, { session, run }: RunRow): Promise<boolean> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  return started?.event_type === 'run.started' && started.payload.origin.kind === 'person';
}
