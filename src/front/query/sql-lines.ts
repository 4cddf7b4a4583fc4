/** What is said to the process that a question is asked in, and what it answers: a JSON value on each line. */
import type { TableCell } from './tables.ts';

export type ToldWorker =
  | {
      readonly kind: 'question';
      readonly sql: string;
      readonly schema: string;
      readonly columns: Readonly<Record<string, readonly string[]>>;
      readonly maxRows: number;
      readonly maxBytes: number;
      readonly memoryBytes: number;
    }
  | { readonly kind: 'rows'; readonly table: string; readonly rows: readonly (readonly TableCell[])[] }
  | { readonly kind: 'go' };

export type SaidByWorker =
  /** Each `table.column` that the question reads; of a table that is only counted the column is empty. */
  | { readonly kind: 'needs'; readonly read: readonly string[] }
  /** It asks for something that is closed, or is no SQL. */
  | { readonly kind: 'refused'; readonly what: string | null; readonly message: string }
  | {
      readonly kind: 'answer';
      readonly columns: readonly string[];
      readonly rows: readonly (readonly TableCell[])[];
      /** There were more rows than these. */
      readonly more: boolean;
      readonly cutBy: 'rows' | 'bytes';
    }
  | { readonly kind: 'failed'; readonly message: string };
