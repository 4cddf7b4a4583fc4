/**
 * Reads a repository's Squad team into a preset. What is missing or odd is a warning, never a failure: files of other versions
 * and hands still give a team. Nothing in the files makes Troupe read anything outside the folder, or run anything.
 */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { type KnownModel, withKnownModels } from '../presets/models.ts';
import { type GroupPreset, type PresetWorker, plainName } from '../presets/preset.ts';
import { type Diagnostic, warningAt } from '../text/diagnostics.ts';
import { newestEntries } from '../text/newest-entries.ts';
import { type Charter, plainText, readCharter } from './charter.ts';
import { modelOf, NO_CONFIG, readSquadConfig, type SquadConfig } from './config.ts';
import { agentFolders, findSquadFolder, pathInFolder, problem, readSquadFile, type SquadFolder, TEAM_FILE } from './folder.ts';
import { isWorker, type Roster, type RosterMember, readRoster } from './roster.ts';

export interface SquadReading {
  /** Without it there is no team, or it has no workers. */
  readonly team?: { readonly folder: SquadFolder; readonly preset: GroupPreset } | undefined;
  readonly warnings: readonly Diagnostic[];
}

export interface SquadOptions {
  /** Without it models are taken at their word. */
  readonly knownModel?: KnownModel | undefined;
}

export async function readSquad(root: string, options: SquadOptions = {}): Promise<SquadReading> {
  const found = await findSquadFolder(root);
  if (found.folder === undefined) return { warnings: found.warnings };
  const { folder } = found;
  const squad = await readSquadContent(folder);
  const settled = presetOfSquad(squad, options);
  const warnings = [...found.warnings, ...squad.warnings, ...settled.warnings];
  if (settled.preset.workers.length > 0) return { team: { folder, preset: settled.preset }, warnings };
  const empty = warningAt({ file: `${folder.name}/${TEAM_FILE}`, line: 1, column: 1 }, 'the team has no members that work yet');
  return { warnings: [...warnings, empty] };
}

export interface SquadMember extends RosterMember {
  /** Relative to the folder: where the charter is, or would be. */
  readonly charterFile: string | undefined;
  readonly content: Charter | undefined;
}

/** Everything that the files say, also of those who do not work. */
export interface SquadContent {
  readonly folder: SquadFolder;
  readonly roster: Roster;
  readonly members: readonly SquadMember[];
  readonly coordinator: Charter | undefined;
  readonly config: SquadConfig;
  readonly decisions: string | undefined;
  readonly routing: string | undefined;
  readonly warnings: readonly Diagnostic[];
}

export const COORDINATOR_CHARTERS = ['agents/_coordinator/charter.md', 'agents/coordinator/charter.md'] as const;

export async function readSquadContent(folder: SquadFolder): Promise<SquadContent> {
  const warnings: Diagnostic[] = [];
  const read = async (file: string, line?: number): Promise<string | undefined> => {
    const text = await readSquadFile(folder, file);
    if (text.ok) return text.value;
    warnings.push(problem(`${folder.name}/${file}`, text.error, line));
    return undefined;
  };
  const roster = readRoster((await read(TEAM_FILE)) ?? '', `${folder.name}/${TEAM_FILE}`);
  warnings.push(...roster.warnings);
  const folders = await agentFolders(folder);
  const members: SquadMember[] = [];
  for (const member of roster.members.slice(0, 2 * limits.groupWorkers)) {
    members.push(await withCharter(folder, folders, member, read, warnings));
  }
  warnings.push(...withoutRow(folder, folders, members));
  const config = configIn(folder, await read('config.json'), warnings);
  const coordinator = (await read(COORDINATOR_CHARTERS[0])) ?? (await read(COORDINATOR_CHARTERS[1]));
  return {
    folder,
    roster,
    members,
    config,
    coordinator: coordinator === undefined || coordinator.trim() === '' ? undefined : readCharter(coordinator),
    decisions: await read('decisions.md'),
    routing: await read('routing.md'),
    warnings,
  };
}

/** The charter where the roster says, else where such charters are. A path that leads out is refused, and so is a link. */
async function withCharter(
  folder: SquadFolder,
  folders: readonly string[],
  member: RosterMember,
  read: (file: string, line?: number) => Promise<string | undefined>,
  warnings: Diagnostic[],
): Promise<SquadMember> {
  const place = { file: `${folder.name}/${TEAM_FILE}`, line: member.line, column: 1 };
  const said = member.charter === undefined ? undefined : pathInFolder(folder, member.charter);
  if (member.charter !== undefined && said === undefined) {
    const fix = `Charters are inside ${folder.name}.`;
    warnings.push(warningAt(place, `the charter of "${member.name}" leads out of the folder and is not read`, fix));
    return { ...member, charterFile: undefined, content: undefined };
  }
  const own = folders.find((name) => plainName(name) === plainName(member.name));
  const usual = own === undefined ? undefined : `agents/${own}/charter.md`;
  for (const file of new Set([said, usual].filter((one) => one !== undefined))) {
    const text = await read(file, member.line);
    if (text !== undefined && text.trim() !== '') return { ...member, charterFile: file, content: readCharter(text) };
  }
  if (said !== undefined && isWorker(member)) {
    warnings.push(warningAt(place, `the charter of "${member.name}" is not there: its role is all that is known of it`));
  }
  return { ...member, charterFile: said ?? usual, content: undefined };
}

/** Somebody who is not in the roster takes no part, but is not forgotten silently either. */
function withoutRow(folder: SquadFolder, folders: readonly string[], members: readonly SquadMember[]): readonly Diagnostic[] {
  const known = new Set(members.flatMap(({ name, charterFile }) => [plainName(name), charterFile?.split('/')[1] ?? '']));
  const strangers = folders.filter((name) => !known.has(plainName(name)) && !known.has(name) && isWorker({ name, status: '' }));
  const place = { file: `${folder.name}/${TEAM_FILE}`, line: 1, column: 1 };
  const fix = 'Add a row under "## Members" if it should take part.';
  return strangers.map((name) => warningAt(place, `agents/${name} has no row in the roster and takes no part`, fix));
}

function configIn(folder: SquadFolder, text: string | undefined, warnings: Diagnostic[]): SquadConfig {
  if (text === undefined) return NO_CONFIG;
  const config = readSquadConfig(text);
  if (config.ok) return config.value;
  warnings.push(problem(`${folder.name}/config.json`, { message: config.error }));
  return NO_CONFIG;
}

export function presetOfSquad(
  squad: SquadContent,
  options: SquadOptions,
): { readonly preset: GroupPreset; readonly warnings: readonly Diagnostic[] } {
  const { folder, roster, members, config, coordinator } = squad;
  const place = { file: `${folder.name}/${TEAM_FILE}`, line: 1, column: 1 };
  const workers = members.filter(isWorker);
  const kept = workers.slice(0, limits.groupWorkers);
  const model = modelOf(config, ['coordinator', 'squad'], coordinator?.model);
  const preset: GroupPreset = {
    name: roster.title ?? 'Squad Team',
    description: roster.tagline ?? '',
    mode: roster.mode ?? 'reflect',
    orchestrator: {
      ...present({ model, prompt: coordinator?.text }),
    },
    workers: kept.map((member) => workerOf(member, config)),
    ...contextOf('sharedContext', squad.decisions, 'end'),
    ...contextOf('routingContext', squad.routing, 'top'),
    source: { tier: 'repo', path: folder.path },
  };
  const settled = options.knownModel === undefined ? { preset, warnings: [] } : withKnownModels(preset, options.knownModel);
  const cut = `only the first ${limits.groupWorkers} members take part (limit groupWorkers)`;
  const warnings = [...settled.warnings, ...(kept.length === workers.length ? [] : [cut])];
  return { preset: settled.preset, warnings: warnings.map((message) => warningAt(place, message)) };
}

function workerOf(member: SquadMember, config: SquadConfig): PresetWorker {
  const { name, content } = member;
  const role = member.role === '' ? content?.role : member.role;
  const model = modelOf(config, [name], content?.model ?? member.model);
  return {
    name,
    ...present({ role, model, charter: content?.text }),
  };
}

function contextOf<Key extends string>(
  key: Key,
  content: string | undefined,
  undated: 'top' | 'end',
): { [Each in Key]?: string } {
  const text = plainText(content ?? '');
  if (text === '') return {};
  const fitting = newestEntries(text, limits.contextCharacters, undated).trim();
  return { [key]: fitting } as { [Each in Key]?: string };
}
