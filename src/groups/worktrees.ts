/**
 * Git worktrees of groups. They are planned first and recorded with the group, then made; making them again makes only what is
 * missing, so a crash in between costs nothing. Whoever calls this holds the lease of the organisation: git does not like two
 * of these at once. Work that is not committed is never thrown away unasked.
 */

import { rmdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import type { Worktree, WorktreeStrategy } from '../events/organisation.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { askGit } from '../workspaces/git.ts';

export interface WorktreePlan {
  readonly strategy: WorktreeStrategy;
  /** Where state of the project lives. */
  readonly home: string;
  readonly group: string;
  /** A word for branches. */
  readonly word: string;
  /** The workers, each with a word for branches and folders. */
  readonly workers: readonly { readonly name: string; readonly word: string }[];
}

export function planWorktrees({ strategy, home, group, word, workers }: WorktreePlan): Worktree[] {
  const folder = join(home, 'worktrees', group);
  const branch = `troupe/${word}-${group.slice(-6)}`;
  if (strategy === 'shared') return [];
  if (strategy === 'group') return [{ path: folder, branch }];
  return workers.map((worker) => ({
    member: worker.name,
    path: join(folder, worker.word),
    branch: `${branch}/${worker.word}`,
  }));
}

/** The top of the repository that a folder lies in. It must have a commit: worktrees begin at one. */
export async function repositoryOf(folder: string, env: Environment): Promise<Result<string, Failure>> {
  const top = await git(folder, ['rev-parse', '--show-toplevel'], env);
  if (!top.ok)
    return fail({
      code: 'no_repository',
      message: `${folder} is not in a git repository, so there can be no worktrees.`,
      fix: 'Use the project’s own folder (--worktrees shared), or run git init and commit.',
    });
  const head = await git(folder, ['rev-parse', '--verify', 'HEAD'], env);
  if (head.ok) return ok(top.value.trim());
  const message = `The repository ${top.value.trim()} has no commit yet, so there can be no worktrees.`;
  return fail({ code: 'no_repository', message, fix: 'Commit something first, or use --worktrees shared.' });
}

/** Makes those that are missing. */
export async function makeWorktrees(
  repo: string,
  worktrees: readonly Worktree[],
  env: Environment,
): Promise<Result<void, Failure>> {
  for (const { path, branch } of worktrees) {
    if (await pathExists(path)) continue;
    await git(repo, ['worktree', 'prune'], env);
    const known = (await git(repo, ['rev-parse', '--verify', `refs/heads/${branch}`], env)).ok;
    const made = await git(repo, ['worktree', 'add', ...(known ? [path, branch] : ['-b', branch, path, 'HEAD'])], env);
    if (!made.ok) return fail({ code: 'worktree', message: `No worktree could be made at ${path}: ${made.error}` });
  }
  return ok(undefined);
}

/** Those with changes that are not committed. */
export async function changedWorktrees(worktrees: readonly Worktree[], env: Environment): Promise<readonly Worktree[]> {
  const changed: Worktree[] = [];
  for (const worktree of worktrees) {
    const status = (await pathExists(worktree.path)) ? await git(worktree.path, ['status', '--porcelain'], env) : undefined;
    if (status?.ok === true && status.value.trim() !== '') changed.push(worktree);
  }
  return changed;
}

/** Removes worktrees, and their branches unless these hold commits of their own. Returns the branches that were kept. */
export async function removeWorktrees(
  repo: string,
  worktrees: readonly Worktree[],
  env: Environment,
): Promise<Result<readonly string[], Failure>> {
  const kept: string[] = [];
  for (const { path, branch } of worktrees) {
    if (await pathExists(path)) {
      const removed = await git(repo, ['worktree', 'remove', '--force', path], env);
      if (!removed.ok) return fail({ code: 'worktree', message: `The worktree ${path} could not be removed: ${removed.error}` });
    }
    const known = (await git(repo, ['rev-parse', '--verify', `refs/heads/${branch}`], env)).ok;
    if (known && !(await git(repo, ['branch', '-d', branch], env)).ok) kept.push(branch);
  }
  // The folder of a group with several goes when it is empty.
  for (const folder of new Set(worktrees.map(({ path }) => dirname(path)))) await rmdir(folder).catch(() => undefined);
  return ok(kept);
}

/** The place in a worktree that corresponds to the workspace in the repository. */
export function workspaceIn(worktree: string, repo: string, workspace: string): string {
  const inside = relative(repo, workspace);
  return inside.startsWith('..') ? worktree : join(worktree, inside);
}

async function git(folder: string, parameters: readonly string[], environment: Environment): Promise<Result<string, string>> {
  // People work with these: large files are there if git gets them.
  const variables = { GIT_LFS_SKIP_SMUDGE: '0' };
  const said = await askGit(parameters, { folder, environment, variables, timeoutMs: limits.checkoutMs });
  return said.ok ? ok(said.value.toString()) : fail(said.error.says);
}
