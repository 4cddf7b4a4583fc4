/** Reports of work that does not fit together, newest first, from what the runtime recorded when it put the work together. */
import type { EventOf, LedgerEvent } from '../../../src/events/envelope.ts';

export interface ConflictSide {
  readonly name: string;
  readonly text: string;
}

export interface Conflict {
  readonly path: string;
  readonly tasks: readonly string[];
  readonly why: string | undefined;
  readonly hunks: readonly { readonly line: number; readonly sides: readonly ConflictSide[] }[];
}

export interface ConflictReport {
  readonly position: number;
  readonly title: string;
  readonly conflicts: readonly Conflict[];
}

type Merged = EventOf<'task.merged'>;

export function conflictReports(events: readonly LedgerEvent[]): readonly ConflictReport[] {
  return events
    .filter((event): event is Merged => event.event_type === 'task.merged' && event.payload.conflicts.length > 0)
    .map(({ position, payload }) => ({
      position,
      title: payload.tasks.join(', '),
      conflicts: payload.conflicts.map(shownConflict),
    }))
    .toReversed();
}

/** The last of the tasks is left out, and the others are those that it stands against. */
function shownConflict({ path, tasks, why, hunks = [] }: Merged['payload']['conflicts'][number]): Conflict {
  const [left = '', against = ''] = [tasks.at(-1), tasks.slice(0, -1).join(', ')];
  const shown = hunks.map(({ line, base, ours, theirs }) => ({
    line,
    sides: [
      { name: against, text: ours },
      { name: 'before both', text: base },
      { name: left, text: theirs },
    ],
  }));
  return { path, tasks, why, hunks: shown };
}
