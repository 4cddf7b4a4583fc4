/** Runs a program that answers at once, within a time and with a bounded answer. Of our variables it gets PATH and HOME. */
import { execFile } from 'node:child_process';
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';

export interface BriefCommand {
  /** The whole path: nothing is looked for in the folder. */
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Environment;
  readonly timeoutMs: number;
  /** Variables of its own. */
  readonly more?: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
}

/** What it printed, errors included; `undefined` when it failed, took too long or printed too much. */
export function runBriefly(command: BriefCommand): Promise<string | undefined> {
  const { program, args, folder, environment, timeoutMs, more, maxBytes = limits.environmentToolBytes } = command;
  const { PATH, HOME } = environment;
  const env = { PATH, HOME, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', NO_COLOR: '1', ...more };
  const options = { cwd: folder, env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxBytes } as const;
  return new Promise((resolve) => {
    const child = execFile(program, [...args], options, (error, stdout, stderr) =>
      resolve(error === null ? stdout || stderr : undefined),
    );
    child.stdin?.end();
  });
}
