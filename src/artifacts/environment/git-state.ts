/**
 * Which commit a workspace is at, and whether it differs from it. Settings of the repository may name programs, and an agent may
 * have written them; so nothing is asked that runs one: no monitors, no hooks, and filters, which git runs to compare files, are
 * told to do nothing. Where that makes a file look changed, it counts as changed, which nobody can be misled by.
 */
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { runBriefly } from './brief-command.ts';
import { programOutside } from './tool-versions.ts';

export interface GitState {
  readonly commit: string;
  readonly dirty: boolean;
}

const SAFE = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'core.untrackedCache=false'];

/** `undefined`: no repository, no commit in it, or git does not say. */
export async function gitState(workspace: string, environment: Environment): Promise<GitState | undefined> {
  const program = await programOutside('git', workspace, environment);
  if (program === undefined) return undefined;
  const bounds = { timeoutMs: limits.environmentGitMs, maxBytes: limits.environmentGitBytes };
  const ask = (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string | undefined> =>
    runBriefly({ program, folder: workspace, environment, args: [...SAFE, ...args], more, ...bounds });
  const settings = await ask(['config', '--list', '--name-only', '-z']);
  if (settings === undefined) return undefined;
  const git = (...args: readonly string[]): Promise<string | undefined> => ask(args, withoutPrograms(settings));
  const commit = (await git('rev-parse', '--verify', '--quiet', 'HEAD'))?.trim();
  if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit)) return undefined;
  const [changed, added] = await Promise.all([
    git('diff-index', '--raw', '--no-ext-diff', '--no-textconv', 'HEAD', '--'),
    git('ls-files', '--others', '--exclude-standard', '--directory', '--no-empty-directory'),
  ]);
  // Too much to be told, or a failure: then it certainly is not known to be clean.
  return { commit, dirty: changed !== '' || added !== '' };
}

/** Settings of filters and of what compares files, overruled by nothing at all. */
function withoutPrograms(settings: string): Readonly<Record<string, string>> {
  const named = settings.split('\0').filter((key) => /^filter\.[\s\S]*\.(?:clean|smudge|process|required)$/i.test(key));
  const entries = [...new Set(named)].flatMap((key, index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, /\.required$/i.test(key) ? 'false' : ''],
  ]);
  return { ...Object.fromEntries(entries), GIT_CONFIG_COUNT: String(entries.length / 2) };
}
