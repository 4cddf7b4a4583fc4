/**
 * What a new worktree needs beside its commit: files that are ignored and yet wanted, and modules, from what is on this
 * machine.
 */
import { lstat, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../base/errors.ts';
import { entryAt } from '../base/files/entry-below.ts';
import { heldMessage, holdParent } from '../base/files/held-folder.ts';
import { limits } from '../base/limits.ts';
import { STATE_FOLDER } from '../tools/protected-names.ts';
import { runGit, withoutSettings, zeroSeparated } from './git.ts';
import type { WorkspaceOptions } from './options.ts';
import { layGitFolder, type PrivateGit } from './private-git.ts';
import type { Repository } from './repository.ts';
import { MODULE_MODE } from './trees.ts';

const INCLUDE_FILE = '.worktreeinclude';
const MODULES_FILE = '.gitmodules';
const MODULE_DEPTH = 4;

/** Copies the files that git ignores and `.worktreeinclude` names. Gives what somebody should know. */
export async function copyIncluded(git: PrivateGit, target: string): Promise<readonly string[]> {
  const { top } = git.repository;
  const patterns = join(top, INCLUDE_FILE);
  if (!((await lstat(patterns).catch(() => undefined))?.isFile() ?? false)) return [];
  const list = async (rule: string): Promise<readonly string[]> => {
    const listed = await git.run(['ls-files', '-z', '--others', '--ignored', rule], { work: top });
    return listed.ok ? zeroSeparated(listed.value) : [];
  };
  const ignored = new Set(await list('--exclude-standard'));
  const wanted = (await list(`--exclude-from=${patterns}`)).filter((path) => ignored.has(path) && !isState(path));
  if (wanted.length > limits.includedFiles)
    return [`${INCLUDE_FILE} names ${wanted.length} files, more than ${limits.includedFiles} (includedFiles): none was copied`];
  const notes: string[] = [];
  const [real, realTop] = [await realpath(target), await realpath(top)];
  let bytes = 0;
  for (const path of wanted) {
    const from = join(top, path);
    const facts = await lstat(from).catch(() => undefined);
    if (facts?.isFile() !== true) continue;
    bytes += facts.size;
    if (bytes > limits.includedBytes) {
      notes.push(
        `${INCLUDE_FILE} names more than ${limits.includedBytes} bytes (includedBytes): ${path} and what follows was not copied`,
      );
      break;
    }
    const problem = await copyInside(realTop, real, path);
    if (problem !== undefined) notes.push(`${path} was not copied: ${problem}`);
  }
  return notes;
}

const isState = (path: string): boolean => path.split('/').some((part) => part === '.git' || part === STATE_FOLDER);

/** Neither a link of the base nor one that somebody puts there meanwhile is followed, on either side. */
async function copyInside(top: string, root: string, path: string): Promise<string | undefined> {
  try {
    using from = holdParent({ root: top, absolute: join(top, path) });
    using to = holdParent({ root, absolute: join(root, path) }, true);
    const found = entryAt(from.entry, limits.includedBytes);
    if (found?.kind !== 'file') return 'it is no file any more';
    await writeFile(to.entry, found.bytes, { flag: 'wx', mode: found.facts.mode & 0o777 });
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return code === 'ELOOP' || code === 'ENOTDIR' ? 'a link leads out of the worktree' : heldMessage(error);
  }
}

/**
 * Fills modules from the clones that the user's repository has of them. No address is reached: what is not here stays empty
 * and is told. Each gets a git folder of its own that only reads the user's, so nothing that is done there changes those.
 */
export async function fillModules(
  git: PrivateGit,
  options: WorkspaceOptions,
  commit: string,
  target: string,
): Promise<readonly string[]> {
  return await fillBelow({ git, options, commit, target, modules: join(git.repository.common, 'modules'), depth: MODULE_DEPTH });
}

interface Filling {
  readonly git: PrivateGit;
  readonly options: WorkspaceOptions;
  /** What is checked out at `target`, and whose modules are to be filled. */
  readonly commit: string;
  readonly target: string;
  /** Where the clones of them are. */
  readonly modules: string;
  readonly depth: number;
  /** The git folder to ask, when it is not the repository's. */
  readonly from?: string | undefined;
}

async function fillBelow(filling: Filling): Promise<readonly string[]> {
  const { git, commit, from, depth, modules, target, options } = filling;
  const variables = from === undefined ? {} : { GIT_OBJECT_DIRECTORY: join(from, 'objects') };
  const listed = depth === 0 ? undefined : await git.run(['show', `${commit}:${MODULES_FILE}`], { variables });
  if (listed?.ok !== true) return [];
  const file = join(git.folder, 'modules-file');
  await writeFile(file, listed.value);
  const paths = await git.run(['config', '--null', '--file', file, '--get-regexp', '^submodule\\..*\\.path$']);
  const notes: string[] = [];
  for (const entry of paths.ok ? zeroSeparated(paths.value) : []) {
    const [key = '', path = ''] = entry.split('\n');
    const name = key.replace(/^submodule\./, '').replace(/\.path$/, '');
    const found = await git.run(['ls-tree', '-z', commit, '--', path], { variables });
    const [, mode, oid = ''] = /^(\d+) \w+ ([0-9a-f]+)\t/.exec(found.ok ? found.value.toString() : '') ?? [];
    if (mode !== MODULE_MODE) continue;
    const clone = join(modules, name);
    // A name may hold `..`, and lead anywhere.
    if (name.split('/').includes('..') || !(await isClone(clone)))
      notes.push(`the module ${path} is not on this machine: it is empty`);
    else if (!(await fillOne(options, git.repository, clone, oid, join(target, path))))
      notes.push(`the module ${path} has no commit ${oid.slice(0, 12)} on this machine: it is empty`);
    else {
      const below = { git, options, commit: oid, target: join(target, path), modules: join(clone, 'modules'), depth: depth - 1 };
      notes.push(...(await fillBelow({ ...below, from: clone })).map((note) => `${path}: ${note}`));
    }
  }
  return notes;
}

async function isClone(path: string): Promise<boolean> {
  return (await lstat(join(path, 'objects')).catch(() => undefined))?.isDirectory() ?? false;
}

async function fillOne(
  { environment }: WorkspaceOptions,
  { settings }: Repository,
  clone: string,
  commit: string,
  target: string,
): Promise<boolean> {
  const folder = join(target, '.git');
  await layGitFolder(folder, { common: clone, settings }, commit);
  const variables = { ...withoutSettings, GIT_DIR: folder, GIT_WORK_TREE: target };
  const call = { folder: target, environment, variables, timeoutMs: limits.checkoutMs };
  return (await runGit(['read-tree', '--reset', '-u', commit], call)).ok;
}
