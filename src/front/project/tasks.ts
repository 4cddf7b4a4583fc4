/** Tasks: root runs as others see them through A2A. */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok } from '../../base/result.ts';
import type { Ledger } from '../../ledger/port.ts';
import { isTerminalTask, type TaskState } from '../../projections/tasks/task-states.ts';
import { taskOfRun } from '../../projections/tasks/tasks.ts';
import { createLedgerTasks, runOfTask, storedTask, tasksOfRun } from '../../tasks/ledger-tasks.ts';
import type { StoredTask } from '../../tasks/port.ts';
import { type ActingNeeds, type ActOutcome, type CallerAct, signalRun } from '../acts.ts';
import { findVisibleRun, findVisibleSession, type Seer } from '../sight.ts';

/** A task in a list, for programs. */
export const taskLineOf = ({ task, position }: StoredTask) => ({
  ...{ id: task.id, sessionId: task.sessionId, agent: String(task.metadata?.['agent'] ?? '') },
  ...{ state: task.status.state, message: task.status.message?.content ?? null, timestamp: task.status.timestamp ?? '' },
  position,
});

export interface WantedTasks {
  readonly state?: TaskState | undefined;
  readonly session?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** `undefined` when there is no such session for them. Of somebody who does not see everything, pages may be short. */
export async function readTasks(ledger: Ledger, seer: Seer, wanted: WantedTasks) {
  const session = wanted.session === undefined ? undefined : await findVisibleSession(ledger, seer, wanted.session);
  if (wanted.session !== undefined && session === undefined) return undefined;
  const limit = Math.min(wanted.limit, limits.listPage);
  const { tasks, next, cutBy } = await createLedgerTasks(ledger).list({ ...wanted, session, limit });
  const seen: StoredTask[] = [];
  for (const one of tasks) if ((await findVisibleRun(ledger, seer, runOfTask(one.task.id))) !== undefined) seen.push(one);
  return { tasks: seen.map(taskLineOf), next: next ?? null, ...present({ cutBy }) };
}

export async function readShownTask(ledger: Ledger, seer: Seer, id: string) {
  if ((await findVisibleRun(ledger, seer, runOfTask(id))) === undefined) return undefined;
  return (await createLedgerTasks(ledger).load(id))?.task;
}

export interface CanceledTask {
  readonly id: string;
  readonly outcome: 'accepted' | 'ended';
  readonly live: boolean;
}

/** One that ended stays as it ended; when its run went on, whoever names the run means what it is now. */
export async function cancelTask(
  needs: ActingNeeds,
  act: CallerAct,
  seer: Seer,
  id: string,
  reason: string,
): ActOutcome<CanceledTask> {
  const row = await findVisibleRun(needs.ledger, seer, runOfTask(id));
  const tasks = row === undefined || row.parent !== null ? undefined : await tasksOfRun(needs.ledger, row);
  const latest = row === undefined || tasks === undefined ? undefined : taskOfRun(tasks, row.run);
  const named = id.includes('.') ? tasks?.tasks.get(id) : latest;
  if (row === undefined || named === undefined)
    return fail({ why: 'unknown', code: 'not_found', message: 'There is no such task.' });
  if (isTerminalTask(storedTask(named).task.status.state)) return ok({ id: named.id, outcome: 'ended', live: false });
  const outcome = await signalRun(needs, act, row.run, 'cancel', reason);
  return outcome.ok ? ok({ id: named.id, outcome: outcome.value.outcome, live: outcome.value.live }) : outcome;
}
