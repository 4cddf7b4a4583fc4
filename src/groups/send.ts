/**
 * The one way in: whoever has a prompt for a group, from wherever, gives it here. A group works on one prompt at a time; what
 * comes meanwhile waits in the ledger, with its own text, in order, and is taken up by whoever drives the group when it is free.
 *
 * Nothing is left behind: who queues looks again whether the group is free, and who drives looks for prompts after its run has
 * ended and its lease is given back. One of the two sees the other.
 */

import { sleep } from '../base/clock.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { createSignals } from '../engine/hearing/from-outside.ts';
import type { RunHandle, Sender, StartRequest } from '../engine/port.ts';
import { readAll } from '../engine/record/read-all.ts';
import type { Failure, Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { userText } from '../events/messages.ts';
import type { NewEvent, RunRow } from '../ledger/port.ts';
import { groupOfSession, type SavedGroup } from '../projections/groups.ts';
import { type QueuedPrompt, queueTypes, waitingPrompts } from '../projections/prompt-queue.ts';
import { findGroup, type GroupNeeds } from './groups.ts';
import { changeOrganisation, readOrganisation } from './organisation.ts';
import { makeWorktrees, workspaceIn } from './worktrees.ts';

const LOOK_AGAIN_MS = 20;

export interface GroupPrompt {
  readonly text: string;
  /** Only for this member. */
  readonly member?: string | undefined;
  /** Who gives it, where they had to say so. */
  readonly person?: SaidBy | undefined;
  /** Its id, and that of the run that will answer it; a new one without it. */
  readonly prompt?: string | undefined;
}

/** Somebody with a name, and where they said it. */
type SaidBy = NonNullable<Payloads['prompt.queued']['person']>;

export type SentPrompt =
  | { readonly kind: 'started'; readonly prompt: RunId; readonly handle: RunHandle }
  /** It waits; `handle` is there when prompts before it wait too and this process has begun to work on them. */
  | {
      readonly kind: 'queued';
      readonly prompt: RunId;
      /** How many prompts are before it, that under work included. */
      readonly before: number;
      readonly handle?: RunHandle | undefined;
      /** The run that the group works on. */
      readonly run: RunId | undefined;
      /** How that run stands: a process works on it, it waits for an answer, somebody paused it, or its process is gone. */
      readonly standing: Standing;
    };

export type Standing = 'working' | 'waiting' | 'paused' | 'left';

export async function sendToGroup(needs: GroupNeeds, word: string, prompt: GroupPrompt): Promise<Result<SentPrompt, Failure>> {
  const group = findGroup(await readOrganisation(needs.ledger), word);
  if (!group.ok) return group;
  const refusal = memberRefusal(group.value, prompt.member);
  if (refusal !== undefined) return fail(refusal);
  const run = (prompt.prompt as RunId | undefined) ?? needs.ids.run();
  const session = group.value.session as SessionId;
  if ((await queueOf(needs, session)).length === 0 && (await pauseOf(needs, session)) === undefined) {
    const started = await start(needs, group.value, run, prompt);
    if (started.ok) return ok({ kind: 'started', prompt: run, handle: started.value });
    if (started.error.code !== 'session_busy') return started;
  }
  return await enqueue(needs, session, run, prompt);
}

/** A prompt for an agent, in a session that is of no group. */
export interface SessionPrompt extends Omit<GroupPrompt, 'member'> {
  readonly agent: string;
}

/** The same for a session that is of no group: now, or in its turn. What is said while nothing is under way, no pause holds. */
export async function sendToSession(
  needs: GroupNeeds,
  session: SessionId,
  prompt: SessionPrompt,
): Promise<Result<SentPrompt, Failure>> {
  const run = (prompt.prompt as RunId | undefined) ?? needs.ids.run();
  if ((await queueOf(needs, session)).length === 0) {
    const started = await startPlain(needs, session, run, prompt);
    if (started.ok) return ok({ kind: 'started', prompt: run, handle: started.value });
    if (started.error.code !== 'session_busy') return started;
  }
  return await enqueue(needs, session, run, prompt);
}

/** Takes up the prompt that has waited longest; `undefined` when none waits, the group is paused, or somebody else is at work. */
export async function takeNextPrompt(needs: GroupNeeds, session: SessionId): Promise<Result<RunHandle | undefined, Failure>> {
  const [next] = await queueOf(needs, session);
  if (next === undefined) return ok(undefined);
  const state = await readOrganisation(needs.ledger);
  const group = groupOfSession(state, session);
  const run = next.prompt as RunId;
  const { agent } = next;
  const begin = async (): Promise<Result<RunHandle, Failure> | undefined> => {
    if (group === undefined) return agent === undefined ? undefined : await startPlain(needs, session, run, { ...next, agent });
    return (await isHeldIn(needs, state, group, session)) ? undefined : await start(needs, group, run, next);
  };
  const started = await begin();
  if (started === undefined) return ok(undefined);
  if (started.ok) return started;
  return started.error.code === 'session_busy' || started.error.code === 'exists' ? ok(undefined) : started;
}

/** Whether what waits here is not to be begun now, though nothing is under way: the group is paused, or was deleted. */
export async function isHeldBack(needs: Pick<GroupNeeds, 'ledger'>, session: SessionId): Promise<boolean> {
  const state = await readOrganisation(needs.ledger);
  const group = groupOfSession(state, session);
  return group !== undefined && (await isHeldIn(needs, state, group, session));
}

const isHeldIn = async (
  needs: Pick<GroupNeeds, 'ledger'>,
  state: Awaited<ReturnType<typeof readOrganisation>>,
  { group }: SavedGroup,
  session: SessionId,
): Promise<boolean> => !state.groups.has(group) || (await pauseOf(needs, session)) !== undefined;

export async function queueOf({ ledger }: Pick<GroupNeeds, 'ledger'>, session: SessionId): Promise<readonly QueuedPrompt[]> {
  return waitingPrompts(await readAll(ledger, session, { types: queueTypes }));
}

/**
 * The pause that nobody has taken back. It may have come too late for the run that was under way, which has ended since: then it
 * holds what comes next, whoever would take that up.
 */
export async function pauseOf({ ledger }: Pick<GroupNeeds, 'ledger'>, session: SessionId): Promise<LedgerEvent | undefined> {
  const [newest] = await ledger.runs({ session, roots: true, limit: 1 });
  if (newest === undefined) return undefined;
  const signals = createSignals(false);
  for (const event of await readAll(ledger, session, { run: newest.run, types: ['run.signalled', 'run.resumed'] }))
    signals.apply(event);
  return signals.cancelled(newest.run) === undefined ? signals.pauses().get(newest.run) : undefined;
}

/** Somebody has the group go on. */
export async function takePauseBack(needs: GroupNeeds, session: SessionId, person?: Sender): Promise<void> {
  const pause = await pauseOf(needs, session);
  if (pause === undefined) return;
  const { run_id: run, event_id: cause } = pause;
  const payload = { signal: 'resume', ...present({ by: person?.by, where: person?.where }) } as const;
  const event: NewEvent = { type: 'run.signalled', run, actor: 'user', cause, payload, at: needs.clock.now() };
  await needs.ledger.append({ session, fence: null, events: [event], sync: 'power' });
}

/** Prompts that wait, or one of them, are not answered any more. Returns how many there were. */
export async function dropQueue(needs: GroupNeeds, session: SessionId, reason: string, only?: string): Promise<number> {
  const waiting = (await queueOf(needs, session)).filter(({ prompt }) => only === undefined || prompt === only);
  const at = await placeIn(needs, session);
  if (waiting.length === 0 || at === undefined) return 0;
  const events = waiting.map(
    ({ prompt }): NewEvent => ({
      type: 'prompt.dropped',
      ...at,
      actor: 'user',
      payload: { prompt, reason },
      at: needs.clock.now(),
    }),
  );
  await needs.ledger.append({ session, fence: null, events, sync: 'power' });
  return waiting.length;
}

/** The run that the group works on: running, waiting for an answer, paused or cut off. */
export async function activeRun({ ledger }: Pick<GroupNeeds, 'ledger'>, session: SessionId): Promise<RunRow | undefined> {
  return (await ledger.runs({ session, roots: true, states: ['running', 'waiting', 'paused', 'parked'], limit: 1 }))[0];
}

async function enqueue(
  needs: GroupNeeds,
  session: SessionId,
  prompt: RunId,
  { text, member, agent, person }: GroupPrompt & Partial<SessionPrompt>,
): Promise<Result<SentPrompt, Failure>> {
  const waiting = await queueOf(needs, session);
  if (waiting.length >= limits.queuedPrompts)
    return fail({
      code: 'queue_full',
      message: `${waiting.length} prompts wait already (limit queuedPrompts).`,
      fix:
        agent === undefined
          ? 'Wait until the group has worked on some, or drop them: troupe groups stop <name> --all'
          : 'Wait until some were worked on, or take some back.',
    });
  const at = await placeSoon(needs, session);
  if (at === undefined) return fail({ code: 'session_busy', message: 'The group is just being started.', fix: 'Try again.' });
  const payload = { prompt, text, ...present({ member, agent, person }) };
  const event: NewEvent = { type: 'prompt.queued', ...at, actor: 'user', payload, at: needs.clock.now() };
  await needs.ledger.append({ session, fence: null, events: [event], sync: 'power' });
  const handle = await takeNextPrompt(needs, session);
  if (!handle.ok) return handle;
  if (handle.value?.run === prompt) return ok({ kind: 'started', prompt, handle: handle.value });
  const busy = await activeRun(needs, session);
  const standing = await standingOf(needs, session, busy);
  // Whoever drove it is gone, and the prompts behind it would wait for ever: this process goes on with it.
  const resumed = busy !== undefined && standing === 'left' ? await needs.engine.resume(busy.run) : undefined;
  const goesOn = resumed?.kind === 'resumed' ? resumed.handle : handle.value;
  const before = (await queueOf(needs, session)).findIndex((one) => one.prompt === prompt);
  return ok({
    kind: 'queued',
    prompt,
    before: Math.max(0, before) + (busy === undefined ? 0 : 1),
    handle: goesOn,
    run: busy?.run,
    standing,
  });
}

async function standingOf(needs: GroupNeeds, session: SessionId, busy: RunRow | undefined): Promise<Standing> {
  if (busy !== undefined && busy.owner !== null) return 'working';
  if (busy?.state === 'paused' || (await pauseOf(needs, session)) !== undefined) return 'paused';
  if (busy === undefined) return 'working';
  return (await needs.engine.waits(busy.run)).length > 0 ? 'waiting' : 'left';
}

/** Where something from outside is written: beside the newest run of the session. */
async function placeIn({ ledger }: GroupNeeds, session: SessionId): Promise<Pick<NewEvent, 'run' | 'cause'> | undefined> {
  const [row] = await ledger.runs({ session, roots: true, limit: 1 });
  if (row === undefined) return undefined;
  const [started] = await ledger.read({ session, run: row.run, types: ['run.started'], limit: 1 });
  return started === undefined ? undefined : { run: row.run, cause: started.event_id };
}

/** Somebody holds the lease of the very first run, whose first events are about to come. */
async function placeSoon(needs: GroupNeeds, session: SessionId): Promise<Pick<NewEvent, 'run' | 'cause'> | undefined> {
  const until = needs.clock.elapsed() + limits.leaseMs;
  for (;;) {
    const place = await placeIn(needs, session);
    if (place !== undefined || needs.clock.elapsed() > until) return place;
    await sleep(needs.clock, LOOK_AGAIN_MS);
  }
}

async function startPlain(
  { engine, workspace }: GroupNeeds,
  session: SessionId,
  run: RunId,
  { text, agent, person }: SessionPrompt,
): Promise<Result<RunHandle, Failure>> {
  const origin = { kind: 'person', client: 'api', ...present({ name: person?.by }) } as const;
  const started = await engine.start({ agent, input: userText(text), session, run, workspace, origin });
  return started.kind === 'refused' ? fail(started.error) : ok(started.handle);
}

async function start(
  needs: GroupNeeds,
  group: SavedGroup,
  run: RunId,
  { text, member: name, person }: GroupPrompt,
): Promise<Result<RunHandle, Failure>> {
  const made = await prepareWorktrees(needs, group);
  if (!made.ok) return made;
  const member = group.members.find((one) => one.name === name);
  const session = group.session as SessionId;
  const started = await needs.engine.start({
    agent: member?.agent ?? group.agent,
    input: userText(text),
    session,
    run,
    model: member?.model,
    ...workspacesFor(needs, group, member?.name, person),
  });
  if (started.kind === 'refused') return fail(started.error);
  await needs.ledger.pin(session, true);
  // It may have been deleted since it was looked up: then nobody works for it any more.
  if (!(await readOrganisation(needs.ledger)).groups.has(group.group)) await needs.engine.cancel(run, 'the group was deleted');
  return ok(started.handle);
}

/** Those that a crash kept from being made, or that somebody removed. */
async function prepareWorktrees(needs: GroupNeeds, group: SavedGroup): Promise<Result<void, Failure>> {
  const { repo, worktrees } = group;
  if (repo === undefined || worktrees.length === 0) return ok(undefined);
  return await changeOrganisation<void>(needs, () =>
    ok({ changes: [], value: undefined, whileHeld: () => makeWorktrees(repo, worktrees, needs.env) }),
  );
}

function workspacesFor(
  { workspace }: GroupNeeds,
  { repo, worktrees }: SavedGroup,
  member: string | undefined,
  person: SaidBy | undefined,
): Pick<StartRequest, 'workspace' | 'origin'> {
  const place = (path: string): string => (repo === undefined ? path : workspaceIn(path, repo, workspace));
  const own = worktrees.find((one) => one.member === undefined || one.member === member);
  const isolated = worktrees.flatMap((one) => (one.member === undefined ? [] : [[one.member, place(one.path)] as const]));
  return {
    workspace: own === undefined ? workspace : place(own.path),
    origin: {
      kind: 'group',
      ...present({ member, person, workspaces: isolated.length === 0 ? undefined : Object.fromEntries(isolated) }),
    },
  };
}

function memberRefusal({ members, name }: SavedGroup, member: string | undefined): Failure | undefined {
  const found = members.find((one) => one.name === member);
  if (member === undefined || found?.role === 'worker') return undefined;
  const workers = members.filter(({ role }) => role === 'worker').map((one) => one.name);
  const message =
    found === undefined
      ? `There is no member "${member}" in ${name}.`
      : `${member} is the ${found.role} of ${name}: it is spoken to through the group.`;
  return { code: 'unknown_member', message, fix: `The workers are: ${workers.join(', ')}` };
}
