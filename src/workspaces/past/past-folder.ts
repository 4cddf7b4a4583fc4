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

/** How many files are named at once. */
const SHOWN = 5;

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
  const since = await changedSince(options, wanted, new Set(changes.map(({ path }) => path)));
  return ok({ folder: made.value.folder, notes: [...notes, ...since, ...made.value.notes] });
}

/**
 * Files that the session never changed and somebody has touched since then: nobody recorded what they held. That one was removed
 * meanwhile cannot be seen.
 */
async function changedSince(
  { environment }: Pick<WorkspaceOptions, 'environment'>,
  { ledger, session, position, workspace }: WantedFolder,
  recorded: ReadonlySet<string>,
): Promise<readonly string[]> {
  const [event] = await ledger.read({ session, after: position - 1, limit: 1 });
  const listed = await workspaceFiles(workspace, environment, limits.forkFiles);
  if (event === undefined || !listed.ok) return [];
  const then = Date.parse(event.timestamp);
  const found: string[] = [];
  for (const path of listed.value) {
    const facts = recorded.has(path) ? undefined : await lstat(join(workspace, path)).catch(() => undefined);
    if (facts !== undefined && facts.ctimeMs > then) found.push(path);
  }
  if (found.length === 0) return [];
  const more = found.length > SHOWN ? `, and ${found.length - SHOWN} more` : '';
  return [`changed since then by somebody else, and as they are now: ${found.slice(0, SHOWN).join(', ')}${more}`];
}

export interface WantedCopy extends WantedFolder {
  /** Which of the workspace's files are left out. `bytes`: what one would hold in the copy. */
  leavesOut(path: string, bytes: () => Promise<Uint8Array>): Promise<boolean>;
  readonly maxFiles: { readonly limit: string; readonly count: number };
  readonly maxBytes: { readonly limit: string; readonly count: number };
}

/** The same as plain files in a folder that is not there yet: for whoever keeps them. */
export async function copyPastFiles(
  environment: WorkspaceOptions['environment'],
  wanted: WantedCopy,
  target: string,
): Promise<Result<readonly string[], Failure>> {
  const { changes, notes } = await recordedChanges(wanted);
  const files = await pastFiles(changes, wanted.position, knownOf({ environment }, wanted));
  const lost = files.flatMap((file) => ('why' in file ? [`${file.path}: ${file.why}`] : []));
  if (lost.length > 0) return fail(notAsTheyWere(lost));
  const listed = await workspaceFiles(wanted.workspace, environment, limits.forkFiles);
  if (!listed.ok) return fail(tooMuch(`${listed.error} (limit forkFiles)`));
  const kept: string[] = [];
  for (const path of listed.value)
    if (!(await wanted.leavesOut(path, () => readFile(join(wanted.workspace, path))))) kept.push(path);
  if (kept.length > wanted.maxFiles.count)
    return fail(tooMuch(`it has ${kept.length} files, and ${wanted.maxFiles.count} are kept (limit ${wanted.maxFiles.limit})`));
  await mkdir(target, { recursive: true });
  const copied = await copyFiles(wanted.workspace, target, kept, wanted.maxBytes);
  if (copied !== undefined) return fail(copied);
  const laid: PastFile[] = [];
  for (const file of files) {
    const content = 'why' in file ? null : file.content;
    const isOut = content !== null && (await wanted.leavesOut(file.path, async () => content));
    laid.push(isOut ? { path: file.path, content: null } : file);
  }
  const wrong = await layFiles(target, laid);
  return wrong === undefined ? ok(notes) : fail(wrong);
}

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

function knownOf({ environment }: Pick<WorkspaceOptions, 'environment'>, { ledger, workspace }: WantedFolder): FilesAsKept {
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
  const failed = await copyFiles(workspace, folder, listed.value, { limit: 'forkBytes', count: limits.forkBytes });
  return failed === undefined ? ok({ folder, notes: [] }) : fail(failed);
}

/** Into a folder that goes again where they are too much. */
async function copyFiles(
  workspace: string,
  folder: string,
  files: readonly string[],
  { limit, count }: WantedCopy['maxBytes'],
): Promise<Failure | undefined> {
  let bytes = 0;
  for (const path of files) {
    const facts = await lstat(join(workspace, path)).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    bytes += facts.size;
    if (bytes > count) {
      await rm(folder, { recursive: true, force: true });
      return tooMuch(`it holds more than ${count} bytes (limit ${limit})`);
    }
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await copyFile(join(workspace, path), join(folder, path), constants.COPYFILE_FICLONE);
  }
  return undefined;
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
