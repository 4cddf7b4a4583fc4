/**
 * Sets right what has drifted from the events (`derived.ts`): one statement per value, for every store, which changes the value
 * only if it is still the wrong one, and a counter by the difference, so that what was appended meanwhile is kept. A difference
 * is right once: whoever finds that somebody else was quicker looks again.
 */
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { DriftedRow, VerifyReport } from '../port.ts';

export interface Repair {
  /** With `$1`, `$2`, …, as Postgres has them. */
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

const COLUMNS: Readonly<Record<string, string>> = { startedAt: 'started_at', endedAt: 'ended_at' };
const AS_RUNS: ReadonlySet<string> = new Set(['root', 'parent']);

/** Counts how often a ledger was set right. */
const REBUILDS = 'rebuilds';

export interface Rebuild {
  /** Puts a session into the order of all anew, behind those that are there: who follows sees it again, and misses nothing. */
  fedAgain(session: string): readonly Repair[];
  counter(name: string): Promise<number>;
  verify(): Promise<VerifyReport>;
  /** Makes all changes in one transaction, or none when `take` changes nothing, and says which. */
  apply(turn: readonly [ensure: Repair, take: Repair], repairs: readonly Repair[]): Promise<boolean>;
}

/** Gives what was found. */
export async function setRight(store: Rebuild): Promise<VerifyReport> {
  for (let attempt = 0; attempt < limits.rebuildAttempts; attempt += 1) {
    const before = await store.counter(REBUILDS);
    const found = await store.verify();
    if (
      found.kind !== 'drifted' ||
      (await store.apply(
        turnAfter(before),
        found.rows.flatMap((row) => (row.table === 'feed' ? store.fedAgain(row.name) : [repairOf(row)])),
      ))
    )
      return found;
  }
  throw new TroupeError('ledger_busy', `The ledger was set right by others ${limits.rebuildAttempts} times meanwhile`, {
    fix: 'Run troupe ledger verify; when it still finds something, run troupe ledger rebuild again.',
  });
}

/** The second changes and returns nothing when somebody else has had a turn since. */
function turnAfter(before: number): readonly [Repair, Repair] {
  const ensure = 'INSERT INTO counter (name, value) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING';
  const take = 'UPDATE counter SET value = value + 1 WHERE name = $1 AND value = $2 RETURNING value';
  return [
    { text: ensure, values: [REBUILDS] },
    { text: take, values: [REBUILDS, before] },
  ];
}

function repairOf({ table, name, column, found, expected }: DriftedRow): Repair {
  if (table === 'counter') {
    const text = `INSERT INTO counter (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = counter.value + $2`;
    return { text, values: [name, Number(expected) - Number(found)] };
  }
  if (column === 'name') {
    const text = 'DELETE FROM run WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM event WHERE event.run = run.id)';
    return { text, values: [name] };
  }
  if (table === 'run' && column === 'session') {
    const text = 'UPDATE run SET session = (SELECT session.id FROM session WHERE session.name = $1) WHERE name = $2';
    return { text, values: [expected, name] };
  }
  const place = COLUMNS[column] ?? column;
  const as = (value: string): string =>
    AS_RUNS.has(column) ? `(SELECT other.id FROM run AS other WHERE other.name = ${value})` : value;
  const seal = 'seal = (SELECT chain FROM event WHERE event.session = session.id AND event.position = $1)';
  const more = column === 'sealed' ? `, ${seal}` : '';
  const text = `UPDATE ${table} SET ${place} = ${as('$1')}${more} WHERE name = $2 AND ${place} IS NOT DISTINCT FROM ${as('$3')}`;
  return { text, values: [expected, name, found] };
}

/** `columns` and `values` are what a store keeps beside the session and the position. */
export function feedRepairs(session: string, columns = '', values = ''): readonly Repair[] {
  const ofSession = 'session = (SELECT session.id FROM session WHERE session.name = $1)';
  return [
    { text: `DELETE FROM feed WHERE ${ofSession}`, values: [session] },
    {
      text: `INSERT INTO feed (${columns}session, position)
        SELECT ${values}session, position FROM event WHERE ${ofSession} ORDER BY position`,
      values: [session],
    },
  ];
}

/** The same with the parameters of SQLite. */
export const forSqlite = ({ text }: Repair): string => text.replaceAll('$', '?');
