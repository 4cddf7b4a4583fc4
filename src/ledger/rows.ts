/** Rows of a database as typed values. A column of another kind than expected means that the ledger is damaged. */
import { TroupeError } from '../base/errors.ts';

export type Row = Readonly<Record<string, unknown>>;

export function integer(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : damaged(column, 'a number');
}

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : damaged(column, 'text');
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : damaged(column, 'bytes');
}

export const integerOrNull = (row: Row, column: string): number | null => (row[column] === null ? null : integer(row, column));

export const textOrNull = (row: Row, column: string): string | null => (row[column] === null ? null : text(row, column));

export function hex(blob: Uint8Array): string {
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength).toString('hex');
}

function damaged(column: string, expected: string): never {
  throw new TroupeError('ledger_corrupt', `The ledger is damaged: column ${column} does not hold ${expected}`, {
    fix: 'Run `troupe ledger verify` to see the first bad event, and restore the ledger from a backup.',
  });
}
