/**
 * Which files of a workspace count: with git, what is tracked and what is new and not ignored; without, a bounded walk. The
 * user's index and HEAD are only read. Folders that hold nothing of the project's own never count.
 */

import { type ExecFileException, execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { holdFolder } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { minimalEnvironment } from '../shell/environment.ts';

/** Never the project's own, also where somebody has committed it. */
const FOREIGN = /(?:^|\/)(?:\.git|\.troupe|node_modules)(?:\/|$)/;
/** What programs leave behind, whether a project ignores it or not; it counts once it is committed. */
const LEFTOVERS =
  /(?:^|\/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.nyc_output|coverage|\.venv|\.tox|test-results|playwright-report)(?:\/|$)|(?:\.pyc|\.tsbuildinfo|(?:^|\/)\.coverage|(?:^|\/)\.DS_Store)$/;

/** Whether a path never is the project's own; of one that is new also whether a program left it behind. */
export function isNobodysOwn(path: string, isNew: boolean): boolean {
  return FOREIGN.test(path) || (isNew && LEFTOVERS.test(path));
}

const SOURCE = /\.(?:[cm]?[jt]sx?|py|rb|php)$/;
/** What comes with a report, and what is installed. */
const BROUGHT =
  /(?:^|\/)(?:lcov-report|playwright-report|test-results|\.git|node_modules|\.venv|\.tox)\/|(?:^|\/)(?:prettify|sorter|block-navigation)\.js$/;

/** A source may be brought in from anywhere: where programs leave something, or keep their state, one is no leftover. */
const isHiddenSource = (path: string): boolean => SOURCE.test(path) && !BROUGHT.test(path);

/** Paths relative to `root`, with `/`, in no order. The failure says which limit was passed. */
export async function workspaceFiles(
  root: string,
  environment: Environment,
  maxFiles: number,
): Promise<Result<readonly string[], string>> {
  const listed = await listedByGit(root, environment);
  if (listed.kind === 'failed') return fail(`git did not say which files there are: ${listed.why}`);
  if (listed.kind === 'none') return walked(root, '', maxFiles);
  const files: string[] = [];
  for (const line of listed.lines) {
    // `? path` is new, any other letter is tracked.
    const path = line.slice(2);
    if (path === '' || (isNobodysOwn(path, line.startsWith('?')) && !isHiddenSource(path))) continue;
    // A repository inside this one is one entry to git.
    if (path.endsWith('/')) {
      const inside = walked(root, path.slice(0, -1), maxFiles);
      if (!inside.ok) return inside;
      files.push(...inside.value);
    } else files.push(path);
    if (files.length > maxFiles) return tooMany(maxFiles);
  }
  return ok(files);
}

/** There is no repository or no git, or git was cut off: then nobody knows what it would have passed over. */
type Listed =
  | { readonly kind: 'listed'; readonly lines: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly why: string };

function listedByGit(root: string, environment: Environment): Promise<Listed> {
  const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '-t', '--cached', '--others', '--exclude-standard'];
  const env = { ...minimalEnvironment(environment), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  return new Promise((resolve) => {
    const options = { cwd: root, env, maxBuffer: limits.fingerprintFiles * 512, timeout: limits.gitMs };
    execFile('git', args, options, (error, stdout) => {
      if (error === null) return resolve({ kind: 'listed', lines: stdout.split('\0') });
      // What ended with a code has said no by itself.
      if (typeof error.code === 'number' || error.code === 'ENOENT') return resolve({ kind: 'none' });
      resolve({ kind: 'failed', why: cutOff(error, options) });
    });
  });
}

function cutOff(
  { code, signal, killed }: ExecFileException,
  { maxBuffer, timeout }: { maxBuffer: number; timeout: number },
): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `the names have more than ${maxBuffer} bytes (fingerprintFiles)`;
  if (killed === true) return `it took longer than ${timeout / 1_000} s (gitMs)`;
  return `it ended with ${signal ?? code ?? 'an error'}`;
}

function walked(root: string, start: string, maxFiles: number): Result<readonly string[], string> {
  const files: string[] = [];
  const open = [start];
  let seen = 0;
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const entry of entriesOf(root, folder)) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (isNobodysOwn(path, true)) continue;
      seen += 1;
      if (seen > maxFiles) return tooMany(maxFiles);
      if (entry.isDirectory()) open.push(path);
      else files.push(path);
    }
  }
  return ok(files);
}

function entriesOf(root: string, folder: string) {
  try {
    using held = holdFolder({ root, absolute: join(root, folder) });
    return readdirSync(held.at('.'), { withFileTypes: true });
  } catch {
    return [];
  }
}

function tooMany(maxFiles: number): Result<never, string> {
  return fail(`the workspace has more than ${maxFiles} files (fingerprintFiles)`);
}
