/**
 * Writes a preset back as a Squad team. It compares with what the files say now and changes only what differs, so a team that
 * was read and not changed leaves every byte in place. Nothing is deleted: histories, unknown files and sections, members who
 * do not work and those who left all stay. Each file is replaced at once, the roster last, so that it never names what is not
 * there.
 */
import { join } from 'node:path';
import { fail, ok, type Result } from '../../base/result.ts';
import { type GroupPreset, type PresetWorker, plainName, roleOf } from '../presets/preset.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';
import { growsAt } from '../text/newest-entries.ts';
import type { ReadFailure } from '../text/read-text.ts';
import { writeText } from '../text/write-text.ts';
import { plainText, readCharter } from './charter.ts';
import { withOverrides } from './config.ts';
import { findSquadFolder, readSquadFile, SQUAD_FOLDERS, type SquadFolder, TEAM_FILE } from './folder.ts';
import { mergeSections } from './merge.ts';
import { COORDINATOR_CHARTERS, presetOfSquad, readSquadContent, type SquadContent, type SquadOptions } from './read.ts';
import { isWorker } from './roster.ts';
import { newTeamFile, updatedTeamFile, type WantedMember } from './team-file.ts';

export interface SquadWritten {
  readonly folder: string;
  /** Relative to the project; empty when the files said it all already. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

export async function writeSquad(
  root: string,
  preset: GroupPreset,
  options: SquadOptions = {},
): Promise<Result<SquadWritten, ReadFailure>> {
  const found = await findSquadFolder(root);
  if (found.folder === undefined && found.warnings.length > 0) {
    return fail({ message: `The team is not written:\n${found.warnings.map(formatDiagnostic).join('\n')}` });
  }
  const [newName] = SQUAD_FOLDERS;
  const folder = found.folder ?? { root, name: newName, path: join(root, newName) };
  const squad = await readSquadContent(folder);
  const files = await changedFiles(folder, squad, preset, options, found.folder === undefined);
  if (!files.ok) return files;
  const written: string[] = [];
  for (const [file, text] of files.value) {
    const result = await writeText(root, join(folder.path, file), text);
    if (!result.ok) return fail({ ...result.error, message: `${folder.name}/${file} ${result.error.message}` });
    written.push(`${folder.name}/${file}`);
  }
  return ok({ folder: folder.path, files: written, warnings: [...silentNames(preset), ...lostRights(preset)] });
}

const silentNames = ({ workers }: GroupPreset): readonly string[] =>
  workers
    .filter(({ name }) => !isWorker({ name, status: '' }))
    .map(({ name }) => `"${name}" is the name of somebody who gets no tasks in Squad: give the worker another one`);

/** Squad has no word for them: whoever takes the team from these files works without. */
const lostRights = ({ workers }: GroupPreset): readonly string[] =>
  workers.flatMap(({ name, permissions, tools }) => {
    const keys = [...(permissions === undefined ? [] : ['permissions']), ...(tools === undefined ? [] : ['tools'])];
    return keys.length === 0 ? [] : [`the ${keys.join(' and ')} of "${name}" are not in these files: Squad cannot say them`];
  });

/** What is to be written, in this order. */
async function changedFiles(
  folder: SquadFolder,
  squad: SquadContent,
  preset: GroupPreset,
  options: SquadOptions,
  isNew: boolean,
): Promise<Result<ReadonlyMap<string, string>, ReadFailure>> {
  const now = presetOfSquad(squad, options).preset;
  const members = wantedMembers(squad, preset);
  const files = new Map<string, string>();
  const update = async (file: string, change: (existing: string | undefined) => string): Promise<ReadFailure | undefined> => {
    const existing = await readSquadFile(folder, file, { keepMark: true });
    if (!existing.ok) return { ...existing.error, message: `${folder.name}/${file} ${existing.error.message}` };
    const text = change(existing.value);
    if (text !== (existing.value ?? '')) files.set(file, text);
    return undefined;
  };
  const failures = [
    ...(await updateCharters(update, now, preset, members)),
    await updateContext(update, 'decisions.md', now.sharedContext, preset.sharedContext),
    await updateContext(update, 'routing.md', now.routingContext, preset.routingContext),
    await updateModels(update, squad, now, preset, members),
    await update(TEAM_FILE, (text) =>
      isNew || text === undefined ? newTeamFile(preset, members) : updatedTeamFile(text, preset, members),
    ),
  ];
  const failure = failures.find((one) => one !== undefined);
  return failure === undefined ? ok(files) : fail(failure);
}

type Update = (file: string, change: (existing: string | undefined) => string) => Promise<ReadFailure | undefined>;

interface Placed extends WantedMember {
  readonly worker: PresetWorker;
  /** Where its charter is or goes to, relative to the folder. */
  readonly charterFile: string;
}

function wantedMembers(squad: SquadContent, preset: GroupPreset): readonly Placed[] {
  const taken = new Set(squad.members.flatMap(({ charterFile }) => charterFile ?? []));
  const names = new Set<string>();
  return preset.workers.map((worker) => {
    const name = freeName(withoutTeam(worker.name, preset.name), names);
    const existing = squad.members.find((member) => sameName(member.name, name) || sameName(member.name, worker.name));
    const charterFile = existing?.charterFile ?? freeFile(existing?.name ?? name, taken);
    const hasCharter = worker.charter !== undefined || existing?.content !== undefined;
    return {
      worker,
      name: existing?.name ?? name,
      role: worker.role ?? (existing === undefined ? roleOf(worker) : undefined),
      charter: hasCharter ? `${squad.folder.name}/${charterFile}` : undefined,
      charterFile,
      existing,
    };
  });
}

const sameName = (one: string, other: string): boolean => (plainName(one) || one) === (plainName(other) || other);

/** `Code Review Team-worker-1` of the team `Code Review Team` is `worker-1`. */
export function withoutTeam(name: string, team: string): string {
  const rest = name.toLowerCase().startsWith(team.toLowerCase()) ? name.slice(team.length) : '';
  const bare = /^[\s:_./-]+(\S.*)$/su.exec(rest)?.[1];
  return (bare ?? name).replaceAll(/\s+/g, ' ').trim();
}

function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(plainName(name) || name); count += 1) name = `${wanted}-${count}`;
  taken.add(plainName(name) || name);
  return name;
}

const FOLDER_CHARACTERS = 60;

function freeFile(name: string, taken: Set<string>): string {
  const wanted = Array.from(plainName(name) || 'member')
    .slice(0, FOLDER_CHARACTERS)
    .join('');
  let file = `agents/${wanted}/charter.md`;
  for (let count = 2; taken.has(file); count += 1) file = `agents/${wanted}-${count}/charter.md`;
  taken.add(file);
  return file;
}

async function updateCharters(
  update: Update,
  now: GroupPreset,
  preset: GroupPreset,
  members: readonly Placed[],
): Promise<readonly (ReadFailure | undefined)[]> {
  const failures: (ReadFailure | undefined)[] = [];
  for (const { worker, existing, charterFile } of members) {
    const { charter } = worker;
    if (charter === undefined || existing?.content?.text === plainText(charter)) continue;
    failures.push(await update(charterFile, (text) => mergedCharter(text, charter)));
  }
  const { prompt } = preset.orchestrator;
  if (prompt === undefined || plainText(prompt) === now.orchestrator.prompt) return failures;
  const [file] = COORDINATOR_CHARTERS;
  return [...failures, await update(file, (text) => mergedCharter(text, prompt))];
}

/** What was beyond the limit of what is read goes on after what was read. */
function mergedCharter(existing: string | undefined, charter: string): string {
  if (existing === undefined || existing.trim() === '') return `${charter.trim()}\n`;
  const { text: shown, cut } = readCharter(existing);
  const unseen = cut ? plainText(existing).slice(shown.length) : '';
  const goesOn = unseen !== '' && lastHeading(charter) === lastHeading(shown);
  return mergeSections(existing, goesOn ? `${charter}${unseen}` : charter, { deepest: 2, added: 'end', opening: 'replace' });
}

const lastHeading = (text: string): string => text.split(/\r?\n/).findLast((line) => /^ {0,3}##? /.test(line)) ?? '';

async function updateContext(
  update: Update,
  file: string,
  now: string | undefined,
  wanted: string | undefined,
): Promise<ReadFailure | undefined> {
  if (wanted === undefined || plainText(wanted) === '' || plainText(wanted) === now) return undefined;
  return await update(file, (text) => {
    if (text === undefined || text.trim() === '') return `${wanted.trim()}\n`;
    return mergeSections(text, wanted, { deepest: 3, added: growsAt(text) ?? 'end', opening: 'add' });
  });
}

/** Only for whom the files would give another model. */
async function updateModels(
  update: Update,
  squad: SquadContent,
  now: GroupPreset,
  preset: GroupPreset,
  members: readonly Placed[],
): Promise<ReadFailure | undefined> {
  const models = new Map<string, string | undefined>();
  if (now.orchestrator.model !== preset.orchestrator.model) models.set('coordinator', preset.orchestrator.model);
  for (const { worker, name } of members) {
    const before = now.workers.find((one) => sameName(one.name, name))?.model;
    const isKnown = now.workers.some((one) => sameName(one.name, name));
    const inherited = isKnown ? before : squad.config.defaultModel;
    if (inherited !== worker.model) models.set(name, worker.model);
  }
  if (models.size === 0) return undefined;
  const broken = squad.warnings.find(({ file }) => file.endsWith('/config.json'));
  if (broken !== undefined) return { message: `${broken.file} ${broken.message}`, fix: 'Correct the file first.' };
  return await update('config.json', () => withOverrides(squad.config, models));
}
