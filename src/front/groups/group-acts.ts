/**
 * What somebody does with groups from outside: makes them, prompts them, holds, stops and deletes them. Who prompted is recorded
 * with the prompt. Whoever asks does not wait for what a group works on: it goes on by itself, with what waits behind it.
 */
import { isDeepStrictEqual } from 'node:util';
import { type RunId, runIdFrom, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { RunHandle } from '../../engine/port.ts';
import { readAll } from '../../engine/record/read-all.ts';
import type { Failure } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import type { WorktreeStrategy } from '../../events/organisation.ts';
import { createFolder, createGroup, type Found, findGroup } from '../../groups/groups.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { activeRun, dropQueue, queueOf, type Standing, sendToGroup, takeNextPrompt, takePauseBack } from '../../groups/send.ts';
import type { Project } from '../../project/project.ts';
import { type Folder, ORGANISATION, type SavedGroup } from '../../projections/groups.ts';
import { type ActOutcome, type CallerAct, keyReused, type NotDone, senderOf } from '../acts.ts';
import { findNamedPreset, readPresetsOf } from '../project/presets.ts';
import { groupOutline, originOfPreset } from './group-rows.ts';

export interface GroupActing {
  readonly project: Pick<Project, 'ledger' | 'engine' | 'groups' | 'config'>;
  /** What goes on by itself and then fails is for the log. */
  onError(error: Error): void;
  /** Sees to it that what waits in a session is begun when its turn has come, whoever works there until then. */
  follow?(session: SessionId): void;
}

export interface WantedGroup {
  readonly name: string;
  readonly preset?: string | undefined;
  readonly agent?: string | undefined;
  readonly worktrees?: WorktreeStrategy | undefined;
  readonly folder?: string | undefined;
}

type MadeGroup = ({ readonly kind: 'group' } & ReturnType<typeof groupOutline>) | ({ readonly kind: 'folder' } & Folder);

export const groupRefusal = (error: Failure): NotDone => ({ ...error, why: UNKNOWN.test(error.code) ? 'unknown' : 'never' });

const UNKNOWN = /^(unknown|no)_/;

const asAct = <Value>(result: Result<Value, Failure>): Result<Value, NotDone> =>
  result.ok ? result : fail(groupRefusal(result.error));

/** What changes groups, in the name of whoever asks. */
export const groupsOf = ({ groups }: Pick<Project, 'groups'>, act: CallerAct): Project['groups'] => ({
  ...groups,
  person: senderOf(act),
});

/** A group from a preset or an agent, or a folder where neither is named. The same key makes one. */
export async function makeGroup({ project: open }: GroupActing, act: CallerAct, wanted: WantedGroup): ActOutcome<MadeGroup> {
  const project = { ...open, groups: groupsOf(open, act) };
  const before = await madeBefore(project, act, wanted.name);
  return before ?? (await makeNew(project, wanted));
}

async function makeNew(project: GroupActing['project'], wanted: WantedGroup): ActOutcome<MadeGroup> {
  const { name, preset, agent, worktrees, folder } = wanted;
  if (preset !== undefined && agent !== undefined)
    return fail({ why: 'never', code: 'usage', message: 'A group has one origin.', fix: 'Give preset or agent.' });
  if (preset === undefined && agent === undefined) {
    const made = asAct(await createFolder(project.groups, name));
    return made.ok ? ok({ kind: 'folder' as const, ...made.value }) : made;
  }
  const origin = asAct(preset === undefined ? await fromAgent(project, agent ?? '') : await fromPreset(project, preset));
  if (!origin.ok) return origin;
  const request = { ...origin.value, name, folder, strategy: worktrees ?? origin.value.strategy };
  const made = asAct(await createGroup(project.groups, request));
  return made.ok ? ok({ kind: 'group' as const, ...groupOutline(made.value) }) : made;
}

async function madeBefore(
  { ledger }: Pick<Project, 'ledger'>,
  act: CallerAct,
  name: string,
): Promise<Result<MadeGroup, NotDone> | undefined> {
  const { message } = senderOf(act);
  if (message === undefined) return undefined;
  const made = (await readAll(ledger, ORGANISATION, { types: ['group.created', 'folder.created'] })).find(
    ({ payload }) => 'message' in payload && payload.message === message,
  );
  if (made?.event_type !== 'group.created' && made?.event_type !== 'folder.created') return undefined;
  if (made.payload.name !== name) return fail(keyReused);
  if (made.event_type === 'folder.created') return ok({ kind: 'folder', folder: made.payload.folder, name });
  const group = await groupNamed({ ledger }, made.payload.group);
  return group.ok ? ok({ kind: 'group', ...groupOutline(group.value) }) : group;
}

type Origin = ReturnType<typeof originOfPreset>;

async function fromAgent({ groups }: GroupActing['project'], name: string): Promise<Origin> {
  const agent = await groups.agent(name);
  return agent === undefined ? fail({ code: 'unknown_agent', message: `There is no agent ${name}.` }) : ok({ agent });
}

async function fromPreset({ config, groups }: GroupActing['project'], word: string): Promise<Origin> {
  const preset = findNamedPreset(await readPresetsOf(config, groups.env), word);
  return preset.ok ? originOfPreset(preset.value) : preset;
}

export async function groupNamed({ ledger }: Pick<Project, 'ledger'>, name: string): Promise<Result<SavedGroup, NotDone>> {
  return asAct(findGroup(await readOrganisation(ledger), name));
}

export interface PromptedGroup {
  /** The run that answers it. */
  readonly prompt: string;
  readonly session: string;
  readonly outcome: 'started' | 'queued';
  readonly before: number;
  /** The run that the group works on; `null` when it works on nothing. */
  readonly run: string | null;
  readonly standing: Standing;
}

/** The same key prompts once: the prompt's id follows from it. */
export async function promptGroup(
  acting: GroupActing,
  { client, key }: CallerAct,
  name: string,
  wanted: { readonly text: string; readonly member?: string | undefined },
): ActOutcome<PromptedGroup> {
  const { project } = acting;
  const group = await groupNamed(project, name);
  if (!group.ok) return group;
  const session = group.value.session as SessionId;
  const prompt = key === undefined ? undefined : runIdFrom(JSON.stringify(['api prompt', client.name, key]));
  const before = prompt === undefined ? undefined : await promptedBefore(project, session, prompt, wanted.text);
  if (before !== undefined) return before;
  const person = { by: client.name, where: 'api' } as const;
  const sent = asAct(await sendToGroup(project.groups, name, { ...wanted, person, prompt }));
  if (!sent.ok) return sent;
  const { value } = sent;
  if (value.handle !== undefined) goOnWith(acting, value.handle);
  if (value.kind === 'queued') acting.follow?.(session);
  const told = { prompt: value.prompt, session, outcome: value.kind };
  return value.kind === 'started'
    ? ok({ ...told, before: 0, run: value.prompt, standing: 'working' })
    : ok({ ...told, before: value.before, run: value.run ?? null, standing: value.standing });
}

/** What a repetition finds: the run that answers it, or where it waits. */
export async function promptedBefore(
  { ledger }: Pick<Project, 'ledger'>,
  session: SessionId,
  prompt: RunId,
  text: string,
): Promise<Result<PromptedGroup, NotDone> | undefined> {
  const told = { prompt, session, before: 0, run: prompt, standing: 'working' } as const;
  const [started] = await ledger.read({ session, run: prompt, types: ['run.started'], limit: 1 });
  if (started?.event_type === 'run.started')
    return isDeepStrictEqual(started.payload.input, userText(text)) ? ok({ ...told, outcome: 'started' }) : fail(keyReused);
  const queue = await queueOf({ ledger }, session);
  const at = queue.findIndex((one) => one.prompt === prompt);
  if (at === -1) return undefined;
  if (queue[at]?.text !== text) return fail(keyReused);
  return ok({ ...told, outcome: 'queued', before: at, run: (await activeRun({ ledger }, session))?.run ?? null });
}

/** Stays with the group until nothing waits, a prompt cannot end now, or somebody else is at work. */
function goOnWith({ project, onError }: GroupActing, first: RunHandle): void {
  const work = async (): Promise<void> => {
    let handle: RunHandle | undefined = first;
    for (let round = 0; handle !== undefined && round <= limits.queuedPrompts; round += 1) {
      if ((await handle.done).kind !== 'ended') return;
      const next = await takeNextPrompt(project.groups, handle.session);
      if (!next.ok) throw new Error(`a queued prompt could not be started: ${next.error.message}`);
      handle = next.value;
    }
  };
  work().catch((error: unknown) => onError(error instanceof Error ? error : new Error(String(error))));
}

export interface SignalledGroup {
  readonly group: string;
  readonly signal: 'cancel' | 'pause';
  readonly run: string | null;
  readonly outcome: 'accepted' | 'ended' | 'unknown' | 'idle';
  readonly live: boolean;
  readonly dropped: number;
  readonly queued: number;
}

/** `all`: what waits is dropped, too. */
export async function signalSavedGroup(
  { engine, groups, ledger }: GroupActing['project'],
  name: string,
  signal: 'cancel' | 'pause',
  how: { readonly reason: string; readonly all: boolean; readonly by?: Parameters<Project['engine']['cancel']>[2] },
): ActOutcome<SignalledGroup> {
  const group = await groupNamed({ ledger }, name);
  if (!group.ok) return group;
  const session = group.value.session as SessionId;
  const dropped = how.all ? await dropQueue(groups, session, 'the group was stopped') : 0;
  const active = await activeRun(groups, session);
  const outcome = active === undefined ? undefined : await engine[signal](active.run, how.reason, how.by);
  const live = outcome?.kind === 'accepted' && outcome.live;
  const queued = (await queueOf(groups, session)).length;
  return ok({ group: name, signal, run: active?.run ?? null, outcome: outcome?.kind ?? 'idle', live, dropped, queued });
}

export interface ResumedGroup {
  readonly group: string;
  readonly run: string | null;
  readonly outcome: 'resumed' | 'idle' | 'held';
}

/** Goes on with what was left, or with what waits. */
export async function resumeGroup(acting: GroupActing, act: CallerAct, name: string): ActOutcome<ResumedGroup> {
  const { engine, groups } = acting.project;
  const group = await groupNamed(acting.project, name);
  if (!group.ok) return group;
  const session = group.value.session as SessionId;
  const active = await activeRun(groups, session);
  if (active !== undefined) {
    const resumed = await engine.resume(active.run, undefined, senderOf(act));
    if (resumed.kind === 'refused') return fail(groupRefusal(resumed.error));
    if (resumed.kind === 'resumed') goOnWith(acting, resumed.handle);
    return ok({ group: name, run: active.run, outcome: resumed.kind === 'held' ? 'held' : 'resumed' });
  }
  await takePauseBack(groups, session, senderOf(act));
  const next = asAct(await takeNextPrompt(groups, session));
  if (!next.ok) return next;
  if (next.value !== undefined) goOnWith(acting, next.value);
  return ok({ group: name, run: next.value?.run ?? null, outcome: next.value === undefined ? 'idle' : 'resumed' });
}

/** A group or a folder, for programs. */
export const foundValue = (found: Found): { readonly kind: 'group' | 'folder'; readonly id: string } =>
  found.kind === 'group' ? { kind: 'group', id: found.group.group } : { kind: 'folder', id: found.folder.folder };
