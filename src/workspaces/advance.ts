/** Commits that are made here: of accepted work, in nobody's branch, for later work to begin from; and the first of a folder. */
import type { Environment } from '../base/environment.ts';
import { ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { runGit, withoutSettings } from './git.ts';
import type { WorkspaceOptions } from './options.ts';
import type { AdvancedWork, WantedAdvance } from './port.ts';
import { withPrivateGit } from './private-git.ts';
import { findRepository } from './repository.ts';
import { commitOf, filesBetween, patchBetween, treeOfPatch } from './trees.ts';

/** Asked for again it is the same commit. Its objects are in the repository, where worktrees find them. */
export async function advanceWork(
  options: WorkspaceOptions,
  { repo, from, base, patch }: WantedAdvance,
): Promise<Result<AdvancedWork, Failure>> {
  const repository = await findRepository(repo, options.environment);
  if (!repository.ok) return repository;
  return await withPrivateGit(repository.value, options.home, options.environment, async (git) => {
    const tree = await treeOfPatch(git, base, patch, true);
    if (!tree.ok) return tree;
    // On where all work began: whoever has that and the patch from there makes the same commit of it.
    const commit = await commitOf(git, tree.value, [from], { keep: true });
    if (!commit.ok) return commit;
    const whole = await patchBetween(git, from, tree.value);
    if (!whole.ok) return whole;
    const files = await filesBetween(git, from, tree.value);
    return files.ok ? ok({ commit: commit.value, patch: whole.value, files: files.value }) : files;
  });
}

const NOBODY = ['-c', 'user.name=troupe', '-c', 'user.email=troupe@localhost', '-c', 'commit.gpgSign=false'];

/** A folder becomes a repository with one commit of everything in it. Whether that could be done: without git it is not. */
export async function firstCommit(folder: string, environment: Environment): Promise<boolean> {
  for (const parameters of [
    ['init', '-q'],
    ['add', '-A'],
    [...NOBODY, 'commit', '-q', '-m', 'The beginning'],
  ])
    if (!(await runGit(parameters, { folder, environment, variables: withoutSettings })).ok) return false;
  return true;
}
