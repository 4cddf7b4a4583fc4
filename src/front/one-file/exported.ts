/** A run or a whole session as one document: what can be asked for, on the command line and over the API alike. */
import type { Ledger, RunRow } from '../../ledger/port.ts';

export const exportFormats = ['markdown', 'html', 'print', 'jsonl', 'atif'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** What is exported: a whole session, or one run of it with those below. */
export interface Extent {
  readonly row: RunRow;
  readonly whole: boolean;
}

/** The document in parts, none larger than a page of the ledger. */
export type ExportPieces = (ledger: Ledger, extent: Extent, format: ExportFormat, now: number) => AsyncIterable<string>;
