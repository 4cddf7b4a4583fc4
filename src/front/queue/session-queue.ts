/**
 * Prompts for a session that is at work: each waits in the ledger, in order, and is taken up when the session is free. Whoever
 * serves the project follows a queue until nothing waits in it, also one that a server before it left behind; a run that waits,
 * is paused or stands still holds what comes after it.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { runIdFrom, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok } from '../../base/result.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { activeRun, dropQueue, queueOf, sendToSession, takeNextPrompt } from '../../groups/send.ts';
import type { Ledger } from '../../ledger/port.ts';
import { groupOfSession } from '../../projections/groups.ts';
import type { ActOutcome, CallerAct } from '../acts.ts';
import { type GroupActing, groupRefusal, type PromptedGroup, promptedBefore, promptGroup } from '../groups/group-acts.ts';

export interface QueueFollower {
  /** Takes up what waits in this session, one after the other, until nothing does. */
  follow(session: SessionId): void;
  /** Follows what an earlier server left behind. */
  takeUp(): void;
}

interface FollowerNeeds extends GroupActing {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

export function createQueueFollower(needs: FollowerNeeds): QueueFollower {
  const { project, stopping, onError } = needs;
  const followed = new Set<SessionId>();
  const failed = (error: unknown): void => {
    if (!stopping.aborted) onError(error instanceof Error ? error : new Error(String(error)));
  };
  const follow = (session: SessionId): void => {
    if (followed.has(session)) return;
    followed.add(session);
    drain(needs, session)
      .catch(failed)
      .finally(() => followed.delete(session));
  };
  return {
    follow,
    takeUp: () => {
      leftBehind(project.ledger)
        .then((sessions) => sessions.forEach(follow))
        .catch(failed);
    },
  };
}

/** A process that has just ended its run gives the lease back a moment later, and says nothing of it. */
const LOOK_AGAIN_MS = 100;

async function drain({ project, clock, stopping }: FollowerNeeds, session: SessionId): Promise<void> {
  const { ledger, groups } = project;
  while (!stopping.aborted) {
    // Listens before it looks: what happens in between is heard.
    using news = nextNews(ledger, session, stopping);
    const [next] = await queueOf({ ledger }, session);
    if (next === undefined) return;
    if ((await activeRun({ ledger }, session)) !== undefined) {
      await news.heard;
      continue;
    }
    const taken = await takeNextPrompt(groups, session);
    // What can never begin must not hold what comes after it.
    if (!taken.ok) await dropQueue(groups, session, `it could not begin: ${taken.error.message}`, next.prompt);
    else if (taken.value === undefined) await sleep(clock, LOOK_AGAIN_MS, stopping);
    else await taken.value.done;
  }
}

function nextNews(ledger: Ledger, session: SessionId, stopping: AbortSignal): Disposable & { readonly heard: Promise<void> } {
  const { promise: heard, resolve } = Promise.withResolvers<void>();
  const stop = ledger.onNews(session, resolve);
  const ended = (): void => resolve();
  stopping.addEventListener('abort', ended);
  if (stopping.aborted) resolve();
  return {
    heard,
    [Symbol.dispose]: () => {
      stop();
      stopping.removeEventListener('abort', ended);
    },
  };
}

/** Sessions of no group in which something was queued lately, newest first. */
async function leftBehind(ledger: Ledger): Promise<readonly SessionId[]> {
  const { entries } = await ledger.feed({ newest: true, limit: limits.queueLookBack });
  const queued = new Set(entries.filter(({ type }) => type === 'prompt.queued').map(({ session }) => session));
  const waiting: SessionId[] = [];
  for (const session of queued)
    if ((await queueOf({ ledger }, session)).some(({ agent }) => agent !== undefined)) waiting.push(session);
  return waiting;
}

export interface PromptedSession {
  readonly text: string;
  /** Whoever was asked last, without it. */
  readonly agent?: string | undefined;
}

/** The next prompt of a session: now, or in its turn. The same key prompts once. */
export async function promptSession(
  acting: GroupActing & { readonly queues: QueueFollower },
  act: CallerAct,
  session: SessionId,
  { text, agent }: PromptedSession,
): ActOutcome<PromptedGroup> {
  const { project, queues } = acting;
  const group = groupOfSession(await readOrganisation(project.ledger), session);
  if (group !== undefined) return await promptGroup(acting, act, group.group, { text });
  const { client, key } = act;
  const prompt = key === undefined ? undefined : runIdFrom(JSON.stringify(['api prompt', client.name, key]));
  const before = prompt === undefined ? undefined : await promptedBefore(project, session, prompt, text);
  if (before !== undefined) return before;
  const [newest] = await project.ledger.runs({ session, roots: true, limit: 1 });
  if (newest === undefined) return fail({ why: 'unknown', code: 'unknown_session', message: `There is no session ${session}.` });
  const person = { by: client.name, where: 'api' } as const;
  const sent = await sendToSession(project.groups, session, { text, agent: agent ?? newest.agent, person, prompt });
  if (!sent.ok) return fail(groupRefusal(sent.error));
  queues.follow(session);
  const { value } = sent;
  const told = { prompt: value.prompt, session, outcome: value.kind };
  return value.kind === 'started'
    ? ok({ ...told, before: 0, run: value.prompt, standing: 'working' })
    : ok({ ...told, before: value.before, run: value.run ?? null, standing: value.standing });
}
