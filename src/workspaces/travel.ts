/**
 * Places that travel: the files of the base as a pack of git's objects without history, and what was done so far as a patch.
 * Who has both, an empty folder and git can build the place, work on, and send the work back as the same kind of patch. What
 * arrives is checked: objects are what their names say, and the base is the commit that was named.
 */
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { atPlace, captureWork } from './capture.ts';
import { runGit, withoutSettings } from './git.ts';
import { layWork } from './lay.ts';
import { lockedWorktrees } from './locks.ts';
import type { WorkspaceOptions } from './options.ts';
import type { PackedPlace, PreparedPlace, WantedPlace, WorkPlace } from './port.ts';
import { preparePlace } from './prepare.ts';
import { gitFailure, layGitFolder, type PrivateGit, said } from './private-git.ts';

const PACK_LIMIT = { bytes: limits.packBytes, limit: 'packBytes' } as const;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export async function packPlace(options: WorkspaceOptions, place: WorkPlace): Promise<Result<PackedPlace, Failure>> {
  const work = await captureWork(options, place);
  if (!work.ok) return work;
  return await atPlace(options, place, async (git, base) => {
    const pack = await packOf(git, base);
    return pack.ok ? ok({ format: 1, base, pack: pack.value, patch: work.value.patch }) : pack;
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
  const large = packed.error.says.includes('packBytes');
  const failure = gitFailure('The base cannot be packed', packed.error);
  return fail(large ? { ...failure, code: 'pack_too_large', fix: 'Let workers have a clone of the repository.' } : failure);
}

/** Builds the place below the home of whoever calls, from nothing but what was packed. Again, it is the same place. */
export async function unpackPlace(
  options: WorkspaceOptions,
  { base, pack, patch }: PackedPlace,
  wanted: Pick<WantedPlace, 'session' | 'task'>,
): Promise<Result<PreparedPlace, Failure>> {
  if (!COMMIT.test(base)) return fail({ code: 'bad_base', message: `${JSON.stringify(base.slice(0, 100))} names no commit.` });
  const repo = join(options.home, 'worktrees', '.repositories', base);
  const built = await lockedWorktrees(options, undefined, () => buildRepository(options, repo, base, pack));
  if (!built.ok) return built;
  const prepared = await preparePlace(options, { ...wanted, repo, base });
  if (!prepared.ok) return prepared;
  const laid = await layWork(options, prepared.value.place, patch);
  return laid.ok ? prepared : laid;
}

/** A repository that knows one commit. It is there whole or not at all. */
async function buildRepository(
  { environment, ids }: WorkspaceOptions,
  repo: string,
  base: string,
  pack: Uint8Array,
): Promise<Result<void, Failure>> {
  if (await pathExists(repo)) return ok(undefined);
  const making = `${repo}~${ids.nonce().slice(0, 6)}`;
  const folder = join(making, '.git');
  await mkdir(making, { recursive: true, mode: 0o700 });
  const settings = base.length === 64 ? ([['extensions.objectformat', 'sha256']] as const) : [];
  await layGitFolder(folder, { common: undefined, settings }, base);
  // What lies before the commit stays where it is.
  await writeFile(join(folder, 'shallow'), `${base}\n`);
  const call = { folder: making, environment, variables: { ...withoutSettings, GIT_DIR: folder }, timeoutMs: limits.checkoutMs };
  const taken = await runGit(['index-pack', '--stdin', '--strict', '--fix-thin'], { ...call, input: pack });
  const known = taken.ok ? await runGit(['fsck', '--connectivity-only', '--no-dangling', '--no-progress', base], call) : taken;
  if (!known.ok) {
    await rm(making, { recursive: true, force: true });
    return fail({ ...gitFailure('What arrived is not the base that was named', known.error), code: 'pack_broken' });
  }
  await rename(making, repo);
  return ok(undefined);
}
