/**
 * What stopped runs from outside of their record's answers: that somebody cancelled them, and that their time was over. When it
 * came is known only by what had been done by then. So it comes when nothing else can be done any more, in the order in which it
 * is recorded; and who would do something that is not recorded waits for it.
 */
import type { RunId } from '../base/ids.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { PlacesToCome } from './places-to-come.ts';
import type { RunRecord } from './record.ts';

export interface Stops {
  /** The next of them comes. False when there was none, and nobody who waited for one. */
  next(): boolean;
  whenLate(run: RunId, over: () => void): () => void;
  due(run: RunId, signal: AbortSignal): Promise<void> | undefined;
}

interface Stop {
  readonly position: number;
  come(): void;
}

/** What somebody said to end a run. */
export const isCancel = (event: LedgerEvent): event is EventOf<'run.signalled'> =>
  event.event_type === 'run.signalled' && event.payload.signal === 'cancel';

/** `cancel` has the engine hear it. */
export function createStops({ standing, late }: RunRecord, cancel: (event: LedgerEvent) => void, places: PlacesToCome): Stops {
  const cancels = standing.filter(isCancel).map((event): Stop => ({ position: event.position, come: () => cancel(event) }));
  const pending = new Map<string, Stop>(cancels.map((stop) => [String(stop.position), stop]));
  const waiting = new Set<() => void>();
  let isOver = false;
  const firstOf = (): readonly [string, Stop] | undefined =>
    [...pending].toSorted(([, one], [, other]) => one.position - other.position)[0];
  const untilPast = async (isHeld: () => boolean, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && isHeld())
      await new Promise<void>((resolve) => {
        waiting.add(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
  };
  return {
    next() {
      const first = firstOf();
      if (first !== undefined) {
        pending.delete(first[0]);
        first[1].come();
      }
      isOver = first === undefined;
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
    due(run, signal) {
      const isNext = (): boolean => {
        const first = firstOf();
        return first !== undefined && first[1].position < places.nextOf(run);
      };
      // That somebody above stops it is no event. When nothing can be done any more, it was something else.
      const isHeld = (): boolean => isNext() || (!isOver && places.isToBeStopped(run));
      return signal.aborted || !isHeld() ? undefined : untilPast(isHeld, signal);
    },
  };
}
