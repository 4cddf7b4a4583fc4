/**
 * Which commit a workspace is at, and whether it differs from it. Settings of the repository may name programs, and an agent may
 * have written them; so only what runs none is asked: no filters, no monitors, no hooks. A file that was only touched counts as
 * changed, which nobody can be misled by.
 */
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { runBriefly } from './brief-command.ts';
import { programOutside } from './tool-versions.ts';

export interface GitState {
  readonly commit: string;
  readonly dirty: boolean;
}

/** What is not said on stdout is said by the exit code, so nothing has to be large. */
const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.untrackedCache=false'];

/** `undefined`: no repository, no commit in it, or git does not say. */
export async function gitState(workspace: string, environment: Environment): Promise<GitState | undefined> {
  const program = await programOutside('git', workspace, environment);
  if (program === undefined) return undefined;
  const git = (...args: readonly string[]): Promise<string | undefined> =>
    runBriefly({
      ...{ program, folder: workspace, environment },
      args: [...SAFE, ...args],
      timeoutMs: limits.environmentGitMs,
      maxBytes: limits.environmentGitBytes,
    });
  const commit = (await git('rev-parse', '--verify', '--quiet', 'HEAD'))?.trim();
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const [changed, added] = await Promise.all([
    git('diff-index', '--raw', '--no-ext-diff', '--no-textconv', 'HEAD', '--'),
    git('ls-files', '--others', '--exclude-standard', '--directory', '--no-empty-directory'),
  ]);
  // Too much to be told, or a failure: then it certainly is not known to be clean.
  return { commit, dirty: changed !== '' || added !== '' };
}
