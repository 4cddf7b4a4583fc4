/**
 * Tells peers how their tasks stand, at the addresses that they gave. How far an address was told is in the ledger, so that after
 * `kill -9` the next server goes on where this one stopped: what was told and not noted yet is told once more. An address that
 * does not answer is tried again, more and more slowly, and in the end given up.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { V1PushNotificationSerializer } from '@a2a-js/sdk/server';
import { limits } from '../../base/limits.ts';
import type { Result } from '../../base/result.ts';
import { asOnlyOne } from '../../ledger/only-one.ts';
import { type TellOutcome, tellOnce, tellUntilTold } from '../../network/tell.ts';
import { isTerminalTask } from '../../projections/tasks/task-states.ts';
import { LEGACY } from './cards.ts';
import { type Following, taskUpdate, updatesOf } from './follow.ts';
import type { FoundTask, TaskFinder } from './found-tasks.ts';
import type { A2aNeeds, Scope } from './needs.ts';
import { notePush, type PushTarget, pushTargets, tasksToTell } from './push-configs.ts';
import { foldedTasks } from './task-folds.ts';
import { isOver, stateOut } from './task-out.ts';

export interface PushDelivery {
  /** Goes on with all addresses of a task, unless this process does already. */
  wake(found: FoundTask, scope: Scope): void;
  /** Goes on with what was left behind. `scopeOf` knows a caller by its name. */
  takeUp(scopeOf: (found: FoundTask) => Scope): Promise<void>;
}

export function createPushDelivery(needs: A2aNeeds, tasks: TaskFinder): PushDelivery {
  const underWay = new Set<string>();
  const turns = createTurns(limits.a2aPushAtATime);
  const deliver = async (found: FoundTask, scope: Scope): Promise<void> => {
    for (const [name, target] of await pushTargets(needs, found)) {
      const { made } = target;
      const key = `${found.id} ${made}`;
      if (target.failed !== undefined || underWay.has(key)) continue;
      underWay.add(key);
      const current = async (): Promise<PushTarget | undefined> => {
        const now = (await pushTargets(needs, found)).get(name);
        return now?.made === made ? now : undefined;
      };
      const telling: Telling = { found, scope, name, made, current };
      alone(needs, telling, () => tell(needs, turns, telling))
        .catch(needs.onError)
        .finally(() => underWay.delete(key));
    }
  };
  const wake = (found: FoundTask, scope: Scope): void => void deliver(found, scope).catch(needs.onError);
  return {
    wake,
    async takeUp(scopeOf) {
      const rows = await needs.ledger.runs({ roots: true, limit: limits.a2aTasksListed });
      for (const row of rows) {
        const found = await tasks.of(row);
        if (found === undefined || needs.stopping.aborted) continue;
        for (const task of await tasksToTell(needs, found)) await deliver(task, scopeOf(task));
      }
    },
  };
}

/** One address that is told. */
interface Telling {
  readonly found: FoundTask;
  readonly scope: Scope;
  readonly name: string;
  readonly made: PushTarget['made'];
  /** As it stands now; nothing when it was replaced or deleted, and is nobody's any more. */
  current(): Promise<PushTarget | undefined>;
}

/** Of all servers of the ledger one tells an address, until there is nothing more to tell. */
async function alone(needs: A2aNeeds, { found, made, current }: Telling, work: () => Promise<void>): Promise<void> {
  const isOver = async (): Promise<boolean> => {
    const target = await current();
    return target === undefined || target.failed !== undefined || (await isTold(needs, found, target));
  };
  await asOnlyOne(needs, ['a2a-push', found.id, made], isOver, work);
}

/** Whether the address knows that the task is over. */
async function isTold(needs: A2aNeeds, found: FoundTask, { told }: PushTarget): Promise<boolean> {
  if (told === undefined) return false;
  const task = (await foldedTasks(needs, found.session, told)).tasks.get(found.id);
  return task !== undefined && isTerminalTask(task.state);
}

/** One address, until the task is over or nobody wants it any more. */
async function tell(needs: A2aNeeds, turns: Turns, telling: Telling): Promise<void> {
  const { found, scope, name: config, made, current } = telling;
  const following: Following = { found, scope, signal: needs.stopping };
  const target = await current();
  if (target === undefined) return;
  const tasks = await foldedTasks(needs, found.session, target.told);
  const first = tasks.tasks.get(found.id);
  if (first === undefined) return;
  let reached = target.told ?? 0;
  const say = async (update: StreamResponse, position: number | undefined): Promise<boolean> => {
    const said = await persist(needs, turns, telling, update);
    if (said.kind === 'left') return false;
    if (said.kind === 'failed') {
      await notePush(needs, found, { config, target: made, position: position ?? reached, failed: said.why });
      return false;
    }
    if (position !== undefined) await notePush(needs, found, { config, target: made, position });
    reached = position ?? reached;
    return true;
  };
  // Who was told nothing yet hears first how the task stands: whatever happened before is in it.
  if (target.told === undefined && !(await say(await taskUpdate(needs, following, first), tasks.position))) return;
  if (isOver(stateOut(first, scope))) return;
  for await (const { update, position, task } of updatesOf(needs, following, tasks)) {
    if (!(await say(update, position))) return;
    if (task !== undefined && isOver(stateOut(task, scope))) return;
  }
}

/** As long as somebody wants it there. Whoever waits between two tries takes nobody's turn. */
const persist = (needs: A2aNeeds, turns: Turns, { current }: Telling, update: StreamResponse): Promise<TellOutcome> =>
  tellUntilTold(needs, () =>
    turns(async () => {
      const target = await current();
      return target === undefined ? undefined : await once(needs, target, update);
    }),
  );

async function once(needs: A2aNeeds, { config, version }: PushTarget, update: StreamResponse): Promise<Result<void, string>> {
  const { body, contentType } = await written(update, version);
  const { scheme = '', credentials = '' } = config.authentication ?? {};
  const headers = {
    'content-type': contentType,
    ...(scheme !== '' && credentials !== '' ? { authorization: `${scheme} ${credentials}` } : {}),
    ...(config.token === '' ? {} : { 'x-a2a-notification-token': config.token }),
  };
  return await tellOnce(needs, { url: config.url, headers, body, allowLocal: needs.settings.privatePush === true });
}

async function written(
  update: StreamResponse,
  version: string,
): Promise<{ readonly body: string; readonly contentType: string }> {
  if (version !== LEGACY) return new V1PushNotificationSerializer().serialize(update);
  const { V03PushNotificationSerializer } = await import('@a2a-js/sdk/compat/v0_3/server');
  return new V03PushNotificationSerializer().serialize(update);
}

type Turns = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** So many at a time; the others wait. */
function createTurns(most: number): Turns {
  let busy = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (busy >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    busy += 1;
    try {
      return await work();
    } finally {
      busy -= 1;
      waiting.shift()?.();
    }
  };
}
