/** What programs get of a question in SQL; its schema is `queried` of `shapes/questions.ts`. */
import type { QueriedRows } from './ask.ts';
import type { TableCell } from './tables.ts';

export const queriedValue = ({ columns, rows, ...rest }: QueriedRows) => {
  const names = distinctColumns(columns);
  return { ...rest, columns: [...names], rows: rows.map((row) => byName(names, row)) };
};

/** A name that comes again is told apart. */
export function distinctColumns(columns: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return columns.map((name) => {
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name}:${times}`;
  });
}

const byName = (columns: readonly string[], row: readonly TableCell[]): Record<string, TableCell> =>
  Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null]));
