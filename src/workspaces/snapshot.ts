/**
 * The files of a folder as a tree: everything that is tracked or new, as it is on the disk, and nothing that is ignored.
 * Begins with the copy of an index, which knows what was on the disk before, so that only what has changed since is read.
 */
import { copyFile, lstat, realpath, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MIB } from '../base/limits/units.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { startOf } from '../base/whole-words.ts';
import type { Failure } from '../events/catalogue.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { isNobodysOwn } from '../tools/watch/workspace-files.ts';
import { zeroSeparatedBytes } from './git.ts';
import { lookAtAll } from './ground/passed-over.ts';
import { stageFiles } from './ground/stage.ts';
import { gitFailure, type PrivateCall, type PrivateGit, said } from './private-git.ts';

export interface SnapshotOptions {
  /** The top of the files. */
  readonly work: string;
  /** An index to begin with; the original is not touched. */
  readonly index: string | undefined;
  /** What to begin with where there is no index. */
  readonly base: string;
  /** Take the files of a repository that lies in this one as files; it is passed over otherwise. */
  readonly nested: boolean;
  /** Look also at files that the index says to pass over. */
  readonly passedOver?: boolean | undefined;
  /** New objects go into the user's repository: others must find them there. */
  readonly keep?: boolean | undefined;
}

export interface FolderTree {
  readonly tree: string;
  /** What was passed over. */
  readonly passed: readonly string[];
  /** Work that is there and that no tree can hold, each with why: it must not get lost. */
  readonly lost: readonly string[];
}

const NESTED_DEPTH = 5;
const CHECKOUT = { timeoutMs: limits.checkoutMs } as const;

export async function snapshot(git: PrivateGit, options: SnapshotOptions): Promise<Result<FolderTree, Failure>> {
  const index = join(git.folder, 'index-snapshot');
  const begun = await beginIndex(git, index, options);
  if (!begun.ok) return begun;
  const looked = options.passedOver === true ? await lookAtAll(git, index, options.work) : ok(undefined);
  if (!looked.ok) return looked;
  const listed = await newAndChanged(git, index, options.work);
  if (!listed.ok) return listed;
  const [paths, passed, gone] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const lost = [...listed.value.unseen];
  const behindLink = linksAbove(options.work);
  for (const { path, isNew, isGone, odd } of listed.value.differing) {
    if (odd) {
      if (!isNobodysOwn(path, isNew)) lost.push(`the name of ${path} is not UTF-8`);
      continue;
    }
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
  const call = { ...CHECKOUT, index, work: options.work, ...present({ keep: options.keep }) };
  if (gone.size > 0) {
    const took = await git.run(['update-index', '-z', '--force-remove', '--stdin'], { ...call, input: zeroEnded(gone) });
    if (!took.ok) return fail(gitFailure('The files cannot be read', took.error));
  }
  const put = await putFiles(git, options.work, call, paths);
  if (!put.ok) return put;
  lost.push(...put.value);
  const tree = said(await git.run(['write-tree'], call), 'The tree cannot be made');
  return tree.ok ? ok({ tree: tree.value, passed: [...passed].toSorted(), lost: lost.toSorted() }) : tree;
}

/** Into the index, from copies. Gives what git would not take. */
async function putFiles(
  git: PrivateGit,
  work: string,
  call: PrivateCall,
  paths: ReadonlySet<string>,
): Promise<Result<readonly string[], Failure>> {
  const stage = join(git.folder, 'stage');
  await rm(stage, { recursive: true, force: true });
  const { modules, lost: uncopied } = await stageFiles(await realpath(work), stage, paths);
  const files = new Set(paths);
  for (const path of modules) files.delete(path);
  const lost = [...uncopied];
  for (const [from, list] of [
    [stage, files],
    [work, new Set(modules)],
  ] as const) {
    if (list.size === 0) continue;
    const args = ['update-index', '-z', '--verbose', '--add', '--remove', '--replace', '--stdin'];
    const put = await git.run(args, { ...call, work: from, input: zeroEnded(list) });
    if (!put.ok) return fail(gitFailure('The files cannot be read', put.error));
    const taken = put.value.toString();
    const lines = new Set(taken.split('\n'));
    const isTaken = (path: string): boolean =>
      lines.has(`add '${path}'`) || (path.includes('\n') && taken.includes(`add '${path}'`));
    lost.push(...[...list].filter((path) => !isTaken(path)).map((path) => `git takes no file that is called ${path}`));
  }
  await rm(stage, { recursive: true, force: true });
  return ok(lost);
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
  /** As it can be shown, where it is `odd`. */
  readonly path: string;
  readonly isNew: boolean;
  readonly isGone: boolean;
  /** Its name is no text. */
  readonly odd: boolean;
}

interface Listed {
  readonly differing: readonly Differing[];
  /** Folders that git could not look into, each with why. */
  readonly unseen: readonly string[];
}

/** What is not as the index has it. A repository that lies in this one is a name with a `/` behind it. */
export async function newAndChanged(git: PrivateGit, index: string, work: string): Promise<Result<Listed, Failure>> {
  const kinds = ['--modified', '--deleted', '--others', '--exclude-standard'];
  let warned = '';
  const told = (said: string): void => {
    warned = said;
  };
  const listed = await git.run(['ls-files', '-z', '-t', ...kinds], { ...CHECKOUT, index, work, told });
  if (!listed.ok) return fail(gitFailure('The files cannot be listed', listed.error));
  // `? path` is new, `R path` is gone, any other letter is tracked.
  const differing = zeroSeparatedBytes(listed.value).map((line) => {
    const name = line.subarray(2);
    const text = name.toString();
    const odd = !Buffer.from(text).equals(name);
    const [letter] = line.toString('latin1', 0, 1);
    return { path: odd ? escaped(name) : text, isNew: letter === '?', isGone: letter === 'R', odd };
  });
  const unseen = [...warned.matchAll(/^warning: (could not open directory .*)$/gm)].map(([, why = '']) => shortened(why));
  return ok({ differing, unseen });
}

/** A name that is no text, so that a person knows it again. */
function escaped(name: Buffer): string {
  return name.toString('latin1').replaceAll(/[^\x20-\x7e]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

const SHOWN_CHARACTERS = 200;
const shortened = (text: string): string =>
  text.length <= SHOWN_CHARACTERS ? text : `${startOf(text, SHOWN_CHARACTERS / 2)}…${text.slice(-SHOWN_CHARACTERS / 2)}`;

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
  for (const { path, odd } of listed.value.differing) {
    if (odd) return undefined;
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
