/** `troupe groups create|list|show|rename|move|delete|save`: keeping groups. */
import { dirname } from 'node:path';
import type { PresetContent } from '../../agents/presets/preset.ts';
import { codeOf, TroupeError } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import type { WorktreeStrategy } from '../../events/organisation.ts';
import { endedText } from '../../events/verification-text.ts';
import { foundValue } from '../../front/groups/group-acts.ts';
import { groupOutline, type ListedGroups, originOfPreset, readGroup, readGroups } from '../../front/groups/group-rows.ts';
import {
  createFolder,
  createGroup,
  deleteFound,
  findGroup,
  findIn,
  moveSession,
  type NewGroup,
  placeGroup,
  rename,
} from '../../groups/groups.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { presetOfGroup } from '../../groups/preset.ts';
import { userFolder } from '../../project/config.ts';
import type { Project } from '../../project/project.ts';
import { DEFAULT_FOLDER, type SavedGroup } from '../../projections/groups.ts';
import { firstLine } from '../../projections/readable.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { findRun } from '../drive/find-run.ts';
import type { JsonCommand, JsonOf } from '../json/contract.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { must } from './groups-send.ts';

export interface CreateOptions extends JsonOption {
  readonly preset?: string | undefined;
  readonly agent?: string | undefined;
  readonly worktrees?: WorktreeStrategy | undefined;
  readonly folder?: string | undefined;
}

export interface MoveOptions extends JsonOption {
  readonly pin?: boolean | undefined;
  readonly unpin?: boolean | undefined;
  readonly order?: number | undefined;
}

export interface DeleteOptions extends JsonOption {
  readonly force?: boolean | undefined;
}

export interface SaveOptions extends JsonOption {
  readonly as?: string | undefined;
  /** Into the repository, for everybody who works on it. */
  readonly squad?: boolean | undefined;
}

const TEXT_CHARACTERS = 80;

export async function groupsCreateCommand(context: CommandContext, name: string, options: CreateOptions): Promise<ExitCode> {
  const { preset, agent, worktrees, folder } = options;
  if (preset !== undefined && agent !== undefined) throw usageError('A group has one origin', 'give --preset or --agent');
  const agentFile = agent === undefined ? undefined : await agentFileOf(context.cwd, agent);
  return withProject(context, { flags: { agentFile } }, async (project) => {
    if (preset === undefined && agent === undefined) {
      const made = must(await createFolder(project.groups, name));
      say(context, options, ['groups create', { kind: 'folder', ...made }], `folder ${safeLine(name)}`);
      return exitCodes.completed;
    }
    const origin = preset === undefined ? await fromAgent(project, agent ?? '', agentFile) : await fromPreset(context, preset);
    const request = { ...origin, name, folder, strategy: worktrees ?? origin.strategy };
    const made = must(await createGroup(project.groups, request));
    const members = made.members.map((member) => safeLine(member.name)).join(', ');
    const value = { kind: 'group', ...groupOutline(made) } as const;
    say(context, options, ['groups create', value], `group ${safeLine(name)} (${made.mode}): ${members}`);
    for (const one of made.worktrees) context.terminal.progress.line(`worktree ${safeLine(one.path)} on ${safeLine(one.branch)}`);
    return exitCodes.completed;
  });
}

type Origin = Omit<NewGroup, 'name'>;

async function fromAgent(project: Project, word: string, file: string | undefined): Promise<Origin> {
  const files = { ...(await project.agents()), root: project.root, variables: Object.keys(project.config.vars) };
  return { agent: (await findAgent(files, word, file)).definition };
}

async function fromPreset(context: CommandContext, word: string): Promise<Origin> {
  const { presetNamed, presetsOf } = await import('./presets.ts');
  const catalogue = await presetsOf(context);
  const preset = presetNamed(catalogue, word);
  const about = catalogue.warnings.filter((warning) => warning.includes(`"${preset.name}"`));
  for (const warning of about) context.terminal.progress.line(`warning: ${safeLine(warning)}`);
  return must(originOfPreset(preset));
}

export async function groupsListCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const listed = await readRows(context);
  const { out, progress } = context.terminal;
  if (options.json) printJson(context, 'groups list', listed);
  else if (listed.groups.length === 0)
    progress.prose(`no groups yet; make one: ${callOf(context)} groups create <name> --preset <preset>`);
  else {
    const folders = new Map(listed.folders.map(({ folder, name }) => [folder, name]));
    const cells = listed.groups.map(({ name, pinned, folder, mode, members, state, queued }) => [
      `${pinned ? '* ' : ''}${safeLine(name)}`,
      safeLine(folders.get(folder) ?? ''),
      mode,
      String(members.length),
      state.replaceAll('_', ' '),
      String(queued),
    ]);
    printTable(out, ['GROUP', 'FOLDER', 'MODE', 'MEMBERS', 'STATE', 'WAITING'], cells);
  }
  return exitCodes.completed;
}

/** A project without a ledger has no groups; that is not an error. */
async function readRows(context: CommandContext): Promise<ListedGroups> {
  try {
    return await withProject(context, { readOnly: true }, readGroups);
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return { folders: [], groups: [] };
    throw error;
  }
}

export async function groupsShowCommand(context: CommandContext, name: string, options: JsonOption): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const group = must(findGroup(await readOrganisation(project.ledger), name));
    const shown = await readGroup(project, group);
    if (options.json) {
      printJson(context, 'groups show', shown);
      return exitCodes.completed;
    }
    const { state: doing, queue: waiting, runs } = shown;
    const { out } = context.terminal;
    const facts = [
      group.mode,
      doing,
      ...(group.preset === undefined ? [] : [`preset ${group.preset}`]),
      `worktrees ${group.strategy}`,
    ];
    out.line(`${out.paint.bold(safeLine(group.name))}  ${out.paint.dim(facts.map(safeLine).join(' · '))}`);
    out.line();
    printTable(
      out,
      ['MEMBER', 'ROLE', 'AGENT', 'MODEL', 'WORKS IN'],
      group.members.map((one) => memberCells(group, one)),
    );
    if (waiting.length > 0) out.line();
    for (const one of waiting) out.line(`waits: ${safeLine(firstLine(one.text, TEXT_CHARACTERS))} (${shortId(one.prompt)})`);
    if (runs.length > 0) out.line();
    for (const row of runs) out.line(`${shortId(row.run)}  ${endedText(row.state, row.verification)}  ${safeLine(row.agent)}`);
    return exitCodes.completed;
  });
}

function memberCells(group: SavedGroup, { name, role, agent, model }: SavedGroup['members'][number]): readonly string[] {
  const own = group.worktrees.find((one) => one.member === undefined || one.member === name);
  return [safeLine(name), role, safeLine(agent), safeLine(model ?? '(its own)'), safeLine(own?.branch ?? '(project)')];
}

export async function groupsRenameCommand(
  context: CommandContext,
  name: string,
  to: string,
  options: JsonOption,
): Promise<ExitCode> {
  return withProject(context, {}, async (project) => {
    const found = must(await rename(project.groups, name, to));
    say(context, options, ['groups rename', { ...foundValue(found), name: to }], `${safeLine(name)} is now ${safeLine(to)}`);
    return exitCodes.completed;
  });
}

export async function groupsMoveCommand(
  context: CommandContext,
  what: string,
  folder: string | undefined,
  options: MoveOptions,
): Promise<ExitCode> {
  const pinned = options.pin === true ? true : options.unpin === true ? false : undefined;
  const { order } = options;
  if (order !== undefined && !Number.isFinite(order)) throw usageError('--order takes a number');
  if (folder === undefined && pinned === undefined && order === undefined)
    throw usageError('Nothing to do', 'name a folder, or give --pin, --unpin or --order');
  return withProject(context, {}, async (project) => {
    const known = findIn(await readOrganisation(project.ledger), what);
    if (known.ok) {
      const found = must(await placeGroup(project.groups, what, { folder, pinned, order }));
      say(context, options, ['groups move', { ...foundValue(found), ...{ folder, pinned, order } }], `moved ${safeLine(what)}`);
      return exitCodes.completed;
    }
    if (folder === undefined) must(known);
    const { session } = await findRun(project.ledger, what);
    must(await moveSession(project.groups, session, folder ?? DEFAULT_FOLDER));
    say(context, options, ['groups move', { session, folder: folder ?? DEFAULT_FOLDER }], `moved ${session}`);
    return exitCodes.completed;
  });
}

export async function groupsDeleteCommand(context: CommandContext, name: string, options: DeleteOptions): Promise<ExitCode> {
  return withProject(context, {}, async (project) => {
    const { found, branches } = must(await deleteFound(project.groups, name, options.force === true));
    const gone =
      found.kind === 'group'
        ? `group ${safeLine(name)} and its members are closed`
        : `folder ${safeLine(name)} is gone; what lay in it is in the default one`;
    say(context, options, ['groups delete', { ...foundValue(found), deleted: true, branches }], gone);
    for (const branch of branches)
      context.terminal.progress.prose(`kept the branch ${safeLine(branch)}: it holds commits of its own`);
    return exitCodes.completed;
  });
}

export async function groupsSaveCommand(context: CommandContext, name: string, options: SaveOptions): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const group = must(findGroup(await readOrganisation(project.ledger), name));
    const preset = presetOfGroup(group, options.as ?? group.name);
    if (preset === undefined) throw usageError(`The group ${group.name} has no workers to make a preset of`);
    if (options.squad === true) return await saveAsSquad(context, project, preset, options);
    const path = await keepPreset(context, preset);
    say(context, options, ['groups save', { preset: preset.name, path }], `preset ${safeLine(preset.name)} in ${dirname(path)}`);
    return exitCodes.completed;
  });
}

/** Among the user's own presets; gives their file. */
async function keepPreset(context: CommandContext, preset: PresetContent): Promise<string> {
  const { savePresets, userPresetsFile } = await import('../../agents/presets/file.ts');
  const path = userPresetsFile(userFolder(context.terminal.env));
  const saved = await savePresets(path, [preset]);
  if (saved.ok) return path;
  const { message, fix } = saved.error;
  throw new TroupeError('io', `${path} ${message}`, { fix });
}

async function saveAsSquad(
  context: CommandContext,
  project: Project,
  preset: PresetContent,
  options: JsonOption,
): Promise<ExitCode> {
  const { writeSquad } = await import('../../agents/squad/write.ts');
  const { modelsKnownTo } = await import('../../front/project/presets.ts');
  const knownModel = modelsKnownTo(project.config, context.terminal.env);
  const written = await writeSquad(project.root, { ...preset, source: { tier: 'repo' } }, { knownModel });
  if (!written.ok) throw new TroupeError('io', written.error.message);
  const { folder, files, warnings } = written.value;
  // Others may change the team in the repository: what was saved is kept for whoever saved it, too.
  const copy = await keepPreset(context, preset);
  say(
    context,
    options,
    ['groups save', { preset: preset.name, path: folder, files, warnings, copy }],
    `${counted(files.length, 'file')} written in ${safeLine(folder)}; a copy is among your presets in ${dirname(copy)}`,
  );
  for (const warning of warnings) context.terminal.progress.line(`warning: ${safeLine(warning)}`);
  return exitCodes.completed;
}

function say<Command extends JsonCommand>(
  context: CommandContext,
  options: JsonOption,
  [command, value]: readonly [command: Command, value: JsonOf<Command>],
  line: string,
): void {
  if (options.json) printJson(context, command, value);
  else context.terminal.out.line(line);
}
