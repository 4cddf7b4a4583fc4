/**
 * The git folder of a place. While somebody works there it is the place's own: what is committed, staged or stashed lands in
 * it, over the objects of the user's repository, which are only read. So nobody who works there needs to write to that
 * repository, and inside walls nobody can. Git's own entry for the place stays where the task began, which keeps the base
 * from being swept. When the work is over the place is a worktree like any other, and its git folder lies beside it.
 */
import { copyFile, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { OWN_GIT_MARK } from '../../tools/protected-names.ts';
import { askGit, zeroSeparated } from '../git.ts';
import { besidePlace } from '../place-files.ts';
import { layGitFolder } from '../private-git.ts';
import type { Repository } from '../repository.ts';

/** Whose commits these are, where the repository says it. */
const PERSON = '^user\\.(name|email)$';
/** The index knows all files of a place, whatever the user has checked out. */
const NOT_HERE = 'core.sparsecheckout';

/** Gives the git folder, which lies where git has put its link. `admin` is git's entry for the place. */
export async function layOwnGit(
  place: string,
  repository: Repository,
  base: string,
  { admin, environment }: { readonly admin: string; readonly environment: Environment },
): Promise<string> {
  const folder = join(place, '.git');
  const call = { folder: repository.top, environment };
  const [refs, person] = await Promise.all([
    askGit(['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags', 'refs/remotes'], call),
    askGit(['config', '--null', '--get-regexp', PERSON], call),
  ]);
  await rm(folder, { force: true });
  const settings = repository.settings.filter(([name]) => name !== NOT_HERE);
  const named = person.ok ? zeroSeparated(person.value).map(namedValue) : [];
  await layGitFolder(folder, { common: repository.common, settings: [...settings, ...named] }, base);
  await writeFile(join(folder, OWN_GIT_MARK), `${admin}\n`);
  // It is there, so nobody can make one that leads elsewhere.
  await writeFile(join(folder, 'commondir'), '.\n');
  if (refs.ok) await writeFile(join(folder, 'packed-refs'), refs.value);
  await copyFile(join(repository.common, 'shallow'), join(folder, 'shallow')).catch(() => undefined);
  return folder;
}

function namedValue(entry: string): readonly [string, string] {
  const at = entry.indexOf('\n');
  return [entry.slice(0, at), entry.slice(at + 1)];
}

/** The work is over: the place is git's worktree, as the user's git knows it. Cut off, it is finished the next time. */
export async function linkToRepository(place: string, admin: string): Promise<void> {
  const [folder, { git }] = [join(place, '.git'), besidePlace(place)];
  const facts = await lstat(folder).catch(() => undefined);
  if (facts?.isDirectory() === true) await rename(folder, git).catch(() => undefined);
  await copyFile(join(git, 'index'), join(admin, 'index')).catch(() => undefined);
  if (facts?.isFile() !== true) await writeFile(folder, `gitdir: ${admin}\n`, { flag: 'wx' }).catch(() => undefined);
}

/** Somebody goes on there. */
export async function ownGitAgain(place: string): Promise<void> {
  const { git } = besidePlace(place);
  if ((await lstat(git).catch(() => undefined)) === undefined) return;
  await rm(join(place, '.git'), { force: true });
  await rename(git, join(place, '.git')).catch(() => undefined);
}
