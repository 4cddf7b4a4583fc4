/** A session as it is now, or as it was when some event was the newest. */
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { isFile } from '../../api/kept.ts';
import type { SessionView } from '../../store/session.ts';
import type { SessionFold } from '../../store/session-fold.ts';

export interface Moment {
  readonly isNow: boolean;
  /** How many events there are. */
  readonly count: number;
  readonly fold: SessionFold;
  /** What time it is there; `undefined` now, where that goes on. */
  readonly time: number | undefined;
  /** The run that the newest prompt began. */
  readonly root: RunNode | undefined;
}

export function momentOf({ history, count }: SessionView, at: number | undefined): Moment {
  const isNow = at === undefined || at >= count;
  const there = isNow ? count : Math.max(1, at);
  const fold = history.at(there);
  const newest = fold.tree.roots.at(-1);
  return {
    ...{ isNow, count: there, fold, root: newest === undefined ? undefined : fold.tree.runs.get(newest) },
    // In a file time stands still where it ends.
    time: isNow && !isFile() ? undefined : Date.parse(history.events[there - 1]?.timestamp ?? ''),
  };
}
