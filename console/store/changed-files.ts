/** The files that a session has changed, as the runtime saw it: by whom last, and how many lines came and went. */
import type { LedgerEvent } from '../../src/events/envelope.ts';

export interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly changes: number;
  /** The run and the event of the newest change. */
  readonly run: string;
  readonly position: number;
}

export type ChangedFiles = Map<string, ChangedFile>;

export const initialFiles = (): ChangedFiles => new Map();

/** Updates and returns the accumulator it was given; what is inside is replaced, never changed. */
export function foldFiles(files: ChangedFiles, event: LedgerEvent): ChangedFiles {
  if (event.event_type !== 'file.diff') return files;
  const { path, addedLines, removedLines } = event.payload;
  const before = files.get(path);
  return files.set(path, {
    path,
    added: (before?.added ?? 0) + addedLines,
    removed: (before?.removed ?? 0) + removedLines,
    changes: (before?.changes ?? 0) + 1,
    run: event.run_id,
    position: event.position,
  });
}
