/**
 * Prompts for a session that is at work: each waits in the ledger, in order, and is taken up when the session is free. Of those
 * who serve the project one follows a queue until nothing waits in it, and another one goes on with it when that one has gone; a
 * run that waits, is paused or stands still holds what comes after it.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { runIdFrom, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok } from '../../base/result.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { activeRun, dropQueue, isHeldBack, queueOf, sendToSession, takeNextPrompt } from '../../groups/send.ts';
import { asOnlyOne } from '../../ledger/only-one.ts';
import type { FeedPlace, Ledger } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { groupOfSession } from '../../projections/groups.ts';
import type { ActOutcome, CallerAct } from '../acts.ts';
import { type GroupActing, groupRefusal, type PromptedGroup, promptedBefore, promptGroup } from '../groups/group-acts.ts';

export interface QueueFollower {
  /** Takes up what waits in this session, one after the other, until nothing does. */
  follow(session: SessionId): void;
  /** Follows what others have queued: what an earlier server left behind, and, asked again, what came since. */
  takeUp(): void;
}

interface FollowerNeeds extends GroupActing {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}

export function createQueueFollower(needs: FollowerNeeds): QueueFollower {
  const { project, stopping, onError } = needs;
  const followed = new Set<SessionId>();
  /** Those of which something went wrong here. */
  const again = new Set<SessionId>();
  const failed = (error: unknown): void => {
    if (!stopping.aborted) onError(error instanceof Error ? error : new Error(String(error)));
  };
  const follow = (session: SessionId): void => {
    if (followed.has(session)) return;
    followed.add(session);
    const isOver = async (): Promise<boolean> => stopping.aborted || (await queueOf(project, session)).length === 0;
    asOnlyOne({ ...needs, ledger: project.ledger }, ['queue', session], isOver, () => drain(needs, session))
      .catch((error: unknown) => {
        failed(error);
        again.add(session);
      })
      .finally(() => followed.delete(session));
  };
  const news = createQueueNews(project.ledger);
  const takeUp = async (): Promise<void> => {
    for (const session of new Set([...again, ...(await news())])) {
      again.delete(session);
      if (await isServed(project, session)) follow(session);
    }
  };
  return { follow, takeUp: () => void takeUp().catch(failed) };
}

/** A process that has just ended its run gives the lease back a moment later, and says nothing of it. */
const LOOK_AGAIN_MS = 100;

async function drain({ project, clock, stopping, onError }: FollowerNeeds, session: SessionId): Promise<void> {
  const { ledger, groups } = project;
  while (!stopping.aborted) {
    // Listens before it looks: what happens in between is heard.
    using news = nextNews(ledger, session, stopping);
    const [next] = await queueOf({ ledger }, session);
    if (next === undefined) return;
    if ((await activeRun({ ledger }, session)) !== undefined || (await isHeldBack(groups, session))) {
      await news.heard;
      continue;
    }
    const taken = await takeNextPrompt(groups, session);
    if (!taken.ok && next.agent === undefined) {
      // A group keeps what it was given until somebody takes it back: tried again when something has happened there.
      onError(new Error(`a queued prompt could not be started: ${taken.error.message}`));
      await news.heard;
    } else if (!taken.ok) {
      // What can never begin must not hold what comes after it.
      await dropQueue(groups, session, `it could not begin: ${taken.error.message}`, next.prompt);
    } else if (taken.value === undefined) await sleep(clock, LOOK_AGAIN_MS, stopping);
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

/** Sessions in which something was queued: first lately, then since. Of what is there only the types are looked at. */
function createQueueNews(ledger: Ledger): () => Promise<ReadonlySet<SessionId>> {
  let place: FeedPlace | undefined;
  let isFirst = true;
  let underWay: Promise<ReadonlySet<SessionId>> | undefined;
  const look = async (): Promise<ReadonlySet<SessionId>> => {
    const found = new Set<SessionId>();
    for (;;) {
      const { entries } = await ledger.feed({ newest: isFirst, after: place, limit: limits.queueLookBack });
      for (const { type, session } of entries) if (type === 'prompt.queued') found.add(session);
      place = (isFirst ? entries[0] : entries.at(-1))?.place ?? place;
      const isWhole = isFirst || entries.length < limits.queueLookBack;
      isFirst = false;
      if (isWhole) return found;
    }
  };
  // One look after the other: each goes on where the last one ended.
  return () => {
    underWay = (underWay ?? Promise.resolve()).then(look, look);
    return underWay;
  };
}

/** Whether something waits that a server was given; a person at a terminal stays with what they gave a group. */
async function isServed({ ledger }: Pick<Project, 'ledger'>, session: SessionId): Promise<boolean> {
  return (await queueOf({ ledger }, session)).some(({ agent, person }) => agent !== undefined || person?.where === 'api');
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
  if (group !== undefined) return await promptGroup({ ...acting, follow: queues.follow }, act, group.group, { text });
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
