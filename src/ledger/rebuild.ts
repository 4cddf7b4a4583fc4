/**
 * Sets right what has drifted from the events (`derived.ts`): one statement per value, for every store, which changes the value
 * only if it is still the wrong one, and a counter by the difference, so that what was appended meanwhile is kept.
 */
import type { DriftedRow } from './port.ts';

export interface Repair {
  /** With `$1`, `$2`, …, as Postgres has them. */
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

const COLUMNS: Readonly<Record<string, string>> = { startedAt: 'started_at', endedAt: 'ended_at' };
const AS_RUNS: ReadonlySet<string> = new Set(['root', 'parent']);

export function repairOf({ table, name, column, found, expected }: DriftedRow): Repair {
  if (table === 'counter') {
    const text = `INSERT INTO counter (name, value) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET value = counter.value + $2`;
    return { text, values: [name, Number(expected) - Number(found)] };
  }
  if (column === 'name') {
    const text = 'DELETE FROM run WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM event WHERE event.run = run.id)';
    return { text, values: [name] };
  }
  const place = COLUMNS[column] ?? column;
  const as = (value: string): string =>
    AS_RUNS.has(column) ? `(SELECT other.id FROM run AS other WHERE other.name = ${value})` : value;
  const seal = 'seal = (SELECT chain FROM event WHERE event.session = session.id AND event.position = $1)';
  const more = column === 'sealed' ? `, ${seal}` : '';
  const text = `UPDATE ${table} SET ${place} = ${as('$1')}${more} WHERE name = $2 AND ${place} IS NOT DISTINCT FROM ${as('$3')}`;
  return { text, values: [expected, name, found] };
}

/** The same with the parameters of SQLite. */
export const forSqlite = ({ text }: Repair): string => text.replaceAll('$', '?');
