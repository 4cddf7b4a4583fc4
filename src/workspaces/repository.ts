/** The repository that a folder lies in, and of its settings only those that say how files are, never what is to be run. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { askGit, type GitFailure, zeroSeparated } from './git.ts';

export interface Repository {
  /** The top of the files. */
  readonly top: string;
  /** The folder of git that all worktrees share. */
  readonly common: string;
  /** That of this worktree: its index is in there. */
  readonly own: string;
  /** What is checked out; absent in a repository without a commit. */
  readonly head: string | undefined;
  readonly settings: readonly (readonly [string, string])[];
}

/** Data, every one of them: how lines end, which bits count, which files are ignored, how objects are named. */
const DATA_SETTINGS =
  /^(?:core\.(?:autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|excludesfile|attributesfile|sparsecheckout)|extensions\.objectformat)$/;

/** The repository around a folder. It must have files of its own; whether it has a commit is for the caller. */
export async function findRepository(folder: string, environment: Environment): Promise<Result<Repository, Failure>> {
  const call = { folder, environment };
  // One program for all that it can tell: starting them takes the time. Without a commit the last line is missing.
  const asked = [
    '--is-bare-repository',
    '--git-common-dir',
    '--absolute-git-dir',
    '--show-toplevel',
    '--revs-only',
    'HEAD^{commit}',
  ];
  const [found, settings] = await Promise.all([
    askGit(['rev-parse', ...asked], call),
    askGit(['config', '--null', '--includes', '--get-regexp', '^(core|extensions)\\.'], call),
  ]);
  if (!found.ok) return fail(refusal(folder, found.error));
  const [, common = '', own = '', top = '', head = ''] = found.value.toString().split('\n');
  return ok({
    top: await realpath(top),
    common: await realpath(resolve(folder, common)),
    own: await realpath(resolve(folder, own)),
    head: head === '' ? undefined : head,
    settings: settings.ok ? dataSettings(settings.value) : [],
  });
}

/** Only where its files begin, for those who want to know no more. */
export async function findTop(folder: string, environment: Environment): Promise<Result<string, Failure>> {
  const found = await askGit(['rev-parse', '--show-toplevel'], { folder, environment });
  return found.ok ? ok(await realpath(withoutNewline(found.value))) : fail(refusal(folder, found.error));
}

const refusal = (folder: string, failure: GitFailure): Failure =>
  failure.says.includes('must be run in a work tree') ? withoutFiles(folder) : notFound(folder, failure);

/** One that worktrees can begin in. */
export async function findCommittedRepository(
  folder: string,
  environment: Environment,
): Promise<Result<Repository & { readonly head: string }, Failure>> {
  const found = await findRepository(folder, environment);
  if (!found.ok) return found;
  const { head, top } = found.value;
  if (head !== undefined) return ok({ ...found.value, head });
  const message = `The repository ${top} has no commit yet, so there can be no worktrees.`;
  return fail({ code: 'no_repository', message, fix: 'Commit something first.' });
}

function dataSettings(listed: Buffer): (readonly [string, string])[] {
  const pairs = zeroSeparated(listed).flatMap((entry) => {
    const at = entry.indexOf('\n');
    const [name, value] = at === -1 ? [entry, 'true'] : [entry.slice(0, at), entry.slice(at + 1)];
    return DATA_SETTINGS.test(name) ? [[name, value] as const] : [];
  });
  // The last one counts.
  return [...new Map(pairs)];
}

function notFound(folder: string, { kind, says }: GitFailure): Failure {
  if (kind === 'missing') return { code: 'no_git', message: 'git is not installed.', fix: 'Install git.' };
  if (says.includes('dubious ownership')) {
    const message = `The repository of ${folder} belongs to somebody else, so git does not use it.`;
    return { code: 'no_repository', message, fix: `git config --global --add safe.directory ${folder}` };
  }
  const message = `${folder} is not in a git repository, so there can be no worktrees.`;
  return { code: 'no_repository', message, fix: 'Run git init and commit, or work in place.' };
}

function withoutFiles(folder: string): Failure {
  const message = `The repository ${folder} is bare: it has no files to work on.`;
  return { code: 'no_repository', message, fix: 'Name a clone or a worktree of it.' };
}

export function withoutNewline(bytes: Buffer): string {
  return bytes.toString().replace(/\n$/, '');
}
