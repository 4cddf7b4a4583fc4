/**
 * Git as a tool that runs nothing of anybody else's. A repository can name programs in many places: hooks, filters, drivers for
 * diffs and merges, monitors, pagers, helpers for credentials, transports. Two ways keep them out:
 *
 * - `askGit` works in the user's repository, for little: where it is, what is checked out, a new worktree without files. Hooks
 * and
 *   monitors are turned off on the command line, no address may be reached, nobody is asked for a password.
 * - Everything that reads or writes files goes through a git folder of our own (`private-git.ts`), in which no settings of the
 *   repository hold at all.
 */
import { spawn } from 'node:child_process';
import type { Environment } from '../base/environment.ts';
import { codeOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { minimalEnvironment } from '../tools/shell/environment.ts';

export interface GitCall {
  readonly folder: string;
  readonly environment: Environment;
  /** Added to what every call gets. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly input?: Uint8Array | undefined;
  readonly timeoutMs?: number | undefined;
  /** Of its output, with the name of the limit for the message. */
  readonly most?: { readonly bytes: number; readonly limit: string } | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears what it said beside its output, also where it did not refuse. */
  readonly told?: ((said: string) => void) | undefined;
}

/** `refused`: git ended by itself with a code. `cut`: it was ended, or could not be started. */
export interface GitFailure {
  readonly kind: 'refused' | 'cut' | 'missing';
  readonly says: string;
  readonly code?: number | undefined;
  /** What it had written by then, where it refused. */
  readonly output?: Buffer | undefined;
}

const QUIET: readonly (readonly [string, string])[] = [
  ['core.hooksPath', '/dev/null'],
  ['core.fsmonitor', 'false'],
  ['core.pager', 'cat'],
  ['core.sshCommand', 'false'],
  ['credential.helper', ''],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['worktree.guessRemote', 'false'],
  ['advice.detachedHead', 'false'],
];

const QUIET_ARGUMENTS = QUIET.flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/** What git reads from its environment beside the settings. */
const QUIET_VARIABLES = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'false',
  SSH_ASKPASS: 'false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_LFS_SKIP_SMUDGE: '1',
  LC_ALL: 'C',
} as const;

/** Neither the machine's settings nor the user's. */
export const withoutSettings = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_ATTR_NOSYSTEM: '1' } as const;

const STDERR_BYTES = 16 * 1024;
const DEFAULT_OUTPUT = { bytes: limits.patchBytes, limit: 'patchBytes' } as const;

/** In the user's repository: nothing here may read or write its files. */
export function askGit(parameters: readonly string[], call: GitCall): Promise<Result<Buffer, GitFailure>> {
  return runGit([...QUIET_ARGUMENTS, ...parameters], call);
}

/** As it is called. */
export function runGit(parameters: readonly string[], call: GitCall): Promise<Result<Buffer, GitFailure>> {
  const { folder, environment, variables, input, timeoutMs = limits.gitMs, most = DEFAULT_OUTPUT, signal, told } = call;
  return new Promise((resolve) => {
    const child = spawn('git', [...parameters], {
      cwd: folder,
      env: { ...minimalEnvironment(environment), ...QUIET_VARIABLES, ...variables },
      stdio: ['pipe', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      ...(signal && { signal }),
    });
    const [out, err] = [new Collected(most.bytes), new Collected(STDERR_BYTES)];
    child.stdout.on('data', (piece: Buffer) => {
      if (!out.add(piece)) child.kill('SIGKILL');
    });
    child.stderr.on('data', (piece: Buffer) => void err.add(piece));
    // One that has ended needs no more input; why it ended is told below.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', (error) => {
      const missing = codeOf(error) === 'ENOENT';
      resolve(fail({ kind: missing ? 'missing' : 'cut', says: missing ? 'git is not installed' : error.message }));
    });
    child.once('close', (code, killed) => {
      if (out.full) return resolve(fail({ kind: 'cut', says: `it is more than ${most.bytes} bytes (${most.limit})` }));
      told?.(err.whole().toString());
      if (code === 0) return resolve(ok(out.whole()));
      if (code !== null)
        return resolve(fail({ kind: 'refused', code, says: lastLines(err.whole().toString()), output: out.whole() }));
      resolve(fail({ kind: 'cut', says: `git was ended by ${killed ?? 'a signal'}; it may take ${timeoutMs / 1_000} s` }));
    });
  });
}

const LINES_TOLD = 4;

function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-LINES_TOLD).join(' ') || 'git said nothing';
}

class Collected {
  readonly #pieces: Buffer[] = [];
  readonly #most: number;
  #bytes = 0;
  full = false;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): boolean {
    this.#bytes += piece.length;
    this.full ||= this.#bytes > this.#most;
    if (!this.full) this.#pieces.push(piece);
    return !this.full;
  }

  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** What stands between zero bytes, which is how git gives names that may hold anything else. */
export function zeroSeparated(bytes: Buffer): readonly string[] {
  const text = bytes.toString('utf8');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The same with the bytes of each: a name need not be a text. */
export function zeroSeparatedBytes(bytes: Buffer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const to = end < 0 ? bytes.length : end;
    pieces.push(bytes.subarray(at, to));
    at = to + 1;
  }
  return pieces;
}
