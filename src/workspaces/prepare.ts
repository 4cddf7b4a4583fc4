/**
 * Makes places. One is made beside where it will be, whole, and then renamed: what is there is whole, and what a crash has left
 * is swept when the task asks again. Git's own part, which does not like company, happens one at a time in all processes.
 */
import { mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { copyIncluded, fillModules } from './fill-place.ts';
import { askGit } from './git.ts';
import { linkPackages } from './ground/linked-packages.ts';
import { layOwnGit, linkToRepository, ownGitAgain } from './ground/own-git.ts';
import { lockedWorktrees, onePerTask } from './locks.ts';
import type { WorkspaceOptions } from './options.ts';
import { besidePlace, type PlaceFiles, type PlaceRecord, placeFiles, readRecord, syncFolder, writeWhole } from './place-files.ts';
import type { PreparedPlace, WantedPlace, WorkPlace } from './port.ts';
import { gitFailure, type PrivateGit, withPrivateGit } from './private-git.ts';
import { findCommittedRepository, type Repository, withoutNewline } from './repository.ts';
import { copyIndex, snapshot } from './snapshot.ts';
import { commitOf, treeOfPatch } from './trees.ts';

type Committed = Repository & { readonly head: string };

const MAKING = '~';
const BRANCHES = 'troupe/';
const WORKING_TREE = 'working-tree';

export async function preparePlace(
  options: WorkspaceOptions,
  wanted: WantedPlace,
  signal?: AbortSignal,
): Promise<Result<PreparedPlace, Failure>> {
  const files = placeFiles(options.home, wanted.session, wanted.task);
  if (!files.ok) return files;
  await mkdir(dirname(files.value.path), { recursive: true, mode: 0o700 });
  return await onePerTask(options, files.value.path, signal, async () => {
    const known = await preparedBefore(files.value);
    if (known !== undefined) return ok(known);
    const repository = await findCommittedRepository(wanted.repo, options.environment);
    if (!repository.ok) return repository;
    const sparse = await sweepTask(files.value, repository.value);
    if (!sparse.ok) return sparse;
    await sweepWork(options);
    return await withPrivateGit(repository.value, options.home, options.environment, async (git) => {
      const base = await baseOf(options, git, repository.value, wanted);
      if (!base.ok) return base;
      if (wanted.inPlace === true) return await inPlace(files.value, wanted, repository.value, base.value);
      return await makeWorktree(options, git, { files: files.value, wanted, base: base.value }, signal);
    });
  });
}

async function preparedBefore({ path, record }: PlaceFiles): Promise<PreparedPlace | undefined> {
  const known = await readRecord(record);
  if (known?.going === true) {
    await removeMade(path, await adminOf(path));
    return undefined;
  }
  if (known?.inPlace !== undefined)
    return { place: { kind: 'in-place', path: known.inPlace, base: known.base, repo: known.repo }, notes: known.notes };
  if (known === undefined || !(await pathExists(path))) return undefined;
  await ownGitAgain(path);
  return { place: placeOf(path, known), notes: known.notes };
}

const placeOf = (path: string, { base, repo }: PlaceRecord): WorkPlace => ({ kind: 'worktree', path, base, repo });

async function baseOf(
  options: WorkspaceOptions,
  git: PrivateGit,
  repository: Committed,
  { base = 'HEAD', inPlace: here }: WantedPlace,
): Promise<Result<string, Failure>> {
  if (base === WORKING_TREE || here === true) return await workingTreeCommit(git, repository, here);
  if (base === 'HEAD') return ok(repository.head);
  // A name that begins with a dash would be an option.
  if (!/^[^-\s\0][^\s\0]*$/.test(base)) return fail({ code: 'bad_base', message: `${JSON.stringify(base)} names no commit.` });
  const call = { folder: repository.top, environment: options.environment };
  const found = await askGit(['rev-parse', '--verify', '--quiet', `${base}^{commit}`], call);
  if (found.ok) return ok(withoutNewline(found.value));
  return fail({
    code: 'bad_base',
    message: `There is no commit ${base} in ${repository.top}.`,
    fix: 'Name one that git log shows.',
  });
}

/**
 * How the user's files are, as a commit that no branch knows. The user's index is copied, and not touched. `passedOver`: with
 * what git was told to pass over, which is often what a person keeps on this machine alone, so that it is in no worktree.
 */
export async function workingTreeCommit(
  git: PrivateGit,
  repository: Committed,
  passedOver?: boolean,
): Promise<Result<string, Failure>> {
  const index = join(repository.own, 'index');
  const now = await snapshot(git, { work: repository.top, index, base: repository.head, nested: false, passedOver, keep: true });
  if (!now.ok) return now;
  const message = workingTreeMessage(repository.head);
  const commit = await commitOf(git, now.value.tree, [repository.head], { message, keep: true });
  if (!commit.ok) return commit;
  const same = await git.run(['diff-tree', '--quiet', repository.head, commit.value]);
  return ok(same.ok ? repository.head : commit.value);
}

/** Part of the commit's name: whoever builds it elsewhere says the same. */
export const workingTreeMessage = (head: string): string => `The working tree on ${head}`;

async function inPlace(
  files: PlaceFiles,
  wanted: WantedPlace,
  { top }: Repository,
  base: string,
): Promise<Result<PreparedPlace, Failure>> {
  const path = await realpath(wanted.repo);
  const record: PlaceRecord = { format: 1, repo: top, base, inPlace: path, notes: [] };
  await writeWhole(files.record, JSON.stringify(record));
  return ok({ place: { kind: 'in-place', path, base, repo: top }, notes: [] });
}

interface Making {
  readonly files: PlaceFiles;
  readonly wanted: WantedPlace;
  readonly base: string;
}

async function makeWorktree(
  options: WorkspaceOptions,
  git: PrivateGit,
  { files, wanted, base }: Making,
  signal?: AbortSignal,
): Promise<Result<PreparedPlace, Failure>> {
  const { between = () => undefined, ids, environment } = options;
  const { repository } = git;
  const making = `${files.path}${MAKING}${ids.nonce().slice(0, 6)}`;
  const added = await lockedWorktrees(options, signal, () => addWorktree(options, repository, making, base, wanted.branch));
  if (!added.ok) return added;
  between('added');
  const admin = await adminOf(making);
  if (admin === undefined) return fail({ code: 'workspace_git', message: `git made no worktree at ${making}.` });
  // A branch of the user's repository is written to in there.
  const own = wanted.branch === undefined ? await layOwnGit(making, repository, base, { admin, environment }) : admin;
  const index = join(own, 'index');
  const call = { work: making, index, timeoutMs: limits.checkoutMs, ...present({ signal }) };
  const tree = wanted.patch === undefined || wanted.patch.length === 0 ? ok(base) : await treeOfPatch(git, base, wanted.patch);
  if (!tree.ok) {
    await removeMade(making, admin);
    return tree;
  }
  const filled = await git.run(['read-tree', '--reset', '-u', tree.value], call);
  if (!filled.ok) {
    await removeMade(making, admin);
    return fail(gitFailure(`The files of ${base.slice(0, 12)} cannot be checked out`, filled.error));
  }
  between('checked out');
  const notes = [
    ...(await copyIncluded(git, making)),
    ...(await fillModules(git, options, base, making)),
    ...(await linkPackages(git, tree.value, making)),
  ];
  between('filled');
  await copyIndex(index, files.index);
  const mirror = wanted.patch === undefined ? undefined : (true as const);
  const about = present({ branch: wanted.branch, mirror });
  const record: PlaceRecord = { format: 1, repo: repository.top, base, admin, notes, ...about };
  await writeWhole(files.record, JSON.stringify(record));
  between('recorded');
  // Git finds it by this once it has moved. It is locked: nobody prunes it in between.
  await writeFile(join(admin, 'gitdir'), `${join(files.path, '.git')}\n`);
  between('announced');
  await rename(making, files.path);
  await syncFolder(dirname(files.path));
  return ok({ place: placeOf(files.path, record), notes });
}

async function addWorktree(
  { environment }: WorkspaceOptions,
  { top }: Repository,
  path: string,
  base: string,
  branch: string | undefined,
): Promise<Result<void, Failure>> {
  const call = { folder: top, environment };
  const start = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', 'a task of troupe works here'];
  if (branch === undefined) {
    const made = await askGit([...start, '--detach', path, base], call);
    return made.ok ? ok(undefined) : fail(gitFailure('No worktree could be made', made.error));
  }
  if (!branch.startsWith(BRANCHES) || !(await askGit(['check-ref-format', '--branch', branch], call)).ok)
    return fail({ code: 'bad_name', message: `A branch of a task is called ${BRANCHES}…, and not ${JSON.stringify(branch)}.` });
  const known = await askGit(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`], call);
  // An earlier attempt may have got so far; somebody's work would be elsewhere.
  if (known.ok && withoutNewline(known.value) !== base)
    return fail({
      code: 'branch_taken',
      message: `There is a branch ${branch} already.`,
      fix: 'Name another one, or delete it.',
    });
  const made = await askGit([...start, ...(known.ok ? [path, branch] : ['-b', branch, path, base])], call);
  return made.ok ? ok(undefined) : fail(gitFailure('No worktree could be made', made.error));
}

const GIT_FILE = /^gitdir: (.+)\n?$/;

/** The folder that git keeps for a worktree, as was recorded when it was made, or as the worktree says. */
export async function adminOf(worktree: string): Promise<string | undefined> {
  const recorded = (await readRecord(besidePlace(worktree).record))?.admin;
  if (recorded !== undefined) return recorded;
  const text = await readFile(join(worktree, '.git'), 'utf8').catch(() => undefined);
  return GIT_FILE.exec(text ?? '')?.[1];
}

/** Only what git keeps for a worktree is removed with it, whatever its `.git` says. */
export async function removeMade(worktree: string, admin: string | undefined): Promise<void> {
  if (admin !== undefined && basename(dirname(admin)) === 'worktrees') {
    const back = await readFile(join(admin, 'gitdir'), 'utf8').catch(() => '');
    if (pointsTo(back, worktree)) await rm(admin, { recursive: true, force: true });
  }
  for (const folder of [worktree, besidePlace(worktree).git]) await rm(folder, { recursive: true, force: true });
}

/** The user may remove it, or prune what git knows of it. */
export async function unlockPlace(worktree: string): Promise<void> {
  const admin = await adminOf(worktree);
  if (admin === undefined || basename(dirname(admin)) !== 'worktrees') return;
  const back = await readFile(join(admin, 'gitdir'), 'utf8').catch(() => '');
  if (!pointsTo(back, worktree)) return;
  await linkToRepository(worktree, admin);
  await rm(join(admin, 'locked'), { force: true });
}

const pointsTo = (gitdir: string, worktree: string): boolean =>
  [worktree, worktree.split(MAKING)[0] ?? ''].some((path) => gitdir.trim() === join(path, '.git'));

/** What an attempt for the same task has left behind when it was cut off, here and in the repository. */
async function sweepTask(files: PlaceFiles, { common }: Repository): Promise<Result<void, Failure>> {
  const started = `${files.path}${MAKING}`;
  const kept = join(common, 'worktrees');
  for (const name of await readdir(kept).catch(() => [])) {
    const back = (await readFile(join(kept, name, 'gitdir'), 'utf8').catch(() => '')).trim();
    const ours = back.startsWith(started) || back === join(files.path, '.git');
    if (ours) await rm(join(kept, name), { recursive: true, force: true });
  }
  for (const name of await readdir(dirname(files.path)))
    if (join(dirname(files.path), name).startsWith(started))
      await rm(join(dirname(files.path), name), { recursive: true, force: true });
  // One that is there without its record is nobody's that is known: it is not taken, and not thrown away.
  if (!(await pathExists(files.path))) return ok(undefined);
  const message = `${files.path} is there, and nothing says what it is.`;
  return fail({ code: 'place_taken', message, fix: 'Look into it, and move it away.' });
}

const WORK_KEPT_MS = 24 * 3_600_000;

/** Git folders of ours that processes have left behind when they were killed. */
async function sweepWork({ home, clock }: WorkspaceOptions): Promise<void> {
  const below = join(home, 'worktrees', '.git-work');
  for (const name of await readdir(below).catch(() => [])) {
    const facts = await stat(join(below, name)).catch(() => undefined);
    if (facts !== undefined && clock.now() - facts.mtimeMs > WORK_KEPT_MS)
      await rm(join(below, name), { recursive: true, force: true });
  }
}
