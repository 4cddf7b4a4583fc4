/**
 * Brings copies of tasks to where the ledger is. What was written is remembered by position, so only what is new is read. After a
 * crash, and after Redis has lost something, it is found out from what Redis holds.
 */
import type { Clock } from '../base/clock.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { createRecentlyUsed } from '../base/recently-used.ts';
import { ok, type Result } from '../base/result.ts';
import type { Ledger, RunRow } from '../ledger/port.ts';
import { isTerminalTask } from '../projections/tasks/task-states.ts';
import { initialTasks, type Tasks, taskOfRun } from '../projections/tasks/tasks.ts';
import { storedTask, tasksOfRun } from './ledger-tasks.ts';
import type { RedisTrouble } from './redis/connection.ts';
import type { RedisTasks } from './redis/redis-tasks.ts';

export interface WriterNeeds {
  readonly ledger: Ledger;
  readonly store: Pick<RedisTasks, 'trySave' | 'positions' | 'retryInMs' | 'connections' | 'close'>;
  readonly clock: Clock;
  readonly ttlMs: number;
}

export type CopyWritten = Result<void, RedisTrouble>;

/** What nobody has looked at, in words; nothing when all was. */
export interface LookedAt {
  readonly left?: string;
}

export interface TaskWriter {
  /** All tasks of the root above this run, as far as they are new. */
  write(run: RunId, session: SessionId): Promise<CopyWritten>;
  /** Tells of the root runs whose copies may be behind: open ones, and those that ended within the time that copies are kept. */
  behind(tell: (row: RunRow) => void): Promise<Result<LookedAt, RedisTrouble>>;
}

/** What is known of a root run: its tasks so far, and how much of each Redis holds. */
interface Followed {
  readonly tasks: Tasks;
  readonly written: Map<string, number>;
}

export function createTaskWriter({ ledger, store, clock, ttlMs }: WriterNeeds): TaskWriter {
  const followed = createRecentlyUsed<RunId, Followed>(limits.taskRunsFollowed);
  const roots = createRecentlyUsed<RunId, RunId>(limits.taskRunsFollowed);
  const ends = createRecentlyUsed<string, number>(limits.taskCatchUp);

  /** Where a run has ended is looked up once for each end. */
  const endOf = async ({ session, run, endedAt }: RunRow): Promise<number> => {
    const name = `${run} ${endedAt}`;
    const known = ends.get(name);
    if (known !== undefined) return known;
    const [end] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
    ends.set(name, end?.position ?? 0);
    return end?.position ?? 0;
  };

  return {
    async write(run, session) {
      const root = roots.get(run) ?? (await rootOf(ledger, run));
      if (root === undefined) return ok(undefined);
      roots.set(run, root);
      const known = followed.get(root) ?? { tasks: initialTasks(), written: new Map<string, number>() };
      const tasks = await tasksOfRun(ledger, { run: root, session }, known.tasks);
      if (tasks === undefined) return ok(undefined);
      followed.set(root, known);
      for (const task of tasks.tasks.values()) {
        if (task.position <= (known.written.get(task.id) ?? 0)) continue;
        const saved = await store.trySave(storedTask(task));
        // One that is refused stands in nobody's way: it is tried again when it changes, and when all are looked at.
        if (!saved.ok && saved.error.kind === 'away') return saved;
        known.written.set(task.id, task.position);
      }
      const latest = taskOfRun(tasks, root);
      if (latest !== undefined && isTerminalTask(latest.state)) followed.delete(root);
      return ok(undefined);
    },

    async behind(tell) {
      const since = clock.now() - ttlMs;
      const open = await ledger.runs({
        roots: true,
        states: ['running', 'waiting', 'paused', 'parked'],
        limit: limits.taskCatchUp,
      });
      const newest = await ledger.runs({ roots: true, limit: limits.taskCatchUp });
      const ended = newest.filter(({ endedAt }) => endedAt !== null && endedAt > since);
      const rows = [...open, ...ended];
      for (let from = 0; from < rows.length; from += limits.taskCatchUpPage) {
        const page = rows.slice(from, from + limits.taskCatchUpPage);
        const held = await store.positions(page.map(({ run }) => run));
        if (!held.ok) return held;
        for (const [index, row] of page.entries()) {
          const position = held.value[index] ?? 0;
          // What Redis has lost is written again, whatever was remembered of it.
          if (position < (followed.get(row.run)?.written.get(row.run) ?? 0)) followed.delete(row.run);
          if (row.endedAt === null || position < (await endOf(row))) tell(row);
        }
      }
      return ok(present({ left: leftBehind(open, newest, since) }));
    },
  };
}

/** Behind these there may be others, whose copies are brought up only when something is written to them. */
function leftBehind(open: readonly RunRow[], newest: readonly RunRow[], since: number): string | undefined {
  const last = newest.at(-1);
  const isFull = newest.length >= limits.taskCatchUp && last !== undefined && (last.endedAt ?? last.startedAt) > since;
  const what = [
    ...(open.length >= limits.taskCatchUp ? ['open tasks'] : []),
    ...(isFull ? ['tasks that ended within the time that copies are kept'] : []),
  ].join(' and of ');
  if (what === '') return undefined;
  const looked = `only the newest ${limits.taskCatchUp} are compared with Redis (taskCatchUp)`;
  return `of ${what} ${looked}: copies of others may be missing or old`;
}

/** A run below names who is above it; a run that is not there yet has nothing to write. */
async function rootOf(ledger: Pick<Ledger, 'runs'>, run: RunId): Promise<RunId | undefined> {
  for (let at = run; ; ) {
    const [row] = await ledger.runs({ run: at, limit: 1 });
    if (row === undefined) return undefined;
    if (row.parent === null) return at;
    at = row.parent;
  }
}
