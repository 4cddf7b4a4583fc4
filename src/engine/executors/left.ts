/**
 * An executor that was left while somebody is asked, and whose run another process takes up: it must not go on here as well.
 * It is looked for from time to time whether that has happened, for as long as it is left.
 */
import { limits } from '../../base/limits.ts';
import type { ExecutorSession, Executors } from '../../executors/port.ts';
import type { ExecutorRecorder } from './recorder.ts';

/** Runs whose executors are looked after already. */
const watched = new WeakMap<Executors, Set<string>>();

export function watchLeft({ tree, node }: ExecutorRecorder, { about: { pid } }: ExecutorSession): void {
  const { executors, ledger, session, clock } = tree;
  if (executors === undefined || pid === undefined) return;
  const runs = watched.get(executors) ?? new Set();
  watched.set(executors, runs);
  if (runs.has(node.run)) return;
  runs.add(node.run);
  const types = ['executor.session', 'run.ended'] as const;
  const look = async (): Promise<void> => {
    const [latest] = await ledger.read({ session, run: node.run, types: [...types], newest: true, limit: 1 });
    if (latest?.event_type === 'executor.session' && latest.payload.pid === pid) return soon();
    runs.delete(node.run);
    await executors.drop(node.run);
  };
  // A ledger that is closed by then belongs to a process that ends, and its executors with it.
  const forget = (): void => void runs.delete(node.run);
  const soon = (): void => void clock.after(limits.executorLeftLookMs, () => void look().catch(forget));
  soon();
}
