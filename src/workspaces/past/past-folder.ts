/**
 * A folder of its own, as that of a session was at one of its events: a worktree where there is a repository, a copy where there
 * is none. The source's folder is only read. Files that the session never changed are as they are now.
 */
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { workspaceFiles } from '../../tools/watch/workspace-files.ts';
import { askGit } from '../git.ts';
import type { WorkspaceOptions } from '../options.ts';
import { placeFiles } from '../place-files.ts';
import { preparePlace } from '../prepare.ts';
import { findRepository } from '../repository.ts';
import { type FileChange, type FilesAsKept, type PastFile, pastFiles } from './past-files.ts';

export interface WantedFolder {
  readonly ledger: Pick<Ledger, 'read' | 'payload'>;
  readonly session: SessionId;
  readonly position: number;
  /** Where the session works. */
  readonly workspace: string;
  /** The name of the new folder. */
  readonly name: string;
}

export interface PastFolder {
  readonly folder: string;
  readonly notes: readonly string[];
}

/** Below the places of tasks: nobody sweeps what is of no session. */
const FORKS = 'forks';

export async function makePastFolder(options: WorkspaceOptions, wanted: WantedFolder): Promise<Result<PastFolder, Failure>> {
  const { changes, notes } = await recordedChanges(wanted);
  const files = await pastFiles(changes, wanted.position, knownOf(options, wanted));
  const lost = files.flatMap((file) => ('why' in file ? [`${file.path}: ${file.why}`] : []));
  if (lost.length > 0) return fail(notAsTheyWere(lost));
  const made = await copyOf(options, wanted);
  if (!made.ok) return made;
  const wrong = await layFiles(made.value.folder, files);
  if (wrong !== undefined) return fail(wrong);
  return ok({ folder: made.value.folder, notes: [...notes, ...made.value.notes] });
}

const SHOWN = 5;

function notAsTheyWere(lost: readonly string[]): Failure {
  const more = lost.length > SHOWN ? `, and ${lost.length - SHOWN} more` : '';
  return {
    code: 'fork_files',
    message: `Not all files can be had as they were: ${lost.slice(0, SHOWN).join('; ')}${more}.`,
    fix: 'Name a folder for the fork, which is taken as it is: --in <folder>. Or fork a place where they were as they are now.',
  };
}

async function recordedChanges({ ledger, session, position }: WantedFolder) {
  const changes: FileChange[] = [];
  const notes: string[] = [];
  const elsewhere = new Set<string>();
  let [unseen, unrecorded] = [0, 0];
  for await (const event of readEvents(ledger, { session, types: ['run.started', 'file.diff', 'cli.run'] })) {
    if (event.event_type === 'run.started' && event.payload.workspace !== undefined) elsewhere.add(event.run_id);
    if (event.event_type === 'run.started' || elsewhere.has(event.run_id)) continue;
    if (event.event_type === 'cli.run') {
      const { workspace } = event.payload;
      if (event.position > position && workspace !== undefined && 'unknown' in workspace) unseen += 1;
    } else if (event.event_type === 'file.diff' && !isAbsolute(event.payload.path)) {
      const { path, before, after, diff, more = 0 } = event.payload;
      if (event.position > position) unrecorded += more;
      const whole = event.attachment_ref === null ? undefined : await ledger.payload(event.attachment_ref);
      const text = whole === undefined ? diff : new TextDecoder().decode(whole);
      changes.push({ path, before, after, diff: text, position: event.position });
    }
  }
  if (unrecorded > 0) notes.push(`${unrecorded} later changes were too many to be recorded: these files are as they are now`);
  if (unseen > 0) notes.push(`what ${unseen} later commands changed was not seen: these files are as they are now`);
  return { changes, notes };
}

function knownOf({ environment }: WorkspaceOptions, { ledger, workspace }: WantedFolder): FilesAsKept {
  return {
    now: async (path) => await readFile(join(workspace, path)).catch(() => undefined),
    bytes: async (hash, path) => {
      const stored = await ledger.payload(hash as PayloadRef).catch(() => undefined);
      if (stored !== undefined) return stored;
      const committed = await askGit(['cat-file', 'blob', `HEAD:./${path}`], { folder: workspace, environment });
      return committed.ok ? committed.value : undefined;
    },
  };
}

async function copyOf(options: WorkspaceOptions, { workspace, name }: WantedFolder): Promise<Result<PastFolder, Failure>> {
  const repository = await findRepository(workspace, options.environment);
  if (!repository.ok || repository.value.head === undefined) return await plainCopy(options, workspace, name);
  const prepared = await preparePlace(options, { repo: workspace, session: FORKS, task: name, base: 'working-tree' });
  if (!prepared.ok) return prepared;
  const { place, notes } = prepared.value;
  const below = relative(repository.value.top, await realpath(workspace));
  const folder = join(place.path, below);
  await mkdir(folder, { recursive: true });
  return ok({ folder, notes });
}

async function plainCopy(options: WorkspaceOptions, workspace: string, name: string): Promise<Result<PastFolder, Failure>> {
  const files = placeFiles(options.home, FORKS, name);
  if (!files.ok) return files;
  const folder = files.value.path;
  const listed = await workspaceFiles(workspace, options.environment, limits.forkFiles);
  if (!listed.ok) return fail(tooMuch(`${listed.error} (limit forkFiles)`));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  let bytes = 0;
  for (const path of listed.value) {
    const facts = await lstat(join(workspace, path)).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    bytes += facts.size;
    if (bytes > limits.forkBytes) {
      await rm(folder, { recursive: true, force: true });
      return fail(tooMuch(`it holds more than ${limits.forkBytes} bytes (limit forkBytes)`));
    }
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await copyFile(join(workspace, path), join(folder, path), constants.COPYFILE_FICLONE);
  }
  return ok({ folder, notes: [] });
}

const tooMuch = (why: string): Failure => ({
  code: 'fork_files',
  message: `The folder cannot be copied: ${why}.`,
  fix: 'Begin a git repository there and commit (git init), or name a folder for the fork: --in <folder>.',
});

/** What is there already is left as it is. */
async function layFiles(folder: string, files: readonly PastFile[]): Promise<Failure | undefined> {
  const top = await realpath(folder);
  for (const file of files) {
    if ('why' in file) continue;
    const target = join(top, file.path);
    const above = await realAbove(dirname(target));
    if (!`${above}${sep}`.startsWith(`${top}${sep}`)) return notAsTheyWere([`${file.path}: a link leads out of the folder`]);
    if (file.content === null) await rm(target, { force: true });
    else {
      const held = await readFile(target).catch(() => undefined);
      if (held !== undefined && Buffer.compare(held, file.content) === 0) continue;
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, file.content);
    }
  }
  return undefined;
}

/** The real path of a folder, or of the nearest above it that there is. */
async function realAbove(folder: string): Promise<string> {
  const real = await realpath(folder).catch(() => undefined);
  return real ?? (dirname(folder) === folder ? folder : await realAbove(dirname(folder)));
}
