/** Tasks as the ledger has them: nothing is stored besides the events, each task is folded from those of its run. */
import { codeOf, TroupeError } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { taskContext } from '../projections/tasks/task-context.ts';
import type { TaskState } from '../projections/tasks/task-states.ts';
import { foldTasks, initialTasks, type RootTask, type Tasks, taskOfRun, taskTypes } from '../projections/tasks/tasks.ts';
import type { StoredTask, TaskFilter, TaskPage, TaskReader } from './port.ts';

type Reads = Pick<Ledger, 'read' | 'runs'>;

export function createLedgerTasks(ledger: Reads): TaskReader {
  return {
    load: async (id) => {
      const task = await loadTask(ledger, id);
      return task === undefined ? undefined : storedTask(task);
    },
    list: (filter) => listTasks(ledger, filter),
  };
}

export const storedTask = (task: RootTask): StoredTask => ({ task: taskContext(task), position: task.position });

/** `run_…` is the task of a run, `run_….2` the one that it was after it had ended and went on. */
export const runOfTask = (id: string): RunId => id.replace(/\.\d+$/, '') as RunId;

/** With all that the fold knows of it; nothing when there is no such root run, or its events were collected. */
export async function loadTask(ledger: Reads, id: string): Promise<RootTask | undefined> {
  const [row] = await ledger.runs({ run: runOfTask(id), roots: true, limit: 1 });
  return row === undefined ? undefined : (await tasksOfRun(ledger, row))?.tasks.get(id);
}

/** Folds what is new; `undefined` when the events were collected. */
export async function tasksOfRun(
  ledger: Pick<Ledger, 'read'>,
  { run, session }: Pick<RunRow, 'run' | 'session'>,
  tasks: Tasks = initialTasks(),
): Promise<Tasks | undefined> {
  try {
    const query = { session, root: run, types: taskTypes, after: tasks.position };
    for await (const event of readEvents(ledger, query)) foldTasks(tasks, event);
    return tasks;
  } catch (error) {
    if (codeOf(error) === 'ledger_collected') return undefined;
    throw error;
  }
}

/** The states of runs that a task may stand for in this state: the index leaves the others out. */
const runStates: Readonly<Record<TaskState, readonly RunRow['state'][]>> = {
  submitted: ['running', 'waiting', 'paused', 'parked'],
  working: ['running', 'waiting', 'paused', 'parked'],
  'input-required': ['running', 'waiting', 'paused', 'parked'],
  completed: ['completed', 'completed_unverified'],
  canceled: ['cancelled'],
  failed: ['failed', 'budget_exhausted'],
  unknown: [],
};

/** What stands behind the last one of a page. That one may have left the list since: its state was another then. */
async function begunBefore(ledger: Reads, rows: readonly RunRow[], after: string): Promise<readonly RunRow[]> {
  const run = runOfTask(after);
  const place = rows.findIndex((row) => row.run === run);
  if (place >= 0) return rows.slice(place + 1);
  const [last] = await ledger.runs({ run, roots: true, limit: 1 });
  if (last === undefined)
    throw new TroupeError('usage', `There is no task ${after} to go on behind`, { fix: 'take the `next` of the page before' });
  return rows.filter(({ startedAt }) => startedAt < last.startedAt);
}

async function listTasks(ledger: Reads, { state, session, limit, after }: TaskFilter): Promise<TaskPage> {
  const states = state === undefined ? undefined : runStates[state];
  if (states?.length === 0) return { tasks: [] };
  const filter = { ...present({ states, session: session as RunRow['session'] | undefined }), roots: true };
  const rows = await ledger.runs({ ...filter, limit: limits.runLookup });
  const tasks: StoredTask[] = [];
  for (const row of after === undefined ? rows : await begunBefore(ledger, rows, after)) {
    const folded = await tasksOfRun(ledger, row);
    const task = folded === undefined ? undefined : taskOfRun(folded, row.run);
    if (task === undefined || (state !== undefined && task.state !== state)) continue;
    if (tasks.length === limit) return { tasks, ...present({ next: tasks.at(-1)?.task.id }) };
    tasks.push(storedTask(task));
  }
  return rows.length < limits.runLookup ? { tasks } : { tasks, cutBy: 'runLookup' };
}
