/**
 * The files of a folder as a tree: everything that is tracked or new, as it is on the disk, and nothing that is ignored.
 * Begins with the copy of an index, which knows what was on the disk before, so that only what has changed since is read.
 */
import { copyFile, lstat, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MIB } from '../base/limits/units.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { isNobodysOwn } from '../tools/watch/workspace-files.ts';
import { zeroSeparated } from './git.ts';
import { gitFailure, type PrivateGit, said } from './private-git.ts';

export interface SnapshotOptions {
  /** The top of the files. */
  readonly work: string;
  /** An index to begin with; the original is not touched. */
  readonly index: string | undefined;
  /** What to begin with where there is no index. */
  readonly base: string;
  /** Take the files of a repository that lies in this one as files; it is passed over otherwise. */
  readonly nested: boolean;
  /** New objects go into the user's repository: others must find them there. */
  readonly keep?: boolean | undefined;
}

export interface FolderTree {
  readonly tree: string;
  /** What was passed over. */
  readonly passed: readonly string[];
}

const NESTED_DEPTH = 5;
const CHECKOUT = { timeoutMs: limits.checkoutMs } as const;

export async function snapshot(git: PrivateGit, options: SnapshotOptions): Promise<Result<FolderTree, Failure>> {
  const index = join(git.folder, 'index-snapshot');
  const begun = await beginIndex(git, index, options);
  if (!begun.ok) return begun;
  const listed = await newAndChanged(git, index, options.work);
  if (!listed.ok) return listed;
  const [paths, passed, gone] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const behindLink = linksAbove(options.work);
  for (const { path, isNew, isGone } of listed.value) {
    // Where a folder was, there may be a link now, and a folder where a file was: what lies there is not what was tracked.
    if (isGone || (!isNew && ((await behindLink(path)) || (await isPlainFolder(join(options.work, path)))))) gone.add(path);
    if (gone.has(path)) continue;
    const own = !(isNew && isNobodysOwn(path, true));
    if (path.endsWith('/')) {
      const inside = own && options.nested ? await filesOfNested(git, options.work, path, NESTED_DEPTH) : undefined;
      if (inside === undefined) passed.add(path);
      for (const one of inside ?? []) paths.add(one);
    } else if (own) paths.add(path);
    else passed.add(shownFolder(path));
  }
  if (paths.size > limits.patchFiles) return fail(tooMany(paths.size));
  const large = await tooLarge(options.work, paths);
  if (large !== undefined) return fail(large);
  const input = zeroEnded(paths);
  const call = { ...CHECKOUT, index, work: options.work, ...present({ keep: options.keep }) };
  if (gone.size > 0) {
    const took = await git.run(['update-index', '-z', '--force-remove', '--stdin'], { ...call, input: zeroEnded(gone) });
    if (!took.ok) return fail(gitFailure('The files cannot be read', took.error));
  }
  const put = await git.run(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { ...call, input });
  if (!put.ok) return fail(gitFailure('The files cannot be read', put.error));
  const tree = said(await git.run(['write-tree'], call), 'The tree cannot be made');
  return tree.ok ? ok({ tree: tree.value, passed: [...passed].toSorted() }) : tree;
}

/** As git takes names that may hold anything else. */
export const zeroEnded = (paths: Iterable<string>): Buffer => Buffer.from([...paths].map((path) => `${path}\0`).join(''));

/** A module is a folder too, with a git of its own. */
async function isPlainFolder(path: string): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined);
  return facts?.isDirectory() === true && !(await pathExists(join(path, '.git')));
}

function linksAbove(work: string): (path: string) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isBehind = (folder: string): Promise<boolean> => {
    if (folder === '.') return Promise.resolve(false);
    const found =
      known.get(folder) ??
      lstat(join(work, folder)).then(
        async (facts) => facts.isSymbolicLink() || (await isBehind(dirname(folder))),
        () => false,
      );
    known.set(folder, found);
    return found;
  };
  return (path) => isBehind(dirname(path));
}

/**
 * Copies an index with its time. Git goes by that: of a file that was written at the same moment as the index, or later, it
 * does not trust that the same size and time mean the same content.
 */
export async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from);
  await copyFile(from, to);
  const seconds = Math.floor(mtimeMs) / 1_000;
  await utimes(to, seconds, seconds);
}

async function beginIndex(git: PrivateGit, index: string, options: SnapshotOptions): Promise<Result<void, Failure>> {
  await rm(index, { force: true });
  if (options.index !== undefined) {
    const copied = await copyIndex(options.index, index).then(
      () => true,
      () => false,
    );
    // One that refers to a part that lies elsewhere cannot be read from here.
    if (copied && (await git.run(['ls-files', '-z', '--cached', '--', ':(glob).none'], { index, work: options.work })).ok)
      return ok(undefined);
    await rm(index, { force: true });
    if (git.repository.settings.some(([name, value]) => name === 'core.sparsecheckout' && value === 'true'))
      return fail({
        code: 'sparse_checkout',
        message: 'The index of this sparse checkout cannot be read: what is missing on purpose is not known.',
      });
  }
  const read = await git.run(['read-tree', options.base], { index });
  return read.ok ? ok(undefined) : fail(gitFailure(`The base ${options.base} is not here`, read.error));
}

/** Names that a program left where nothing of a project is, shortened to the folder. */
function shownFolder(path: string): string {
  const [whole = path] = /^(?:.*?\/)?(?:\.git|\.troupe|node_modules)\//.exec(path) ?? [];
  return whole;
}

interface Differing {
  readonly path: string;
  readonly isNew: boolean;
  readonly isGone: boolean;
}

/** What is not as the index has it. A repository that lies in this one is a name with a `/` behind it. */
export async function newAndChanged(
  git: PrivateGit,
  index: string,
  work: string,
): Promise<Result<readonly Differing[], Failure>> {
  const kinds = ['--modified', '--deleted', '--others', '--exclude-standard'];
  const listed = await git.run(['ls-files', '-z', '-t', ...kinds], { ...CHECKOUT, index, work });
  if (!listed.ok) return fail(gitFailure('The files cannot be listed', listed.error));
  // `? path` is new, `R path` is gone, any other letter is tracked.
  return ok(
    zeroSeparated(listed.value).map((line) => ({ path: line.slice(2), isNew: line[0] === '?', isGone: line[0] === 'R' })),
  );
}

/** `undefined` where they cannot be had. */
async function filesOfNested(
  git: PrivateGit,
  work: string,
  folder: string,
  depth: number,
): Promise<readonly string[] | undefined> {
  const index = join(git.folder, 'index-none');
  const listed = depth === 0 ? undefined : await newAndChanged(git, index, join(work, folder));
  if (listed?.ok !== true) return undefined;
  const files: string[] = [];
  for (const { path } of listed.value) {
    const inside = path.endsWith('/') ? await filesOfNested(git, work, folder + path, depth - 1) : [folder + path];
    files.push(...(inside ?? []).filter((one) => !isNobodysOwn(one, true)));
  }
  return files;
}

/** Git reads everything that is new, also what is a hole of many gigabytes; so it is measured first. */
async function tooLarge(work: string, paths: ReadonlySet<string>): Promise<Failure | undefined> {
  let [bytes, largest] = [0, { path: '', size: 0 }];
  for (const path of paths) {
    const facts = await lstat(join(work, path)).catch(() => undefined);
    const size = facts?.isFile() === true ? facts.size : 0;
    bytes += size;
    if (size > largest.size) largest = { path, size };
  }
  if (bytes <= limits.newBytes) return undefined;
  const of = `${largest.path} alone has ${mebibytes(largest.size)}`;
  const message = `What is new or changed has ${mebibytes(bytes)}, more than ${mebibytes(limits.newBytes)} (newBytes); ${of}.`;
  return { code: 'patch_too_large', message, fix: 'Remove it, or let .gitignore name it.' };
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;

function tooMany(count: number): Failure {
  const message = `${count} files are new or changed, more than ${limits.patchFiles} (patchFiles).`;
  return { code: 'patch_too_large', message, fix: 'Let .gitignore name what is generated.' };
}
