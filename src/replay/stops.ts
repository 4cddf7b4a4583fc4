/**
 * What stopped runs from outside of their record's answers: that somebody cancelled them, and that their time was over. When it
 * came is known only by what had been done by then. So it comes when nothing else can be done any more, in the order in which it
 * is recorded; and who would do something that is not recorded waits for it.
 */
import type { RunId } from '../base/ids.ts';
import { wallTimeText } from '../engine/run/drive-run.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import type { RunRecord } from './record.ts';

export interface Stops {
  /** The next of them comes. False when there was none, and nobody who waited for one. */
  next(): boolean;
  whenLate(run: RunId, over: () => void): () => void;
  due(run: RunId, signal: AbortSignal): Promise<void>;
}

interface Stop {
  readonly position: number;
  come(): void;
}

/** What somebody said to end a run. */
export const isCancel = (event: LedgerEvent): event is EventOf<'run.signalled'> =>
  event.event_type === 'run.signalled' && event.payload.signal === 'cancel';

/** `cancel` has the engine hear it; `nextOf` says where the record has what a run comes to next. */
export function createStops(
  { standing }: RunRecord,
  cancel: (event: LedgerEvent) => void,
  nextOf: (run: RunId) => number,
): Stops {
  const cancels = standing.filter(isCancel).map((event): Stop => ({ position: event.position, come: () => cancel(event) }));
  const pending = new Map<string, Stop>(cancels.map((stop) => [String(stop.position), stop]));
  const late = lateIn(standing);
  const waiting = new Set<() => void>();
  const firstOf = (): readonly [string, Stop] | undefined =>
    [...pending].toSorted(([, one], [, other]) => one.position - other.position)[0];
  return {
    next() {
      const first = firstOf();
      if (first !== undefined) {
        pending.delete(first[0]);
        first[1].come();
      }
      const waited = [...waiting];
      waiting.clear();
      for (const goOn of waited) goOn();
      return first !== undefined || waited.length > 0;
    },
    whenLate(run, over) {
      const position = late.get(run);
      if (position !== undefined) pending.set(run, { position, come: over });
      return () => void pending.delete(run);
    },
    async due(run, signal) {
      const isNext = (): boolean => (firstOf()?.[1].position ?? Number.POSITIVE_INFINITY) < nextOf(run);
      while (!signal.aborted && isNext())
        await new Promise<void>((resolve) => {
          waiting.add(resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
    },
  };
}

/** Runs whose own time was over, with where that shows first: what was stopped by it says so in the same words. */
function lateIn(standing: readonly LedgerEvent[]): ReadonlyMap<RunId, number> {
  const words = new Map<RunId, string>();
  for (const event of standing) {
    if (event.event_type !== 'run.started' || event.payload.budget?.wallMs === undefined) continue;
    words.set(event.run_id, wallTimeText(event.payload.budget.wallMs, event.payload.timeLimit).replace(/\.$/, ''));
  }
  const late = new Map<RunId, number>();
  for (const [run, said] of words) {
    const isSaid = (event: LedgerEvent): boolean => errorIn(event)?.startsWith(said) === true;
    if (!standing.some((event) => event.event_type === 'run.ended' && event.run_id === run && isSaid(event))) continue;
    const below = new Set([run, ...runsBelow(standing, run)]);
    const shown = standing.find((event) => below.has(event.run_id) && isSaid(event))?.position ?? 0;
    // It was over just before that.
    late.set(run, shown - 0.5);
  }
  return late;
}

function errorIn(event: LedgerEvent): string | undefined {
  return event.event_type === 'run.ended' || event.event_type === 'model.failed' ? event.payload.error?.message : undefined;
}

function runsBelow(standing: readonly LedgerEvent[], run: RunId): RunId[] {
  const below: RunId[] = [run];
  for (const event of standing)
    if (event.event_type === 'run.started' && below.includes(parentRun(event.payload) as RunId)) below.push(event.run_id);
  return below.slice(1);
}
