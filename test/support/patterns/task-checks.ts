/** The tasks of a ledger, prefix by prefix: only legal transitions, and in the end the state that the run has. */
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { isTerminalTask, mayFollow } from '../../../src/projections/tasks/task-states.ts';
import { foldTasks, initialTasks } from '../../../src/projections/tasks/tasks.ts';

export function tasksMoveLegally(events: readonly LedgerEvent[]): void {
  const tasks = initialTasks();
  const before = new Map(tasks.tasks);
  let ends = 0;
  for (const event of events) {
    foldTasks(tasks, event);
    for (const [id, task] of tasks.tasks) {
      const old = before.get(id);
      if (old === task) continue;
      before.set(id, task);
      if (old !== undefined && !mayFollow(old.state, task.state))
        throw new Error(`the task ${id} goes from ${old.state} to ${task.state} at ${event.position}`);
      if (old !== undefined && isTerminalTask(old.state) && old.end !== task.end) throw new Error(`the task ${id} ends twice`);
      if (old?.state !== task.state && isTerminalTask(task.state)) ends += 1;
    }
  }
  const ended = events.filter((event) => event.event_type === 'run.ended' && tasks.roots.has(event.run_id)).length;
  if (ends !== ended) throw new Error(`root runs ended ${ended} times, and tasks ${ends}`);
}
