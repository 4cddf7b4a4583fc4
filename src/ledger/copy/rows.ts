/** Rows as they are copied; both stores select them under these names. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import type { CopiedRun, CopiedSession } from './store.ts';

const HOLD = ['session', 'held_at', 'held_by', 'reason', 'released_at', 'released_by'] as const;
const FORGOTTEN = ['session', 'position', 'up_to', 'gone_at', 'gone_by', 'stand_in', 'finished'] as const;

/** `place` writes the number of a value as the store has it. */
export const keepingStatements = (place: (number: number) => string) => {
  const places = (columns: readonly string[]): string => columns.map((_, index) => place(index + 1)).join(', ');
  return {
    holds: `SELECT ${HOLD.join(', ')} FROM hold WHERE session = ${place(1)}`,
    forgotten: `SELECT ${FORGOTTEN.join(', ')} FROM forgotten WHERE session = ${place(1)}`,
    dropHold: `DELETE FROM hold WHERE session = ${place(1)} AND held_at = ${place(2)} AND held_by = ${place(3)}`,
    addHold: `INSERT INTO hold (${HOLD.join(', ')}) VALUES (${places(HOLD)})`,
    addForgotten: `INSERT INTO forgotten (${FORGOTTEN.join(', ')}) VALUES (${places(FORGOTTEN)}) ON CONFLICT DO NOTHING`,
  };
};

export const valuesOf = (row: Row) => {
  const value = (column: string): string | number | null => {
    const found = row[column];
    return typeof found === 'string' || typeof found === 'number' ? found : null;
  };
  return { hold: HOLD.map(value), forgotten: FORGOTTEN.map(value), identity: HOLD.slice(0, 3).map(value) };
};

export function copiedSession(row: Row): CopiedSession {
  return {
    session: text(row, 'name') as SessionId,
    head: integer(row, 'head'),
    chain: hex(bytes(row, 'chain')),
    sealed: integer(row, 'sealed'),
    seal: hex(bytes(row, 'seal')),
    inbound: integer(row, 'inbound'),
    collected: integer(row, 'collected'),
    pinned: row['pinned'] === true || row['pinned'] === 1,
  };
}

export function copiedRun(row: Row): CopiedRun {
  return {
    run: text(row, 'name') as RunId,
    root: text(row, 'root') as RunId,
    first: integer(row, 'first'),
    parent: textOrNull(row, 'parent') as RunId | null,
    agent: textOrNull(row, 'agent'),
    role: textOrNull(row, 'role'),
    state: textOrNull(row, 'state'),
    startedAt: integerOrNull(row, 'started_at'),
    endedAt: integerOrNull(row, 'ended_at'),
  };
}
