/**
 * A git folder of our own for one piece of work, over the objects of a repository: read from there, written here, gone
 * afterwards. No settings of the repository, the machine or the user hold in it except those that say how files are
 * (`repository.ts`), so an attribute may name a filter or a driver, and there is none of that name. The user's git folder is
 * not even opened for writing.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { type GitCall, type GitFailure, runGit, withoutSettings } from './git.ts';
import type { Repository } from './repository.ts';

export interface PrivateGit {
  /** A folder for what the work needs beside git's own. */
  readonly folder: string;
  readonly repository: Repository;
  /** `work`: where the files are; `index`: another than its own; `keep`: new objects go into the user's repository. */
  run(parameters: readonly string[], options?: PrivateCall): Promise<Result<Buffer, GitFailure>>;
}

export interface PrivateCall extends Pick<GitCall, 'input' | 'timeoutMs' | 'most' | 'signal' | 'told'> {
  readonly work?: string | undefined;
  readonly index?: string | undefined;
  readonly keep?: boolean | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

/** The folder lies below `home`, where what a crash left behind is found again. */
export async function withPrivateGit<Value>(
  repository: Repository,
  home: string,
  environment: Environment,
  work: (git: PrivateGit) => Promise<Value>,
): Promise<Value> {
  const below = join(home, 'worktrees', '.git-work');
  await mkdir(below, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(below, 'w-'));
  try {
    await layGitFolder(folder, repository);
    return await work({ folder, repository, run: caller(folder, repository, environment) });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function caller(folder: string, repository: Repository, environment: Environment): PrivateGit['run'] {
  return (parameters, { work, index, keep, variables, ...rest } = {}) =>
    runGit(parameters, {
      ...rest,
      folder: work ?? folder,
      environment,
      variables: {
        ...withoutSettings,
        ...variables,
        GIT_DIR: folder,
        GIT_INDEX_FILE: index ?? join(folder, 'index'),
        ...(work !== undefined && { GIT_WORK_TREE: work }),
        ...(keep === true && { GIT_OBJECT_DIRECTORY: join(repository.common, 'objects') }),
      },
    });
}

/** A git folder as `git init` would make it, over the objects of another if there is one. */
export async function layGitFolder(
  folder: string,
  { common, settings }: { readonly common: string | undefined; readonly settings: Repository['settings'] },
  head = 'ref: refs/heads/none',
): Promise<void> {
  await mkdir(join(folder, 'objects', 'info'), { recursive: true });
  await mkdir(join(folder, 'refs'));
  await mkdir(join(folder, 'info'));
  await writeFile(join(folder, 'HEAD'), `${head}\n`);
  await writeFile(join(folder, 'config'), configText(settings));
  if (common === undefined) return;
  await writeFile(join(folder, 'objects', 'info', 'alternates'), `${quotedPath(join(common, 'objects'))}\n`);
  // What is ignored and how lines end may stand there instead of in a file that all have.
  for (const name of ['exclude', 'attributes']) {
    const lines = await readFile(join(common, 'info', name)).catch(() => undefined);
    if (lines !== undefined) await writeFile(join(folder, 'info', name), lines);
  }
}

/** A path that holds a newline or begins with a quote is written as C would. */
function quotedPath(path: string): string {
  return /["\n\\]/.test(path) ? JSON.stringify(path) : path;
}

function configText(settings: Repository['settings']): string {
  const sha256 = isSha256(settings);
  const lines = [
    '[core]',
    `repositoryformatversion = ${sha256 ? 1 : 0}`,
    'bare = false',
    ...settings.filter(([name]) => name.startsWith('core.')).map(([name, value]) => `${name.slice(5)} = ${quotedValue(value)}`),
    ...(settings.some(([name]) => name.startsWith('user.')) ? ['[user]'] : []),
    ...settings.filter(([name]) => name.startsWith('user.')).map(([name, value]) => `${name.slice(5)} = ${quotedValue(value)}`),
    ...(sha256 ? ['[extensions]', 'objectformat = sha256'] : []),
  ];
  return `${lines.join('\n')}\n`;
}

/** Whether objects have the longer names. */
export function isSha256(settings: Repository['settings']): boolean {
  return settings.some(([name, value]) => name === 'extensions.objectformat' && value === 'sha256');
}

function quotedValue(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** What git said, as a failure of what was wanted. */
export function gitFailure(what: string, { kind, says }: GitFailure): Failure {
  if (/promisor|partial clone|missing blob|unable to read|transport .* not allowed/i.test(says)) {
    const fix =
      'Some files of the base are not in this clone: check it out once, or fetch without a filter (git fetch --refetch).';
    return { code: 'workspace_git', message: `${what}: ${says}`, fix };
  }
  return { code: kind === 'missing' ? 'no_git' : 'workspace_git', message: `${what}: ${says}` };
}

/** The text that git gave, or the failure of what was wanted. */
export function said(given: Result<Buffer, GitFailure>, what: string): Result<string, Failure> {
  return given.ok ? ok(given.value.toString().trimEnd()) : fail(gitFailure(what, given.error));
}
