/**
 * How a task stands, folded from its session. What was folded is kept for the sessions that were asked about last, so that who
 * polls pays only for what is new; whoever follows a task has a fold of its own.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { oneAtATime } from '../../base/one-at-a-time.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import { nothingLeft, readEvents } from '../../ledger/pages.ts';
import { foldTasks, initialTasks, type RootTask, type Tasks } from '../../projections/tasks/tasks.ts';
import type { FoundTask } from './found-tasks.ts';
import type { A2aNeeds } from './needs.ts';

export interface TaskFolds {
  /** The task as the ledger has it now. Nothing when there is none of that id: a life of the run that did not come. */
  now(found: FoundTask): Promise<RootTask | undefined>;
  /** All that its run was and is: one more for each time that it went on after its end. */
  lives(found: FoundTask): Promise<readonly RootTask[]>;
}

type Reading = Pick<A2aNeeds, 'ledger'>;

export function createTaskFolds(needs: Reading): TaskFolds {
  const kept = createRecentlyUsed<SessionId, Tasks>(limits.a2aFoldsKept);
  const inTurn = oneAtATime();
  const folded = <Value>(session: SessionId, look: (tasks: Tasks) => Value): Promise<Value> =>
    inTurn(session, async () => {
      // Nothing that was forgotten is remembered here.
      if (await needs.ledger.hasForgotten(session)) kept.delete(session);
      const tasks = kept.get(session) ?? initialTasks();
      kept.set(session, tasks);
      try {
        await readOn(needs, session, tasks);
      } catch (error) {
        // Nobody knows how far it came: the next one begins anew.
        kept.delete(session);
        nothingLeft(error);
        return look(initialTasks());
      }
      return look(tasks);
    });
  return {
    now: ({ session, id }) => folded(session, ({ tasks }) => tasks.get(id)),
    lives: ({ session, run }) => folded(session, (tasks) => livesOf(tasks, run)),
  };
}

function livesOf({ tasks }: Tasks, run: RunId): readonly RootTask[] {
  const lives: RootTask[] = [];
  for (let life = tasks.get(run); life !== undefined; life = tasks.get(life.reopenedAs ?? '')) lives.push(life);
  return lives;
}

/** Everything up to now, or up to a position, in a fold of one's own. */
export async function foldedTasks(needs: Reading, session: SessionId, upTo = Number.POSITIVE_INFINITY): Promise<Tasks> {
  const tasks = initialTasks();
  for await (const event of readEvents(needs.ledger, { session })) {
    if (event.position > upTo) break;
    foldTasks(tasks, event);
  }
  return tasks;
}

async function readOn({ ledger }: Reading, session: SessionId, tasks: Tasks): Promise<void> {
  for await (const event of readEvents(ledger, { session, after: tasks.position })) foldTasks(tasks, event);
}
