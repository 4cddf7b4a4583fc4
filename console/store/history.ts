/**
 * The events of one session in their order, the line of each, and the fold of all of them; and the fold as it was at any of them,
 * from the copy before it. Knows nothing of streams and pages.
 */
import type { RunId } from '../../src/base/ids.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { type Level, type TimelineLine, timelineLine } from '../../src/projections/timeline.ts';
import { copyFold, foldEvent, initialFold, type SessionFold } from './session-fold.ts';

export interface History {
  readonly events: readonly LedgerEvent[];
  readonly lines: readonly TimelineLine[];
  /** Of everything so far; changes with each event. */
  readonly fold: SessionFold;
  /** Positions whose payload could not be had: they have a line, and count in no figure. */
  readonly unreadable: ReadonlySet<number>;
  add(event: LedgerEvent): void;
  /** An event without its payload. */
  addUnreadable(event: LedgerEvent, why: string, level?: Level): void;
  /** As it was when `count` events were there. */
  at(count: number): SessionFold;
}

export const SNAPSHOT_EVENTS = 5_000;

export function createHistory(every = SNAPSHOT_EVENTS): History {
  const events: LedgerEvent[] = [];
  const lines: TimelineLine[] = [];
  const agents = new Map<RunId, string>();
  const unreadable = new Set<number>();
  const fold = initialFold();
  /** The fold of `every` events, of twice as many, and so on. */
  const snapshots: SessionFold[] = [];
  let latest: { readonly count: number; readonly fold: SessionFold } | undefined;
  const keep = (event: LedgerEvent, line: TimelineLine): void => {
    events.push(event);
    lines.push(line);
    if (events.length % every === 0) snapshots.push(copyFold(fold));
  };
  const from = (count: number): { readonly done: number; readonly fold: SessionFold } => {
    const index = Math.min(Math.floor(count / every), snapshots.length);
    const snapshot = snapshots[index - 1];
    // What was asked for last may be nearer: somebody drags forward.
    if (latest !== undefined && latest.count <= count && latest.count >= index * every)
      return { done: latest.count, fold: latest.fold };
    return { done: snapshot === undefined ? 0 : index * every, fold: snapshot ?? initialFold() };
  };
  return {
    events,
    lines,
    fold,
    unreadable,
    add(event) {
      foldEvent(fold, event);
      keep(event, timelineLine(agents, event));
    },
    addUnreadable(event, why, level = 'warn') {
      unreadable.add(event.position);
      const { position, timestamp: time, run_id: run, event_type } = event;
      const text = `${event_type}: what it holds could not be had: ${why}`;
      keep(event, { position, time, run, agent: agents.get(run) ?? '-', text, level });
    },
    at(count) {
      if (count >= events.length) return fold;
      if (latest?.count === count) return latest.fold;
      const start = from(count);
      const made = copyFold(start.fold);
      for (let index = start.done; index < count; index += 1) {
        const event = events[index];
        if (event !== undefined && !unreadable.has(event.position)) foldEvent(made, event);
      }
      latest = { count, fold: made };
      return made;
    },
  };
}
