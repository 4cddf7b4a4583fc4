/**
 * One patch of several. Git's own three-way merge puts the work of one task after the other onto the base, in objects only:
 * nobody's files are involved. A task that stands against one before it is left out as a whole, so that what is merged is made
 * of whole pieces of work, and told with both sides; its own patch is still there, and `marked` is where somebody who resolves
 * it begins.
 */
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { type Conflicted, readConflicts, withNames } from './conflicts.ts';
import type { WorkspaceOptions } from './options.ts';
import type { LeftTask, MergedWork, TaskPatch, WantedMerge } from './port.ts';
import { gitFailure, type PrivateGit, withPrivateGit } from './private-git.ts';
import { findRepository } from './repository.ts';
import { changesBetween, commitOf, filesBetween, patchBetween, treeOfPatch } from './trees.ts';

export async function mergeWork(options: WorkspaceOptions, wanted: WantedMerge): Promise<Result<MergedWork, Failure>> {
  const { patches, repo } = wanted;
  if (patches.length > limits.mergePatches) {
    const message = `${patches.length} patches are more than one merge takes: ${limits.mergePatches} (mergePatches).`;
    return fail({ code: 'too_many_patches', message, fix: 'Merge some of them first.' });
  }
  const repository = await findRepository(repo, options.environment);
  if (!repository.ok) return repository;
  return await withPrivateGit(repository.value, options.home, options.environment, (git) => mergeAll(git, wanted));
}

interface Merging {
  /** Of the work that is merged so far; its one parent is the base. */
  commit: string;
  tree: string;
  readonly merged: { readonly task: string; readonly tree: string }[];
  readonly left: LeftTask[];
}

/** In a private git that is there already. */
export async function mergeAll(
  git: PrivateGit,
  { base, patches }: Omit<WantedMerge, 'repo'>,
): Promise<Result<MergedWork, Failure>> {
  const state: Merging = { commit: base, tree: base, merged: [], left: [] };
  for (const one of patches) {
    const done = await mergeOne(git, base, state, one);
    if (!done.ok) return fail({ ...done.error, message: `${one.task}: ${done.error.message}` });
  }
  const patch = await patchBetween(git, base, state.tree);
  const files = patch.ok ? await filesBetween(git, base, state.tree) : patch;
  if (!patch.ok) return patch;
  if (!files.ok) return files;
  return ok({ patch: patch.value, files: files.value, merged: state.merged.map(({ task }) => task), left: state.left });
}

async function mergeOne(
  git: PrivateGit,
  base: string,
  state: Merging,
  { task, patch }: TaskPatch,
): Promise<Result<void, Failure>> {
  const tree = await treeOfPatch(git, base, patch);
  if (!tree.ok) return tree;
  const theirs = await commitOf(git, tree.value, [base]);
  if (!theirs.ok) return theirs;
  const first = state.commit === base;
  const outcome = first ? ok<TreesMerged>({ tree: tree.value }) : await mergeTrees(git, state.commit, theirs.value);
  if (!outcome.ok) return outcome;
  if (outcome.value.conflicted === undefined) {
    const commit = await commitOf(git, outcome.value.tree, [base]);
    if (!commit.ok) return commit;
    Object.assign(state, { commit: commit.value, tree: outcome.value.tree });
    state.merged.push({ task, tree: tree.value });
    return ok(undefined);
  }
  const left = await leftTask(git, base, state, { task, tree: tree.value, theirs: theirs.value }, outcome.value);
  if (left.ok) state.left.push(left.value);
  return left.ok ? ok(undefined) : left;
}

interface TreesMerged {
  readonly tree: string;
  /** Absent when all went together. */
  readonly conflicted?: Conflicted | undefined;
}

/** Two commits whose common parent is known to git become one tree. */
export async function mergeTrees(git: PrivateGit, ours: string, theirs: string): Promise<Result<TreesMerged, Failure>> {
  const parameters = ['-c', 'merge.conflictStyle=diff3', 'merge-tree', '--write-tree', '-z', '--messages', ours, theirs];
  const said = await git.run(parameters, { timeoutMs: limits.checkoutMs });
  if (said.ok) return ok({ tree: said.value.toString().split('\0')[0]?.trim() ?? '' });
  const { code, output } = said.error;
  // 1 is for conflicts; everything else is trouble.
  if (code !== 1 || output === undefined) return fail(gitFailure('The work cannot be merged', said.error));
  const conflicted = readConflicts(output);
  return ok({ tree: conflicted.tree, conflicted });
}

async function leftTask(
  git: PrivateGit,
  base: string,
  { merged, commit }: Merging,
  one: { readonly task: string; readonly tree: string; readonly theirs: string },
  { conflicted, tree }: TreesMerged,
): Promise<Result<LeftTask, Failure>> {
  const paths = new Set(conflicted?.paths);
  const against: string[] = [];
  for (const other of merged) {
    const changes = await changesBetween(git, base, other.tree);
    if (!changes.ok) return changes;
    if (changes.value.some(({ path }) => paths.has(path) || isAbove(paths, path))) against.push(other.task);
  }
  const names = { [commit]: against.join(', ') || 'merged', [one.theirs]: one.task };
  const told = await withNames(git, tree, conflicted, { ours: commit, theirs: one.theirs, names, task: one.task, against });
  if (!told.ok) return told;
  const marked = await patchBetween(git, base, told.value.tree);
  return marked.ok ? ok({ task: one.task, against, conflicts: told.value.conflicts, marked: marked.value }) : marked;
}

/** A file on one side may be a folder on the other. */
function isAbove(paths: ReadonlySet<string>, path: string): boolean {
  return [...paths].some((one) => path.startsWith(`${one}/`) || one.startsWith(`${path}/`) || one.startsWith(`${path}~`));
}
