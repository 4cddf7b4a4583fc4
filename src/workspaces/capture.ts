/**
 * What was done at a place, as a patch against where it began. Compared is what is on the disk, whatever was committed, staged or
 * hidden there meanwhile. What lies outside of the task's domain is taken back: first it is kept as a patch, then the files are
 * as they were in the base. In a folder that is worked in as it is nothing is taken back, because others work there too.
 */
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { sha256 } from '../tools/files/file-change.ts';
import { fileAt, type WatchedChange, type WatchedFile, watchedContent } from '../tools/watch/watched-file.ts';
import { closedBy, type Domain, readDomain, WHOLE } from './domains.ts';
import { zeroSeparated } from './git.ts';
import { baseHolds } from './ground/base-holds.ts';
import type { WorkspaceOptions } from './options.ts';
import { besidePlace, type PlaceFiles, wholePlace, writeWhole } from './place-files.ts';
import type { CapturedWork, DomainPaths, OutsideWrite, WorkPlace } from './port.ts';
import { gitFailure, type PrivateGit, withPrivateGit } from './private-git.ts';
import { findRepository } from './repository.ts';
import { type FolderTree, newAndChanged, snapshot } from './snapshot.ts';
import {
  changesBetween,
  filesBetween,
  LINK_MODE,
  MODULE_MODE,
  patchBetween,
  type TreeChange,
  type TreeEntry,
  treeWith,
} from './trees.ts';

export async function captureWork(
  options: WorkspaceOptions,
  given: WorkPlace,
  paths: DomainPaths = WHOLE,
): Promise<Result<CapturedWork, Failure>> {
  const domain = readDomain(paths);
  if (!domain.ok) return domain;
  return await atPlace(options, given, async (git, base, place) => {
    const files = besidePlace(place.path);
    const same = await baseHolds(git, base);
    if (!same.ok) return same;
    const now = await treeAtPlace(git, place, base);
    if (!now.ok) return now;
    const changes = await changesBetween(git, base, now.value.tree);
    if (!changes.ok) return changes;
    const judged = await judge(git, domain.value, changes.value);
    const inside = judged.filter(({ why }) => why === undefined);
    const modules = inside.filter(({ change }) => isModule(change));
    const tree = await treeWith(git, base, inside.filter(({ change }) => !isModule(change)).map(entryAfter));
    if (!tree.ok) return tree;
    const took = await takeBack(options, git, { base, place, files, outside: judged.filter(({ why }) => why !== undefined) });
    if (!took.ok) return took;
    const [patch, listed] = [await patchBetween(git, base, tree.value), await filesBetween(git, base, tree.value)];
    if (!patch.ok) return patch;
    if (!listed.ok) return listed;
    const uncaptured = [
      ...now.value.passed.map((path) => `${path} is not the project's own`),
      ...modules.map(({ change }) => `the module ${change.path} is at another commit`),
      ...(await changedModules(git, place, base)),
    ];
    return ok({ patch: patch.value, files: listed.value, outside: took.value, uncaptured, lost: now.value.lost });
  });
}

/**
 * What differs from where the place began, in its folder `below`, beside what somebody has seen already. Whoever was cut off
 * while others worked there has not seen everything; the disk has it.
 */
export async function unseenChanges(
  options: WorkspaceOptions,
  place: WorkPlace,
  below: string,
  seen: ReadonlyMap<string, string | null>,
): Promise<Result<readonly WatchedChange[], Failure>> {
  return await atPlace(options, place, async (git, base, { path: top }) => {
    const now = await treeAtPlace(git, { ...place, path: top }, base);
    if (!now.ok) return now;
    const changes = await changesBetween(git, base, now.value.tree);
    if (!changes.ok) return changes;
    const unseen: WatchedChange[] = [];
    for (const { path, before } of changes.value) {
      const own = posix.relative(below, path);
      if (own.startsWith('../') || before?.mode === MODULE_MODE) continue;
      const after = fileAt(top, path);
      if (seen.has(own) && seen.get(own) === (after?.sha256 ?? null)) continue;
      // Of those beyond the limit nobody is told more than how many there are.
      const known = unseen.length < limits.noticedChanges ? await fileIn(git, before) : undefined;
      unseen.push({ path: own, before: known, after });
    }
    return ok(unseen);
  });
}

/** What is there and in no patch. A folder of which all is ignored is one name, with a `/` behind it. */
export async function ignoredAt(options: WorkspaceOptions, given: WorkPlace): Promise<Result<readonly string[], Failure>> {
  return await atPlace(options, given, async (git, _base, { path }) => {
    const kinds = ['--others', '--ignored', '--exclude-standard', '--directory'];
    const listed = await git.run(['ls-files', '-z', ...kinds], { index: besidePlace(path).index, work: path });
    return listed.ok ? ok(zeroSeparated(listed.value)) : fail(gitFailure('The files cannot be listed', listed.error));
  });
}

export async function fileIn(git: PrivateGit, entry: TreeEntry | undefined): Promise<WatchedFile | undefined> {
  const read = entry === undefined ? undefined : await git.run(['cat-file', 'blob', entry.blob]);
  if (entry === undefined || read?.ok !== true) return undefined;
  return watchedContent(read.value, { executable: entry.mode === '100755', link: entry.mode === LINK_MODE });
}

/** A private git over the repository of a place, with where the place began, and the whole of it. */
export async function atPlace<Value>(
  options: WorkspaceOptions,
  given: WorkPlace,
  work: (git: PrivateGit, base: string, place: WorkPlace) => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const { base, repo } = given;
  if (base === undefined || repo === undefined) {
    const message = `${given.path} is not in a git repository, so what was done there is no patch.`;
    return fail({ code: 'no_repository', message, fix: 'Run git init and commit, and begin again.' });
  }
  const place = await wholePlace(given);
  if (!place.ok) return place;
  const repository = await findRepository(repo, options.environment);
  if (!repository.ok) return repository;
  return await withPrivateGit(repository.value, options.home, options.environment, (git) => work(git, base, place.value));
}

/** The disk as it is. The index is the one that was kept when the place was made: nobody could hide anything in it. */
export function treeAtPlace(git: PrivateGit, place: WorkPlace, base: string): Promise<Result<FolderTree, Failure>> {
  const { path, kind } = place;
  if (kind === 'worktree') return snapshot(git, { work: path, index: besidePlace(path).index, base, nested: true });
  const { top, own } = git.repository;
  // Whoever works there can have git pass over what it writes.
  return snapshot(git, { work: top, index: join(own, 'index'), base, nested: false, passedOver: true });
}

export interface JudgedChange {
  readonly change: TreeChange;
  readonly why: string | undefined;
}

const entryAfter = ({ change }: JudgedChange) => ({ path: change.path, entry: change.after });
const entryBefore = ({ change }: JudgedChange) => ({ path: change.path, entry: change.before });
const isModule = ({ before, after }: TreeChange): boolean => before?.mode === MODULE_MODE || after?.mode === MODULE_MODE;

export async function judge(git: PrivateGit, domain: Domain, changes: readonly TreeChange[]): Promise<readonly JudgedChange[]> {
  const judged: JudgedChange[] = [];
  for (const change of changes) {
    const { path, after } = change;
    const leads = after?.mode === LINK_MODE ? await leadsOut(git, path, after.blob) : undefined;
    judged.push({ change, why: closedBy(domain, path) ?? leads });
  }
  return judged;
}

/** A link in a patch must stay within the repository, wherever that will be. */
async function leadsOut(git: PrivateGit, path: string, blob: string): Promise<string | undefined> {
  const read = await git.run(['cat-file', 'blob', blob]);
  const target = read.ok ? read.value.toString() : '/';
  const inside = posix.normalize(posix.join(posix.dirname(path), target));
  const out = target.startsWith('/') || inside === '..' || inside.startsWith('../') || /(?:^|\/)\.git(?:\/|$)/i.test(inside);
  return out ? `it is a link that leads out of the repository, to ${target.slice(0, 200)}` : undefined;
}

interface TakingBack {
  readonly base: string;
  readonly place: WorkPlace;
  readonly files: PlaceFiles;
  readonly outside: readonly JudgedChange[];
}

async function takeBack(
  { between = () => undefined }: WorkspaceOptions,
  git: PrivateGit,
  { base, place, files, outside }: TakingBack,
): Promise<Result<readonly OutsideWrite[], Failure>> {
  const told = outside.map(({ change, why = '' }): OutsideWrite => ({ path: change.path, why }));
  if (place.kind === 'in-place') return ok(told);
  if (outside.length > 0) {
    const tree = await treeWith(git, base, outside.map(entryAfter));
    const patch = tree.ok ? await patchBetween(git, base, tree.value) : tree;
    if (!patch.ok) return patch;
    const stored = await keepOutside(files, patch.value, told);
    if (!stored.ok) return stored;
    between('kept');
    const restored = await restore(git, place.path, outside);
    if (!restored.ok) return restored;
    between('restored');
  }
  return ok(await everKept(files));
}

/** The same patch again is the same file: an attempt that was cut off is told once. */
export async function keepOutside(
  { kept }: PlaceFiles,
  patch: Uint8Array,
  told: readonly OutsideWrite[],
): Promise<Result<void, Failure>> {
  await mkdir(kept, { recursive: true, mode: 0o700 });
  if ((await readdir(kept)).length / 2 >= limits.keptPatches) {
    const message = `${kept} holds ${limits.keptPatches} patches of what was written outside of the domain (keptPatches).`;
    return fail({ code: 'too_many_outside', message, fix: 'End the task: what it does is not what it was given.' });
  }
  const name = `outside-${sha256(patch).slice(0, 16)}`;
  await writeWhole(join(kept, `${name}.patch`), patch);
  // The list stands for the patch: it is written last.
  await writeWhole(join(kept, `${name}.json`), JSON.stringify(told));
  return ok(undefined);
}

const keptList = z.array(z.object({ path: z.string(), why: z.string() }));

/** All that was ever taken back at the place, also by a process that was cut off before it could tell. */
export async function everKept({ kept }: PlaceFiles): Promise<readonly OutsideWrite[]> {
  const writes: OutsideWrite[] = [];
  for (const name of (await readdir(kept).catch(() => [])).toSorted()) {
    if (!name.endsWith('.json')) continue;
    const read = parseJson(await readFile(join(kept, name), 'utf8'));
    const told = keptList.safeParse(read.ok ? read.value : undefined);
    const patch = join(kept, name.replace(/json$/, 'patch'));
    writes.push(...(told.data ?? []).map((one) => ({ ...one, kept: patch })));
  }
  return writes;
}

/** The files as they were in the base; what was not there goes. Git does it, so no link on the way is followed. */
export async function restore(git: PrivateGit, work: string, outside: readonly JudgedChange[]): Promise<Result<void, Failure>> {
  const [now, wanted] = await Promise.all([
    treeWith(git, undefined, outside.filter(({ change }) => change.after !== undefined).map(entryAfter), 'now'),
    treeWith(git, undefined, outside.filter(({ change }) => change.before !== undefined).map(entryBefore), 'before'),
  ]);
  if (!now.ok) return now;
  if (!wanted.ok) return wanted;
  // An index that knows only these files: whatever else is there is not looked at.
  const call = { index: join(git.folder, 'index-restore'), work, timeoutMs: limits.checkoutMs };
  const begun = await git.run(['read-tree', now.value], call);
  const done = begun.ok ? await git.run(['read-tree', '--reset', '-u', wanted.value], call) : begun;
  if (done.ok) return ok(undefined);
  return fail(gitFailure('What was written outside of the domain cannot be taken back', done.error));
}

/** Work inside of modules is in no patch of the repository. */
async function changedModules(git: PrivateGit, place: WorkPlace, base: string): Promise<readonly string[]> {
  if (place.kind === 'in-place') return [];
  const paths = await modulePaths(git, base);
  const changed: string[] = [];
  for (const path of paths) {
    const work = join(place.path, path);
    const listed = await newAndChanged(git, join(work, '.git', 'index'), work);
    if (listed.ok && listed.value.differing.length > 0) changed.push(`files of the module ${path} are changed`);
  }
  return changed;
}

async function modulePaths(git: PrivateGit, base: string): Promise<readonly string[]> {
  if (!(await git.run(['cat-file', '-e', `${base}:.gitmodules`])).ok) return [];
  const listed = await git.run(['ls-tree', '-r', base]);
  const lines = listed.ok ? listed.value.toString().split('\n') : [];
  return lines.flatMap((line) => /^160000 commit \w+\t([^"].*)$/.exec(line)?.[1] ?? []);
}
