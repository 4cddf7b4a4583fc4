/**
 * What was under way at the place of a fork: steps that had begun and had not come to their outcome. In the fork they are done
 * anew, so what was written of them counts as if it were not there. What a person or a run below had begun to do stays.
 */

import type { RunId } from '../../base/ids.ts';
import type { EventType } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { deadlineStep } from '../hearing/waits.ts';
import { childOf } from '../record/driven-run.ts';
import { standing } from '../record/standing-events.ts';
import type { ForkPlace } from './places.ts';

/** What is written together with the end of a run, before it. */
const WITH_THE_END: ReadonlySet<EventType> = new Set<EventType>([
  ...(['artifact.manifest', 'agent.dismissed', 'task.error', 'evidence.checked', 'run.parked'] as const),
]);
/** What a run has done for good. */
const OUTCOMES: ReadonlySet<EventType> = new Set<EventType>(['model.response', 'tool.result', 'step.recorded', 'task.summary']);
/** What a model or a tool was asked, and what is known of that before it has answered. */
const OF_A_MODEL: ReadonlySet<EventType> = new Set<EventType>([
  ...(['model.request', 'model.failed', 'budget.reserved', 'budget.settled'] as const),
]);
const DEADLINE = deadlineStep('');
const TOOL_STEP = /^turn\/\d+\/tool\/\d+$/;

/**
 * By run: positions. Only of runs that had not ended. `anew`: what is undone because somebody begins anew; `settled`: of this
 * step it is known how it ends.
 */
export function underWay(
  events: readonly LedgerEvent[],
  { tree, anew }: Pick<ForkPlace, 'tree' | 'anew'>,
  settled?: { readonly run: RunId; readonly step: string },
): ReadonlyMap<RunId, readonly number[]> {
  const gone = new Set([...anew.values()].flat());
  const stands = standing(events).filter(({ position }) => !gone.has(position));
  const byRun = Map.groupBy(stands, ({ run_id }) => run_id);
  const found = new Map<RunId, readonly number[]>();
  for (const run of tree) {
    const own = byRun.get(run) ?? [];
    // Whoever is started anew is undone by the run above it.
    if (own.length === 0 || own.some(({ event_type }) => event_type === 'run.ended')) continue;
    const known = settled?.run === run ? settled.step : undefined;
    const undone = underWayIn(own, (child) => byRun.has(child), known);
    const below = (anew.get(run) ?? []).filter((position) => position <= events.length);
    found.set(
      run,
      [...undone, ...below].toSorted((one, other) => one - other),
    );
  }
  return found;
}

function underWayIn(own: readonly LedgerEvent[], begun: (child: RunId) => boolean, settled: string | undefined): number[] {
  const started = own.find((event) => event.event_type === 'run.started');
  if (started?.event_type !== 'run.started') return [];
  const above = { run: started.run_id, started: started.payload };
  const steps = (type: EventType): Set<string> =>
    new Set(own.flatMap((event) => (event.event_type === type && event.step !== null ? [event.step] : [])));
  const [answered, called] = [steps('model.response'), steps('tool.result')];
  const open = openWaitsIn(own);
  const last = own.findLast(({ event_type }) => OUTCOMES.has(event_type))?.position ?? 0;
  const isCallUnderWay = (step: string): boolean =>
    TOOL_STEP.test(step) && step !== settled && !called.has(step) && !begun(childOf(above, step));
  return own
    .filter((event) => {
      const { event_type: type, position } = event;
      const step = event.step ?? '';
      if (event.event_type === 'run.signalled') return event.payload.signal !== 'resume';
      if (event.event_type === 'message.included') return !answered.has(event.payload.request);
      if (event.event_type === 'message.sent' && event.payload.kind === 'report') return event.payload.from.run === above.run;
      if (WITH_THE_END.has(type)) return position > last;
      if (OF_A_MODEL.has(type)) return !answered.has(step);
      // Until when is waited for somebody is found out anew.
      if (type === 'step.recorded') return step.endsWith(DEADLINE) && open.has(step.slice(0, -DEADLINE.length));
      return isCallUnderWay(step) && !WAITS.has(type);
    })
    .map(({ position }) => position);
}

/** What was asked, and what was answered, stays so. */
const WAITS: ReadonlySet<EventType> = new Set<EventType>(['approval.asked', 'approval.answered', 'task.clarify']);

function openWaitsIn(own: readonly LedgerEvent[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (const event of own) {
    if (event.event_type === 'approval.asked' || event.event_type === 'task.clarify') open.add(event.payload.wait);
    if (event.event_type === 'approval.answered') open.delete(event.payload.wait);
  }
  return open;
}
