/** The files that a session has changed, as the runtime saw it: by whom last, and how many lines came and went. */
import type { EventOf, LedgerEvent } from '../../src/events/envelope.ts';

export interface FileChange {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly changes: number;
}

export interface ChangedFile extends FileChange {
  /** The run and the event of the newest change. */
  readonly run: string;
  readonly position: number;
}

export type ChangedFiles = Map<string, ChangedFile>;

export const initialFiles = (): ChangedFiles => new Map();

/** Updates and returns the accumulator it was given; what is inside is replaced, never changed. */
export function foldFiles(files: ChangedFiles, event: LedgerEvent): ChangedFiles {
  if (event.event_type !== 'file.diff') return files;
  const { path } = event.payload;
  return files.set(path, { ...changedBy(files.get(path), event), run: event.run_id, position: event.position });
}

/** What each run changed, in the order in which they began to. */
export function changesByRun(events: readonly LedgerEvent[]): ReadonlyMap<string, readonly FileChange[]> {
  const runs = new Map<string, Map<string, FileChange>>();
  for (const event of events) {
    if (event.event_type !== 'file.diff') continue;
    const files = runs.get(event.run_id) ?? new Map<string, FileChange>();
    const { path } = event.payload;
    runs.set(event.run_id, files.set(path, changedBy(files.get(path), event)));
  }
  return new Map([...runs].map(([run, files]) => [run, [...files.values()]]));
}

function changedBy(before: FileChange | undefined, { payload }: EventOf<'file.diff'>): FileChange {
  return {
    path: payload.path,
    added: (before?.added ?? 0) + payload.addedLines,
    removed: (before?.removed ?? 0) + payload.removedLines,
    changes: (before?.changes ?? 0) + 1,
  };
}
