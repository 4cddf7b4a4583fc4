/** What was said of the tasks of a run, as it was recorded: only what somebody accepted is its result. */
import type { LedgerEvent } from '../../events/envelope.ts';

export interface Verdicts {
  readonly accepted: Set<string>;
  /** Why the work of a task is no result, in the words of whoever said so last. */
  readonly against: Map<string, string>;
  /** The task that did it again, by the one before. */
  readonly again: Map<string, string>;
}

export const nothingHeard = (): Verdicts => ({ accepted: new Set(), against: new Map(), again: new Map() });

export function hearVerdict({ accepted, against, again }: Verdicts, event: LedgerEvent): void {
  if (event.event_type === 'task.package') {
    if (event.payload.again !== undefined) again.set(event.payload.again, event.payload.task);
  } else if (event.event_type === 'task.policy') {
    against.set(event.payload.task, `it failed: ${event.payload.why}`);
  } else if (event.event_type === 'task.judged') {
    const { task, verdict, why } = event.payload;
    accepted.delete(task);
    if (verdict === 'accepted') accepted.add(task);
    else against.set(task, `${verdict === 'again' ? 'to be done again' : 'given up'}: ${why}`);
  }
}

/** `undefined` where another did it again and was accepted: nothing of it is missing. */
export function whyLeft({ accepted, against, again }: Verdicts, task: string): string | undefined {
  if (accepted.has(task)) return 'accepted, and not merged yet';
  const seen = new Set<string>();
  for (let next = again.get(task); next !== undefined && !seen.has(next); next = again.get(next)) {
    if (accepted.has(next)) return undefined;
    seen.add(next);
  }
  return against.get(task) ?? 'nobody has judged it';
}
