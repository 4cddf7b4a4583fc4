/** A real repository in a temporary folder, with a home for state beside it, and a way to see that nobody touched it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { WorkspaceOptions } from '../../../src/workspaces/options.ts';
import { createWorkspaces } from '../../../src/workspaces/workspaces.ts';
import { testWorkspace } from '../tool-workspace.ts';
import { beginRepository, SAFE } from './begin-repository.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;

export const git = (folder: string, ...parameters: string[]): string =>
  execFileSync('git', [...SAFE, ...parameters], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** With one commit of these files. */
export async function testRepository(files: Files = { 'a.txt': 'one\n', 'docs/x.md': 'x\n', 'src/main.ts': 'main\n' }) {
  const place = await testWorkspace();
  onTestFinished(() => place[Symbol.asyncDispose]());
  const top = join(place.path, 'repo');
  const home = join(place.path, 'home');
  mkdirSync(top);
  mkdirSync(home);
  writeFiles(top, files);
  beginRepository(top);
  return { top, home, ...workspacesIn(home) };
}

export function workspacesIn(home: string, more: Partial<WorkspaceOptions> = {}) {
  const ids = createIds(systemClock, systemRandom);
  const options: WorkspaceOptions = { home, environment: process.env, clock: systemClock, ids, ...more };
  return { options, workspaces: createWorkspaces(options) };
}

/** Kills this process at an effect, as nobody can react to. */
export const killedAt = (point: string | undefined): Partial<WorkspaceOptions> =>
  point === undefined ? {} : { between: (effect) => void (effect === point && process.kill(process.pid, 'SIGKILL')) };

export function commitFiles(top: string, files: Files, message = 'first'): string {
  writeFiles(top, files);
  git(top, 'add', '-A');
  git(top, 'commit', '-q', '-m', message, '--allow-empty');
  return git(top, 'rev-parse', 'HEAD').trim();
}

/**
 * Everything that a user could miss: files with times and modes, index, HEAD, refs, stash. What is in `.troupe` does not count.
 */
export function everythingOf(top: string): string {
  const lines: string[] = [];
  const walk = (folder: string): void => {
    for (const name of readdirSync(join(top, folder)).toSorted()) {
      const path = folder === '' ? name : `${folder}/${name}`;
      // Git keeps lists of worktrees and objects of its own in there; what they mean is asked below.
      if (/^\.git\/(?:worktrees|objects)$|^\.troupe$/.test(path)) continue;
      const facts = lstatSync(join(top, path));
      if (facts.isDirectory()) walk(path);
      else {
        const content = facts.isSymbolicLink() ? readlinkSync(join(top, path)) : readFileSync(join(top, path));
        lines.push(`${path} ${facts.mode} ${facts.mtimeMs} ${createHash('sha256').update(content).digest('hex')}`);
      }
    }
  };
  walk('');
  return lines.join('\n');
}

export function makeExecutable(path: string): void {
  chmodSync(path, 0o755);
}

export function value<Value>(result: { ok: true; value: Value } | { ok: false; error: unknown }): Value {
  if (!result.ok) throw new Error(`failed: ${JSON.stringify(result.error)}`);
  return result.value;
}
