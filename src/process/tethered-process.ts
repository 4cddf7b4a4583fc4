/**
 * Starts a process that ends with ours, together with all that it started, however ours ends: also by SIGKILL, which nobody
 * can react to. It leads a process group of its own, and the reaper is told of the group.
 *
 * There is no moment in between: the process begins as a shell that waits for a line on its input and then becomes the
 * program. The line is written when the reaper knows; if we die before, the input ends and the program never begins. The
 * program is the very process that was started, so its exit code and signal are its own. What passes through the shell is
 * the environment, which gets `PWD` added.
 *
 * A process that starts a session of its own (`setsid`) has left the group and is not followed.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { forgetGroup, rememberGroup } from './reaper.ts';

export interface TetheredOptions {
  readonly folder: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** `none`: it reads from /dev/null. */
  readonly input: 'none' | 'pipe';
  /** As another user, which only root may ask for. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Tethered {
  readonly child: ChildProcessWithoutNullStreams;
  /** To be called when the group was ended. Not needed for one that is empty when its leader ends. */
  release(): void;
}

const GATE_SHELL = '/bin/sh';
const GATE = 'read -r troupe_begin && exec "$0" "$@"';
const DEFAULT_PATH = '/usr/bin:/bin';
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function startTethered(program: string, args: readonly string[], options: TetheredOptions): Tethered {
  const { folder, environment, input } = options;
  const gated = passesGate(program, options);
  const gate = input === 'none' ? `${GATE} </dev/null` : GATE;
  const [file, given] = gated ? [GATE_SHELL, ['-c', gate, program, ...args]] : [program, [...args]];
  const child = spawn(file, given, {
    ...options.user,
    cwd: folder,
    env: environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) return { child, release: () => {} };

  const release = once(() => forgetGroup(pid));
  child.once('exit', () => {
    if (isEmpty(pid)) release();
  });
  // Writing to a process that has just ended is no news: its end is reported by `exit`.
  child.stdin.on('error', () => {});
  child.stdin.cork();
  if (gated) child.stdin.write('\n');
  rememberGroup(pid, () => (input === 'none' ? child.stdin.end() : child.stdin.uncork()));
  return { child, release };
}

/**
 * A program that cannot be found is started without the gate, so that the error is the system's own. So is one with a
 * variable that a shell would not pass on: it is told of a moment after it began.
 */
function passesGate(program: string, { folder = '.', environment }: TetheredOptions): boolean {
  const folders = program.includes('/') ? ['.'] : (environment['PATH'] ?? DEFAULT_PATH).split(delimiter);
  return (
    isExecutable(GATE_SHELL) &&
    Object.keys(environment).every((name) => SHELL_NAME.test(name)) &&
    folders.some((one) => isExecutable(resolve(folder, one, program)))
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function isEmpty(group: number): boolean {
  try {
    process.kill(-group, 0);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}

/** The number of a group that is gone may soon be another's, which must not be forgotten by mistake. */
function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}
