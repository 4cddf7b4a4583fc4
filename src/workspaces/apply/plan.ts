/**
 * What an apply would do, before anything is done: the work of a run merged with what is checked out now, file by file. A file
 * that the user has changed and not committed is in the way; with `merge` the user's files as they are take part in the merge
 * instead.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { withNames } from '../conflicts.ts';
import { zeroSeparated } from '../git.ts';
import { mergeTrees } from '../merge.ts';
import type { MergeConflict, PatchedFile } from '../port.ts';
import { gitFailure, type PrivateGit, said } from '../private-git.ts';
import type { Repository } from '../repository.ts';
import { copyIndex, snapshot, zeroEnded } from '../snapshot.ts';
import { changesBetween, commitOf, filesBetween, MODULE_MODE, type TreeChange, treeOfPatch } from '../trees.ts';
import { linkAbove } from './effects.ts';
import { type FileState, fileStateAt } from './journal.ts';

export interface InTheWay {
  readonly path: string;
  readonly why: string;
  /** What to do about it where no commit and no merge would help. */
  readonly fix?: string;
}

export interface ApplyPlan {
  /** What it begins with: the tree of what is checked out, or of the user's files as they are. */
  readonly from: string;
  readonly to: string;
  readonly changes: readonly TreeChange[];
  readonly files: readonly PatchedFile[];
  /** Files of the user's own that are in the way, each with how. Then nothing may be done. */
  readonly inTheWay: readonly InTheWay[];
  readonly conflicts: readonly MergeConflict[];
  /** How each of these files was right before it was compared: one that is another by now was not. */
  readonly seen: ReadonlyMap<string, FileState>;
}

export interface PlanOptions {
  readonly base: string;
  readonly patch: Uint8Array;
  readonly merge: boolean;
  /** Only what is committed counts: for a branch. */
  readonly committedOnly: boolean;
  readonly run: string;
}

type Committed = Repository & { readonly head: string };

export async function planApply(git: PrivateGit, repository: Committed, given: PlanOptions): Promise<Result<ApplyPlan, Failure>> {
  // Nothing keeps where work began once its place is gone. What the patch needs of it may be checked out all the same.
  const isHere = (await git.run(['cat-file', '-e', `${given.base}^{tree}`])).ok;
  const options = isHere ? given : { ...given, base: repository.head };
  const wanted = await treeOfPatch(git, options.base, options.patch);
  if (!wanted.ok) return isHere ? wanted : fail(baseGone(given.base));
  const touched = await changesBetween(git, options.base, wanted.value);
  if (!touched.ok) return touched;
  const module = touched.value.find(({ before, after }) => before?.mode === MODULE_MODE || after?.mode === MODULE_MODE);
  if (module !== undefined)
    return fail({ code: 'module_changed', message: `The patch moves the module ${module.path}, which is not applied.` });
  const seen = await statesAt(repository.top, touched.value);
  const ours = await oursOf(git, repository, options);
  if (!ours.ok) return ours;
  // Files of the patch itself are told before git is asked: that one is not committed says more than that it does not merge.
  const early = await inTheWay(git, repository, touched.value, options);
  if (!early.ok) return early;
  if (early.value.length > 0) return await refused(git, ours.value, early.value, options.base, wanted.value);
  const merged = await mergeOnto(git, options, ours.value, wanted.value);
  if (!merged.ok) return merged;
  const { tree, conflicts } = merged.value;
  if (conflicts.length > 0) return ok({ ...nothingToDo(ours.value), conflicts });
  const changes = await changesBetween(git, ours.value, tree);
  const files = changes.ok ? await filesBetween(git, ours.value, tree) : changes;
  // Files that the user has renamed are others than those of the patch.
  const moved = changes.ok ? changes.value.filter(({ path }) => !seen.has(path)) : [];
  for (const [path, state] of await statesAt(repository.top, moved)) seen.set(path, state);
  const blocked = changes.ok ? await inTheWay(git, repository, changes.value, options) : changes;
  if (!changes.ok) return changes;
  if (!files.ok) return files;
  if (!blocked.ok) return blocked;
  const about = { changes: changes.value, files: files.value, inTheWay: blocked.value, seen };
  return ok({ ...nothingToDo(ours.value), to: tree, ...about });
}

function baseGone(base: string): Failure {
  const gone = `Where the work began (${base.slice(0, 12)}) is not in the repository any more`;
  return {
    ...{ code: 'base_gone', message: `${gone}, and the patch does not fit what is checked out.` },
    fix: 'Its patch is kept: troupe artifacts list names it, and troupe artifacts get writes it, for git apply --reject.',
  };
}

const nothingToDo = (tree: string): ApplyPlan => ({
  ...{ from: tree, to: tree, changes: [], files: [], inTheWay: [], conflicts: [], seen: new Map() },
});

async function statesAt(top: string, changes: readonly TreeChange[]): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>();
  for (const { path } of changes) states.set(path, await fileStateAt(join(top, path)));
  return states;
}

async function refused(
  git: PrivateGit,
  from: string,
  blocked: ApplyPlan['inTheWay'],
  base: string,
  wanted: string,
): Promise<Result<ApplyPlan, Failure>> {
  const files = await filesBetween(git, base, wanted);
  return files.ok ? ok({ ...nothingToDo(from), files: files.value, inTheWay: blocked }) : files;
}

async function oursOf(git: PrivateGit, repository: Committed, { merge }: PlanOptions): Promise<Result<string, Failure>> {
  if (!merge)
    return said(await git.run(['rev-parse', '--verify', `${repository.head}^{tree}`]), 'What is checked out cannot be read');
  const index = join(repository.own, 'index');
  const now = await snapshot(git, { work: repository.top, index, base: repository.head, nested: false, passedOver: true });
  return now.ok ? ok(now.value.tree) : now;
}

/** Both sides get the base as their parent, so git goes by that and by nothing else of the history. */
async function mergeOnto(
  git: PrivateGit,
  { base, run }: PlanOptions,
  ours: string,
  theirs: string,
): Promise<Result<{ readonly tree: string; readonly conflicts: readonly MergeConflict[] }, Failure>> {
  const [mine, work] = [
    await commitOf(git, ours, [base], { message: 'yours' }),
    await commitOf(git, theirs, [base], { message: run }),
  ];
  if (!mine.ok) return mine;
  if (!work.ok) return work;
  const merged = await mergeTrees(git, mine.value, work.value);
  if (!merged.ok) return merged;
  const { tree, conflicted } = merged.value;
  if (conflicted === undefined) return ok({ tree, conflicts: [] });
  const names = { [mine.value]: 'your files', [work.value]: run };
  return await withNames(git, tree, conflicted, {
    ours: mine.value,
    theirs: work.value,
    names,
    task: run,
    against: ['your files'],
  });
}

/** What is on the disk at these paths and is not what is checked out. */
async function inTheWay(
  git: PrivateGit,
  repository: Committed,
  changes: readonly TreeChange[],
  { merge, committedOnly }: PlanOptions,
): Promise<Result<ApplyPlan['inTheWay'], Failure>> {
  if (committedOnly) return ok([]);
  const found = new Map<string, Omit<InTheWay, 'path'>>();
  const paths = new Set(changes.map(({ path }) => path));
  for (const { path, after } of changes) {
    const why = await blockedBy(repository.top, path, after !== undefined, paths);
    if (why !== undefined) found.set(path, why);
  }
  const open = new Set([...paths].filter((path) => !found.has(path)));
  const differing = merge ? await ignoredAmong(git, repository, open) : await differingFrom(git, repository, changes, open);
  if (!differing.ok) return differing;
  for (const [path, why] of differing.value) found.set(path, { why });
  return ok([...found].map(([path, how]) => ({ path, ...how })).toSorted((one, other) => (one.path < other.path ? -1 : 1)));
}

/** What no merge could help with. */
async function blockedBy(
  top: string,
  path: string,
  written: boolean,
  paths: ReadonlySet<string>,
): Promise<Omit<InTheWay, 'path'> | undefined> {
  const link = await linkAbove(top, path);
  if (link !== undefined) return { why: `it lies behind a link, ${link}`, fix: `Move ${link} away` };
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const above = parts.slice(0, length).join('/');
    const facts = await lstat(join(top, above)).catch(() => undefined);
    if (facts !== undefined && !facts.isDirectory() && !paths.has(above))
      return { why: `${above} is a file of yours`, fix: `Move ${above} away` };
  }
  const facts = await lstat(join(top, path)).catch(() => undefined);
  if (facts === undefined || facts.isFile() || facts.isSymbolicLink()) return undefined;
  if (!facts.isDirectory()) return { why: 'it is no file', fix: `Move ${path} away` };
  return written ? await blockedByFolder(top, path, paths) : undefined;
}

/** A folder makes room for a file when all that is in it goes. An empty one is nobody's work, and still somebody's folder. */
async function blockedByFolder(
  top: string,
  path: string,
  paths: ReadonlySet<string>,
): Promise<Omit<InTheWay, 'path'> | undefined> {
  const fix = `Move the folder ${path} away`;
  const below = await readdir(join(top, path), { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (below === undefined) return { why: 'it is a folder that cannot be read', fix };
  const named = below.map((one) => ({ one, at: join(one.parentPath, one.name).slice(top.length + 1) }));
  if (named.some(({ one, at }) => !one.isDirectory() && !paths.has(at)))
    return { why: 'it is a folder with files of yours', fix };
  const folders = [path, ...named.filter(({ one }) => one.isDirectory()).map(({ at }) => at)];
  const empty = folders.findLast((folder) => !named.some(({ one, at }) => !one.isDirectory() && at.startsWith(`${folder}/`)));
  if (empty === undefined) return undefined;
  return { why: `${empty} is an empty folder of yours`, fix: `Remove the empty folder ${empty}` };
}

type Found = readonly (readonly [path: string, why: string])[];

/** Files that are not as HEAD has them: on the disk, or in the index. */
async function differingFrom(
  git: PrivateGit,
  { top, own, head }: Committed,
  changes: readonly TreeChange[],
  open: ReadonlySet<string>,
): Promise<Result<Found, Failure>> {
  const index = join(git.folder, 'index-differing');
  const begun = await git.run(['read-tree', head], { index });
  if (!begun.ok) return fail(gitFailure('What is checked out cannot be read', begun.error));
  const there: string[] = [];
  const gone: string[] = [];
  for (const path of open) {
    const facts = await lstat(join(top, path)).catch(() => undefined);
    (facts === undefined || facts.isDirectory() ? gone : there).push(path);
  }
  for (const [flags, list] of [
    [['--force-remove'], gone],
    [['--add', '--replace'], there],
  ] as const) {
    if (list.length === 0) continue;
    const put = await git.run(['update-index', '-z', ...flags, '--stdin'], { index, work: top, input: zeroEnded(list) });
    if (!put.ok) return fail(gitFailure('Your files cannot be read', put.error));
  }
  const now = said(await git.run(['write-tree'], { index }), 'Your files cannot be compared');
  const changed = now.ok ? await changesBetween(git, head, now.value) : now;
  if (!changed.ok) return changed;
  const staged = await stagedIn(git, own, head);
  if (!staged.ok) return staged;
  const dirty = new Map(changed.value.map(({ path, after }) => [path, after]));
  const found: (readonly [string, string])[] = [];
  for (const { path, after } of changes) {
    if (!open.has(path)) continue;
    // What is already as it is wanted is not touched.
    const asWanted = dirty.has(path) && dirty.get(path)?.blob === after?.blob && dirty.get(path)?.mode === after?.mode;
    if (dirty.has(path) && !asWanted) found.push([path, 'you have changed it and not committed it']);
    else if (!dirty.has(path) && staged.value.has(path)) found.push([path, 'you have staged it']);
  }
  return ok(found);
}

async function stagedIn(git: PrivateGit, own: string, head: string): Promise<Result<ReadonlySet<string>, Failure>> {
  const index = join(git.folder, 'index-staged');
  const copied = await copyIndex(join(own, 'index'), index).then(
    () => true,
    () => false,
  );
  // No index is one in which nothing is staged.
  if (!copied) return ok(new Set());
  const listed = await git.run(['diff-index', '--cached', '-z', '--name-only', '--no-renames', head], { index });
  return listed.ok ? ok(new Set(zeroSeparated(listed.value))) : fail(gitFailure('Your index cannot be read', listed.error));
}

/** An ignored file takes no part in a merge, and must not be overwritten either. */
async function ignoredAmong(
  git: PrivateGit,
  { top, own }: Committed,
  paths: ReadonlySet<string>,
): Promise<Result<Found, Failure>> {
  const index = join(git.folder, 'index-ignored');
  await copyIndex(join(own, 'index'), index).catch(() => undefined);
  const listed = await git.run(['ls-files', '-z', '--others', '--ignored', '--exclude-standard'], { index, work: top });
  if (!listed.ok) return fail(gitFailure('Your files cannot be listed', listed.error));
  const ignored = zeroSeparated(listed.value).filter((path) => paths.has(path));
  return ok(ignored.map((path) => [path, 'you have a file there that git ignores'] as const));
}
