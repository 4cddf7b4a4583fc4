/**
 * What is known when a task is handed over: a bounded list of references into the session, and the text that was made of them.
 * It is a function of what was recorded: made again from the same events, it has the same hash.
 */
import { createHash } from 'node:crypto';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { RecordedStep } from '../../events/tasks/task-events.ts';

export interface KnownFact {
  readonly ref: RecordedStep;
  /** What the executor is told of it; nothing where the event is only for those who look it up. */
  readonly text?: string | undefined;
}

/**
 * The first, which is the request, and the newest of the others: what was said last counts most. `nameOf`: by what a run goes
 * in the hash, so that it is the same in a fork.
 */
export function snapshotOf(
  known: readonly KnownFact[],
  at: { task: string; attempt: number },
  nameOf = (run: string): string => run,
): Payloads['task.snapshot'] {
  const [first, ...others] = known;
  const kept = [...(first === undefined ? [] : [first]), ...others.slice(-(limits.snapshotEvents - 1))];
  const left = known.length - kept.length;
  const events = kept.map(({ ref }) => ref);
  const context = cut(kept.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n\n'));
  const named = events.map((ref) => ({ ...ref, run: nameOf(ref.run) }));
  const hash = createHash('sha256')
    .update(JSON.stringify({ events: named, context }))
    .digest('hex');
  return { ...at, hash, events, ...(left === 0 ? {} : { left }), context };
}

function cut(text: string): string {
  const over = text.length - limits.snapshotCharacters;
  if (over <= 0) return text;
  const half = Math.floor(limits.snapshotCharacters / 2);
  return `${text.slice(0, half)}\n[… ${counted(over, 'character')} left out (snapshotCharacters) …]\n${text.slice(-half)}`;
}
