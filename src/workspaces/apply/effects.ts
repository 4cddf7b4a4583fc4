/**
 * The journal's files from one state to the other, in either direction. Each file is looked at right before it is replaced, by a
 * rename: it holds the one content or the other, never half of one. A file that is in neither of the two states is somebody
 * else's work, and ends it.
 */
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, open, readlink, realpath, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { heldMessage, holdParent } from '../../base/files/held-folder.ts';
import type { WorkspaceOptions } from '../options.ts';
import { type ApplyJournal, type FileState, fileStateAt, isSame, type KeptJournal } from './journal.ts';

export type Direction = 'forward' | 'back';

/** With the name of the apply, which nobody else's file has; of one that was cut off it is found again. */
const besideOf = ({ apply }: ApplyJournal, number: number): string => `.${apply}-${number}.troupe-new`;

const targetIn =
  (direction: Direction) =>
  ({ before, after }: ApplyJournal['files'][number]): FileState =>
    direction === 'forward' ? after : before;

/** Files in neither of their two states, behind a link, or below something that is no folder: nothing may be done to them. */
export async function strangersOf({ journal }: KeptJournal, direction: Direction, half: boolean): Promise<readonly string[]> {
  const strangers: string[] = [];
  for (const { path, before, after } of journal.files) {
    const now = await seen(journal, path);
    const [from, to] = direction === 'forward' ? [before, after] : [after, before];
    const known = isSame(now, from) || (half && isSame(now, to));
    const cut = to.kind !== 'none' && (await isCutOff(journal, path, targetIn(direction)));
    if (!known || cut || (await linkAbove(journal.repo, path)) !== undefined) strangers.push(path);
  }
  return strangers;
}

/** A folder stands for nothing where all that lies in it is to go, so that a file can take its place. */
async function seen({ repo, files }: ApplyJournal, path: string): Promise<FileState> {
  const now = await fileStateAt(join(repo, path));
  return now.kind === 'folder' && files.some((one) => one.path.startsWith(`${path}/`)) ? { kind: 'none' } : now;
}

/** The system refused to have a file changed: no room, no right, something in the way. */
export class NotWritten extends Error {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(heldMessage(cause), { cause });
    this.path = path;
  }
}

/** Gives the file that somebody changed meanwhile, if there is one: then those before it are done, and none after. */
export async function bring(
  { folder, journal }: KeptJournal,
  direction: Direction,
  { between = () => undefined }: Pick<WorkspaceOptions, 'between'>,
): Promise<string | undefined> {
  const steps = journal.files.map((file, number) => ({ ...file, number }));
  const target = targetIn(direction);
  const root = await realpath(journal.repo);
  for (const { path, number } of steps) await clear(root, path, besideOf(journal, number));
  // What goes makes room: a file may become a folder, and a folder a file.
  const ordered = steps.toSorted((one, other) => Number(target(one).kind !== 'none') - Number(target(other).kind !== 'none'));
  for (const file of ordered) {
    const [from, to] = direction === 'forward' ? [file.before, file.after] : [file.after, file.before];
    const path = join(journal.repo, file.path);
    const now = await seen(journal, file.path);
    if (isSame(now, to)) continue;
    if (!isSame(now, from) || (await linkAbove(journal.repo, file.path)) !== undefined) return file.path;
    between(`${direction} ${file.path}`);
    const bytes = join(folder, direction === 'forward' ? 'after' : 'before', `${file.number}`);
    const beside = besideOf(journal, file.number);
    await replace(root, file.path, { to, from: bytes, beside }).catch((error: unknown) =>
      Promise.reject(new NotWritten(file.path, error)),
    );
    if (to.kind === 'none') await removeEmpty(journal.repo, dirname(path));
  }
  if (direction === 'back')
    for (const one of journal.folders.toReversed()) await rmdir(join(journal.repo, one)).catch(() => undefined);
  return undefined;
}

/** What one that was cut off has left beside a file. */
async function clear(root: string, path: string, beside: string): Promise<void> {
  try {
    using parent = holdParent({ root, absolute: join(root, path) });
    await rm(parent.at(beside), { force: true });
  } catch {
    // There is no such folder.
  }
}

interface Replacing {
  readonly to: FileState;
  readonly from: string;
  readonly beside: string;
}

/** In the folder itself, whatever its path leads to meanwhile. */
async function replace(root: string, path: string, { to, from, beside: name }: Replacing): Promise<void> {
  using parent = holdParent({ root, absolute: join(root, path) }, to.kind !== 'none');
  if (to.kind === 'none') return await unlink(parent.entry);
  const beside = parent.at(name);
  await rm(beside, { force: true });
  try {
    if (to.kind === 'link') await symlink(await readlink(from), beside);
    else {
      await copyFile(from, beside, constants.COPYFILE_EXCL);
      if (to.kind === 'file') await chmod(beside, to.mode);
      const file = await open(beside, 'r+').catch(() => undefined);
      await file?.sync();
      await file?.close();
    }
    // A folder that has become empty may still be where the file is to be.
    await rmdir(parent.entry).catch((error: unknown) =>
      ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '') ? undefined : Promise.reject(error),
    );
    await rename(beside, parent.entry);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** As git does: a folder in which nothing is left goes. */
async function removeEmpty(top: string, folder: string): Promise<void> {
  for (let at = folder; at !== top && at.startsWith(top); at = dirname(at)) {
    const gone = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
}

/** Somebody may have put a link where a folder was. */
export async function linkAbove(top: string, path: string): Promise<string | undefined> {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    const facts = await lstat(join(top, at)).catch(() => undefined);
    if (facts?.isSymbolicLink() === true) return at;
  }
  return undefined;
}

/** Whether a file can be at this path: above it are folders, or files that go before. */
async function isCutOff(
  { repo, files }: ApplyJournal,
  path: string,
  target: (file: ApplyJournal['files'][number]) => FileState,
): Promise<boolean> {
  for (let at = dirname(path); at !== '.'; at = dirname(at)) {
    const facts = await lstat(join(repo, at)).catch(() => undefined);
    if (facts === undefined || facts.isDirectory()) continue;
    const own = files.find((one) => one.path === at);
    if (own === undefined || target(own).kind !== 'none') return true;
  }
  return false;
}
