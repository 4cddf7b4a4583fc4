/**
 * Which runs rest: they have asked a person, they or somebody below them whom they wait for, and none of those works meanwhile.
 * That time is the person's and not theirs. An assistant works beside whoever spawned it, so it holds up nobody.
 */
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';

export interface RestingRuns {
  /** Those that rest now and did not before, and the other way round. */
  apply(event: LedgerEvent): ReadonlyMap<RunId, boolean>;
  rests(run: RunId): boolean;
}

interface Run {
  readonly above: RunId | undefined;
  /** Questions that nobody has answered. */
  readonly open: Set<string>;
  /** Those below it that have not ended. */
  readonly below: Set<RunId>;
}

const NONE: ReadonlyMap<RunId, boolean> = new Map();

export function createRestingRuns(): RestingRuns {
  const runs = new Map<RunId, Run>();
  const resting = new Set<RunId>();

  const isResting = ({ open, below }: Run): boolean =>
    (open.size > 0 || below.size > 0) && [...below].every((run) => resting.has(run));
  /** What changes for a run may change for those above it. */
  const look = (from: RunId | undefined): ReadonlyMap<RunId, boolean> => {
    const changes = new Map<RunId, boolean>();
    for (let run = from; run !== undefined; ) {
      const at = runs.get(run);
      if (at === undefined) break;
      const rests = isResting(at);
      if (rests !== resting.has(run)) {
        changes.set(run, rests);
        if (rests) resting.add(run);
        else resting.delete(run);
      }
      run = at.above;
    }
    return changes;
  };
  /** Also when it goes on after its end. */
  const goes = (run: RunId): ReadonlyMap<RunId, boolean> => {
    const above = runs.get(run)?.above;
    if (above !== undefined) runs.get(above)?.below.add(run);
    return look(run);
  };
  return {
    rests: (run) => resting.has(run),
    apply(event) {
      const { run_id: run } = event;
      switch (event.event_type) {
        case 'run.started': {
          const { origin } = event.payload;
          const above = origin.kind === 'assistant' ? undefined : (parentRun(event.payload) as RunId | undefined);
          runs.set(run, { above, open: new Set(), below: new Set() });
          return goes(run);
        }
        case 'run.reopened':
          return goes(run);
        case 'approval.asked':
        case 'task.clarify':
          runs.get(run)?.open.add(event.payload.wait);
          return look(run);
        case 'approval.answered':
          runs.get(run)?.open.delete(event.payload.wait);
          return look(run);
        case 'run.ended': {
          const ended = runs.get(run);
          ended?.open.clear();
          if (ended?.above !== undefined) runs.get(ended.above)?.below.delete(run);
          const changes = look(run);
          return ended?.above === undefined || changes.has(ended.above) ? changes : new Map([...changes, ...look(ended.above)]);
        }
        default:
          return NONE;
      }
    },
  };
}
