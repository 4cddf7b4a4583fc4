/**
 * A repository as somebody with an empty folder needs it: the files of a commit as a pack of git's objects without history, and
 * the user's own changes on top of it file by file. What arrives is checked: objects are what their names say, and what comes of
 * it is the commit that was named. What is done there comes back as patches, like everywhere.
 */
import { mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { askGit, runGit, withoutSettings } from '../git.ts';
import { lockedWorktrees } from '../locks.ts';
import type { WorkspaceOptions } from '../options.ts';
import type { PackedRepository } from '../port.ts';
import { workingTreeCommit, workingTreeMessage } from '../prepare.ts';
import { gitFailure, layGitFolder, type PrivateGit, said, withPrivateGit } from '../private-git.ts';
import { findCommittedRepository, findRepository } from '../repository.ts';
import { bringObjects, changesBetween, commitOf } from '../trees.ts';
import { contentsOf, treeOfFiles } from './kept-files.ts';

const PACK_LIMIT = { bytes: limits.packBytes, limit: 'packBytes' } as const;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** How the user's files are now, committed or not. */
export async function packRepository(options: WorkspaceOptions, folder: string): Promise<Result<PackedRepository, Failure>> {
  const found = await findCommittedRepository(folder, options.environment);
  if (!found.ok) return found;
  const { head, top } = found.value;
  return await withPrivateGit(found.value, options.home, options.environment, async (git) => {
    const base = await workingTreeCommit(git, found.value);
    if (!base.ok) return base;
    const pack = await packOf(git, head);
    if (!pack.ok) return pack;
    const changes = await changesBetween(git, head, base.value);
    if (!changes.ok) return changes;
    const files = await contentsOf(
      git,
      changes.value.map(({ path, after }) => [path, after]),
    );
    if (!files.ok) return files;
    const below = relative(top, await realpath(folder));
    return ok({ top, below, head, base: base.value, pack: pack.value, files: files.value });
  });
}

/** The commit, its tree and all below it; of modules only that they are there. */
async function packOf(git: PrivateGit, base: string): Promise<Result<Buffer, Failure>> {
  const tree = said(await git.run(['rev-parse', '--verify', `${base}^{tree}`]), 'The base cannot be read');
  if (!tree.ok) return tree;
  const listed = await git.run(['ls-tree', '-r', '-t', '--full-tree', '--format=%(objecttype) %(objectname)', base]);
  if (!listed.ok) return fail(gitFailure('The base cannot be read', listed.error));
  const objects = listed.value
    .toString()
    .split('\n')
    .flatMap((line) => /^(?:blob|tree) (\w+)$/.exec(line)?.[1] ?? []);
  const input = Buffer.from(`${[base, tree.value, ...new Set(objects)].join('\n')}\n`);
  const packed = await git.run(['pack-objects', '--stdout', '--quiet', '--delta-base-offset', '--threads=1'], {
    input,
    most: PACK_LIMIT,
    timeoutMs: limits.checkoutMs,
  });
  if (packed.ok) return ok(packed.value);
  const failure = gitFailure('The repository cannot be brought along', packed.error);
  if (!packed.error.says.includes(PACK_LIMIT.limit)) return fail(failure);
  const fix = 'Give every worker a clone at the same path, keep large files in LFS, or run it in one process: engine: embedded.';
  return fail({ ...failure, code: 'pack_too_large', fix });
}

/** Whether this commit, with its files, is in the repository of a folder. */
export async function hasCommit({ environment }: WorkspaceOptions, folder: string, commit: string): Promise<boolean> {
  if (!COMMIT.test(commit) || !(await pathExists(folder))) return false;
  return (await askGit(['cat-file', '-e', `${commit}^{tree}`], { folder, environment })).ok;
}

/** Where a repository that came from elsewhere lies. */
export const receivedAt = ({ home }: WorkspaceOptions, base: string): string => join(home, 'worktrees', '.repositories', base);

/** A repository that knows one commit and how the user's files were. It is there whole or not at all; again, it is the same. */
export async function receiveRepository(
  options: WorkspaceOptions,
  packed: Pick<PackedRepository, 'head' | 'base' | 'pack' | 'files'>,
): Promise<Result<string, Failure>> {
  const odd = [packed.head, packed.base].find((name) => !COMMIT.test(name));
  if (odd !== undefined) return fail({ code: 'bad_base', message: `${JSON.stringify(odd.slice(0, 100))} names no commit.` });
  const repo = receivedAt(options, packed.base);
  return await lockedWorktrees(options, undefined, async () => {
    if (await pathExists(repo)) return ok(repo);
    const making = `${repo}~${options.ids.nonce().slice(0, 6)}`;
    const built = await build(options, making, packed);
    if (!built.ok) {
      await rm(making, { recursive: true, force: true });
      return built;
    }
    await rename(making, repo);
    return ok(repo);
  });
}

async function build(
  options: WorkspaceOptions,
  making: string,
  { head, base, pack, files }: Pick<PackedRepository, 'head' | 'base' | 'pack' | 'files'>,
): Promise<Result<void, Failure>> {
  const { environment } = options;
  const folder = join(making, '.git');
  await mkdir(making, { recursive: true, mode: 0o700 });
  const settings = head.length === 64 ? ([['extensions.objectformat', 'sha256']] as const) : [];
  await layGitFolder(folder, { common: undefined, settings }, head);
  // What lies before the commit stays where it is.
  await writeFile(join(folder, 'shallow'), `${head}\n`);
  const call = { folder: making, environment, variables: { ...withoutSettings, GIT_DIR: folder }, timeoutMs: limits.checkoutMs };
  const taken = await runGit(['index-pack', '--stdin', '--strict', '--fix-thin'], { ...call, input: pack });
  const known = taken.ok ? await runGit(['fsck', '--connectivity-only', '--no-dangling', '--no-progress', head], call) : taken;
  if (!known.ok)
    return fail({ ...gitFailure('What arrived is not the commit that was named', known.error), code: 'pack_broken' });
  if (head === base) return ok(undefined);
  const repository = await findRepository(making, environment);
  if (!repository.ok) return repository;
  return await withPrivateGit(repository.value, options.home, environment, async (git) => {
    const tree = await treeOfFiles(git, head, files);
    if (!tree.ok) return tree;
    const brought = await bringObjects(git, tree.value);
    if (!brought.ok) return brought;
    const commit = await commitOf(git, tree.value, [head], { message: workingTreeMessage(head), keep: true });
    if (!commit.ok) return commit;
    if (commit.value === base) return ok(undefined);
    return fail({ code: 'pack_broken', message: `What arrived is ${commit.value}, and not the base ${base} that was named.` });
  });
}
