/**
 * Where the record has what a run, or one below it, comes to next: whoever stopped it before that is let come first, and whoever
 * stopped it behind that is not.
 */
import type { RunId } from '../base/ids.ts';
import type { EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { RunRecord } from './record.ts';

/** What is recorded of a turn that was being asked, whether it came to a request or not. */
const ATTEMPTED: ReadonlySet<EventType> = new Set<EventType>(['model.failed', 'budget.reserved', 'peer.sent']);
/** What is written when a run is stopped, and with its end. */
const OF_THE_END: ReadonlySet<EventType> = new Set<EventType>([
  ...(['run.signalled', 'task.error', 'evidence.checked', 'artifact.manifest', 'agent.dismissed', 'run.ended'] as const),
]);

interface Place {
  readonly run: RunId;
  readonly position: number;
  /** Where it is one of a turn. */
  readonly turn?: string;
}

export interface PlacesToCome {
  /** Where the record has what this run, or one below it, comes to next; beyond all of it where there is nothing more. */
  nextOf(run: RunId): number;
  /** Nothing is left of it but that it is cancelled: whoever does that, the run does nothing more until then. */
  isToBeStopped(run: RunId): boolean;
}

/** `toMeet`: what has to come about; `met`: what has; `turns`: those that were asked for once more, each with its run. */
export function placesToCome(
  { rows, standing }: RunRecord,
  toMeet: readonly LedgerEvent[],
  met: ReadonlySet<number>,
  turns: ReadonlySet<string>,
): PlacesToCome {
  const all: readonly Place[] = [
    ...toMeet.map(({ run_id: run, position }) => ({ run, position })),
    ...standing.flatMap(({ run_id: run, position, event_type: type, step }) =>
      ATTEMPTED.has(type) ? [{ run, position, turn: `${run} ${step}` }] : [],
    ),
    ...turnsThatWaited(standing),
  ];
  const inOrder = all.toSorted((one, other) => one.position - other.position);
  const places = Map.groupBy(inOrder, ({ run }) => run);
  const isOver = ({ position, turn }: Place): boolean => met.has(position) || (turn !== undefined && turns.has(turn));
  const done = new Map<RunId, number>();
  const nextIn = (run: RunId): number => {
    const own = places.get(run) ?? [];
    let at = done.get(run) ?? 0;
    for (let place = own[at]; place !== undefined && isOver(place); place = own[at]) at += 1;
    done.set(run, at);
    return own[at]?.position ?? Number.POSITIVE_INFINITY;
  };
  const children = Map.groupBy(rows, ({ parent }) => parent);
  const cancelled = ownCancelledEnds(standing);
  const starts = new Map(
    standing.flatMap((event) => (event.event_type === 'run.started' ? [[event.run_id, event.position]] : [])),
  );
  const hasBegun = (run: RunId): boolean => met.has(starts.get(run) ?? 0);
  return {
    nextOf(run) {
      let next = Number.POSITIVE_INFINITY;
      const left = [run];
      for (let one = left.pop(); one !== undefined; one = left.pop()) {
        next = Math.min(next, nextIn(one));
        for (const child of children.get(one) ?? []) left.push(child.run);
      }
      return next;
    },
    isToBeStopped: (run) =>
      cancelled.get(run) === nextIn(run) && (children.get(run) ?? []).every(({ run: child }) => hasBegun(child)),
  };
}

/** Where those end who were cancelled at their own work; whoever ends as one below it was cancelled need not have been. */
function ownCancelledEnds(standing: readonly LedgerEvent[]): ReadonlyMap<RunId, number> {
  return new Map(
    standing.flatMap((event) => {
      const isOne =
        event.event_type === 'run.ended' && event.payload.status === 'cancelled' && event.payload.finalRun === undefined;
      return isOne ? [[event.run_id, event.position]] : [];
    }),
  );
}

/**
 * Of a turn that waited for room in a budget until its run was cancelled nothing is recorded but that the end counts it: it had
 * begun by then.
 */
function turnsThatWaited(standing: readonly LedgerEvent[]): readonly Place[] {
  const ofRun = Map.groupBy(standing, ({ run_id: run }) => run);
  return [...ofRun].flatMap(([run, own]) => {
    const ended = own.findLast((event) => event.event_type === 'run.ended');
    if (ended?.event_type !== 'run.ended' || ended.payload.status !== 'cancelled') return [];
    const { turns = 0, finalRun } = ended.payload;
    const step = `turn/${turns}/model`;
    if (turns === 0 || finalRun !== undefined || own.some((event) => event.step === step)) return [];
    const last = own.findLast(({ event_type: type }) => !OF_THE_END.has(type));
    return last === undefined ? [] : [{ run, position: last.position + 0.5, turn: `${run} ${step}` }];
  });
}
