/**
 * Groups that last: made, renamed, moved, pinned, put in order and deleted. All of it is events in the ledger. Deleting a group
 * closes its members for good; deleting a folder only moves what lies in it.
 */

import type { AgentDefinition } from '../agents/definition/definition.ts';
import { plainName } from '../agents/presets/preset.ts';
import { suggest } from '../base/did-you-mean.ts';
import type { Environment } from '../base/environment.ts';
import type { Ids, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Engine } from '../engine/port.ts';
import type { Failure } from '../events/catalogue.ts';
import type { WorktreeStrategy } from '../events/organisation.ts';
import { DEFAULT_FOLDER, type Folder, groupOfSession, type Organisation, type SavedGroup } from '../projections/groups.ts';
import { agentsOfGroup, type FindAgent, kept, membersOf } from './agents.ts';
import {
  changeOrganisation,
  type OrganisationChange,
  type OrganisationDecision,
  type OrganisationNeeds,
  readOrganisation,
} from './organisation.ts';
import { changedWorktrees, makeWorktrees, planWorktrees, removeWorktrees, repositoryOf } from './worktrees.ts';

export interface GroupNeeds extends OrganisationNeeds {
  readonly engine: Engine;
  readonly ids: Ids;
  readonly env: Environment;
  /** Where state of the project lives. */
  readonly home: string;
  readonly workspace: string;
  readonly agent: FindAgent;
}

export interface NewGroup {
  readonly name: string;
  /** The agent that declares the group. */
  readonly agent: AgentDefinition;
  /** Agents that come with it and are in no file. */
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly preset?: string | undefined;
  readonly strategy?: WorktreeStrategy | undefined;
  readonly folder?: string | undefined;
}

export type Found = { readonly kind: 'group'; readonly group: SavedGroup } | { readonly kind: 'folder'; readonly folder: Folder };

export async function createGroup(needs: GroupNeeds, request: NewGroup): Promise<Result<SavedGroup, Failure>> {
  const { agent, name, strategy = 'shared' } = request;
  if (agent.group === undefined)
    return fail({
      code: 'not_a_group',
      message: `${agent.name} declares no group.`,
      fix: 'Give an agent with a `group` key, or a preset.',
    });
  const brought = new Map((request.agents ?? []).map((one) => [one.name, one]));
  const agents = await agentsOfGroup(agent, async (wanted) => brought.get(wanted) ?? (await needs.agent(wanted)));
  if (!agents.ok) return agents;
  const repo = await repositoryOf(needs.workspace, needs.env);
  if (strategy !== 'shared' && !repo.ok) return repo;
  const members = membersOf(agent);
  const { mode } = agent.group;
  const session = needs.ids.session();
  const group = session.replace(/^ses_/, 'grp_');
  const workers = wordsFor(members.filter(({ role }) => role === 'worker').map((member) => member.name));
  const word = plainName(name) || 'group';
  const worktrees = planWorktrees({ strategy, home: needs.home, group, word, workers });
  const payload = {
    ...{ group, name, session, agent: agent.name, mode, members, agents: agents.value.map(kept), strategy, worktrees },
    ...present({ preset: request.preset }),
    ...(repo.ok ? { repo: repo.value } : {}),
  };
  const saved = await changeOrganisation(needs, (state) => {
    const refusal = nameRefusal(state, name) ?? tooMany(state);
    if (refusal !== undefined) return fail(refusal);
    const folder = folderNamed(state, request.folder ?? DEFAULT_FOLDER);
    if (!folder.ok) return folder;
    return ok({
      changes: [{ type: 'group.created', payload: { ...payload, folder: folder.value.folder } }],
      value: undefined,
      whileHeld: () => (repo.ok ? makeWorktrees(repo.value, worktrees, needs.env) : Promise.resolve(ok(undefined))),
    });
  });
  // A group without its worktrees is of no use, and nobody has seen it yet.
  if (!saved.ok && saved.error.code === 'worktree') await deleteFound(needs, group, true);
  return saved.ok ? findGroup(await readOrganisation(needs.ledger), group) : saved;
}

export function createFolder(needs: OrganisationNeeds & { readonly ids: Ids }, name: string): Promise<Result<Folder, Failure>> {
  return changeOrganisation<Folder>(needs, (state) => {
    const refusal = nameRefusal(state, name);
    if (refusal !== undefined) return fail(refusal);
    const folder = { folder: needs.ids.session().replace(/^ses_/, 'fld_'), name };
    return ok({ changes: [{ type: 'folder.created', payload: folder }], value: folder });
  });
}

/** A group or folder by its name or id. */
export function findIn(state: Organisation, word: string): Result<Found, Failure> {
  const group = state.groups.get(word) ?? [...state.groups.values()].find(({ name }) => name === word);
  if (group !== undefined) return ok({ kind: 'group', group });
  const folder = folderNamed(state, word);
  if (folder.ok) return ok({ kind: 'folder', folder: folder.value });
  const names = [...state.groups.values()].map(({ name }) => name);
  return fail({
    code: 'unknown_group',
    message: `There is no group "${word}"`,
    fix: suggest(word, names, 'groups') ?? 'make one: troupe groups create <name> --agent <agent>',
  });
}

export function findGroup(state: Organisation, word: string): Result<SavedGroup, Failure> {
  const found = findIn(state, word);
  if (!found.ok) return found;
  if (found.value.kind === 'group') return ok(found.value.group);
  return fail({ code: 'usage', message: `"${word}" is a folder, not a group of agents` });
}

export function rename(needs: OrganisationNeeds, word: string, name: string): Promise<Result<Found, Failure>> {
  return changeFound(needs, word, (state, found) => {
    const refusal = nameRefusal(state, name);
    if (refusal !== undefined) return fail(refusal);
    if (found.kind === 'group') return ok([{ type: 'group.renamed', payload: { group: found.group.group, name } }]);
    if (found.folder.folder === DEFAULT_FOLDER) return fail({ code: 'usage', message: 'The default folder keeps its name' });
    return ok([{ type: 'folder.renamed', payload: { folder: found.folder.folder, name } }]);
  });
}

export interface GroupPlace {
  readonly folder?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly order?: number | undefined;
}

/** Puts a group into a folder, to the top, or to a place among the others. */
export function placeGroup(needs: OrganisationNeeds, word: string, to: GroupPlace): Promise<Result<Found, Failure>> {
  return changeFound(needs, word, (state, found) => {
    if (found.kind === 'folder') return fail({ code: 'usage', message: 'Folders do not lie in folders' });
    const { group } = found.group;
    const folder = to.folder === undefined ? undefined : folderNamed(state, to.folder);
    if (folder?.ok === false) return folder;
    const changes: OrganisationChange[] = [];
    if (folder !== undefined) changes.push({ type: 'group.moved', payload: { group, folder: folder.value.folder } });
    if (to.pinned !== undefined) changes.push({ type: 'group.pinned', payload: { group, pinned: to.pinned } });
    if (to.order !== undefined) changes.push({ type: 'group.ordered', payload: { group, order: to.order } });
    return ok(changes);
  });
}

export function moveSession(needs: OrganisationNeeds, session: string, to: string): Promise<Result<Folder, Failure>> {
  return changeOrganisation<Folder>(needs, (state) => {
    const folder = folderNamed(state, to);
    if (!folder.ok) return folder;
    const owner = groupOfSession(state, session);
    if (owner !== undefined)
      return fail({ code: 'usage', message: `This session belongs to the group ${owner.name}; move the group instead` });
    return ok({
      changes: [{ type: 'session.moved', payload: { session, folder: folder.value.folder } }],
      value: folder.value,
    });
  });
}

export interface Deleted {
  readonly found: Found;
  /** Branches with commits of their own, which were kept. */
  readonly branches: readonly string[];
}

/** `force`: also when a worktree holds changes that are not committed. */
export async function deleteFound(needs: GroupNeeds, word: string, force: boolean): Promise<Result<Deleted, Failure>> {
  const deleted = await changeFound(needs, word, async (_state, found) => {
    if (found.kind === 'folder') {
      const { folder } = found.folder;
      if (folder === DEFAULT_FOLDER) return fail({ code: 'usage', message: 'The default folder cannot be deleted' });
      return ok([{ type: 'folder.deleted', payload: { folder } }]);
    }
    const changed = force ? [] : await changedWorktrees(found.group.worktrees, needs.env);
    if (changed.length > 0)
      return fail({
        code: 'uncommitted',
        message: `There is work that is not committed in ${changed.map(({ path }) => path).join(', ')}`,
        fix: 'commit it, or give --force to throw it away',
      });
    return ok([{ type: 'group.deleted', payload: { group: found.group.group } }]);
  });
  if (!deleted.ok) return deleted;
  if (deleted.value.kind === 'group') await endRuns(needs, deleted.value.group.session as SessionId);
  return ok({ found: deleted.value, branches: await cleanUp(needs) });
}

/** Nobody goes on working for a group that is gone. */
async function endRuns({ ledger, engine, person }: GroupNeeds, session: SessionId): Promise<void> {
  const open = await ledger.runs({ session, roots: true, states: ['running', 'waiting', 'paused', 'parked'] });
  for (const { run } of open) await engine.cancel(run, 'the group was deleted', person);
  await ledger.pin(session, false);
}

/** Removes what deleted groups left on the disk, also those whose deletion was cut off. */
async function cleanUp(needs: GroupNeeds): Promise<readonly string[]> {
  const cleaned = await changeOrganisation<readonly string[]>(needs, async (state) => {
    const changes: OrganisationChange[] = [];
    const branches: string[] = [];
    for (const group of state.uncleaned) {
      const saved = state.deleted.get(group);
      if (saved?.repo === undefined) continue;
      const kept = await removeWorktrees(saved.repo, saved.worktrees, needs.env);
      if (!kept.ok) continue;
      branches.push(...kept.value);
      changes.push({ type: 'group.cleaned', payload: { group, ...(kept.value.length === 0 ? {} : { kept: [...kept.value] }) } });
    }
    return ok({ changes, value: branches });
  });
  return cleaned.ok ? cleaned.value : [];
}

function changeFound(
  needs: OrganisationNeeds,
  word: string,
  change: (
    state: Organisation,
    found: Found,
  ) => Result<OrganisationChange[], Failure> | Promise<Result<OrganisationChange[], Failure>>,
): Promise<Result<Found, Failure>> {
  return changeOrganisation<Found>(needs, async (state): Promise<Result<OrganisationDecision<Found>, Failure>> => {
    const found = findIn(state, word);
    if (!found.ok) return found;
    const changes = await change(state, found.value);
    return changes.ok ? ok({ changes: changes.value, value: found.value }) : changes;
  });
}

function folderNamed(state: Organisation, word: string): Result<Folder, Failure> {
  const folder = state.folders.get(word) ?? [...state.folders.values()].find(({ name }) => name === word);
  if (folder !== undefined) return ok(folder);
  return fail({
    code: 'unknown_folder',
    message: `There is no folder "${word}"`,
    fix: `make it: troupe groups create "${word}"`,
  });
}

/** Groups and folders share their names, so that a word always means one of them. */
function nameRefusal(state: Organisation, name: string): Failure | undefined {
  if (name.trim() === '' || name.length > limits.groupNameCharacters || /\p{Cc}/u.test(name))
    return {
      code: 'usage',
      message: `A name has 1 to ${limits.groupNameCharacters} characters, all on one line (limit groupNameCharacters)`,
    };
  if (!findIn(state, name).ok) return undefined;
  return { code: 'name_taken', message: `There is "${name}" already`, fix: 'choose another name, or delete it first' };
}

function tooMany(state: Organisation): Failure | undefined {
  if (state.groups.size < limits.savedGroups) return undefined;
  return { code: 'limit', message: `There are ${state.groups.size} groups already (limit savedGroups)`, fix: 'delete some' };
}

function wordsFor(names: readonly string[]): { readonly name: string; readonly word: string }[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const plain = plainName(name) || 'worker';
    let word = plain;
    for (let count = 2; taken.has(word); count += 1) word = `${plain}-${count}`;
    taken.add(word);
    return { name, word };
  });
}
