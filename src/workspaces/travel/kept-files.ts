/**
 * What was done at a place, file by file: what has changed since somebody looked last, and a place put back to how it was then.
 * Unlike a patch it grows with what is new, so it can be kept after every step; who has the base and all that was kept has the
 * place. Files that git ignores and changes inside of modules are in none of it.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { atPlace, treeAtPlace } from '../capture.ts';
import type { WorkspaceOptions } from '../options.ts';
import { besidePlace, writeWhole } from '../place-files.ts';
import type { ChangedSince, KeptFile, KnownFiles, RestoredPlace, WorkPlace } from '../port.ts';
import { gitFailure, isSha256, type PrivateGit } from '../private-git.ts';
import { blobName, blobOf, changesBetween, MODULE_MODE, patchBetween, type TreeEntry, treeWith } from '../trees.ts';

export async function changesSince(
  options: WorkspaceOptions,
  given: WorkPlace,
  known: KnownFiles,
): Promise<Result<ChangedSince, Failure>> {
  return await atPlace(options, given, async (git, base, place) => {
    const now = await treeAtPlace(git, place, base);
    if (!now.ok) return now;
    const changes = await changesBetween(git, base, now.value.tree);
    if (!changes.ok) return changes;
    const own = changes.value.filter(({ before, after }) => before?.mode !== MODULE_MODE && after?.mode !== MODULE_MODE);
    const after = new Map(own.map((change) => [change.path, change.after]));
    const changed = [...after].filter(([path, entry]) => !known.has(path) || !isSame(known.get(path), entry));
    const files = await contentsOf(git, changed);
    if (!files.ok) return files;
    const back = [...known.keys()].filter((path) => !after.has(path)).map((path) => ({ path, back: true as const }));
    return ok({ files: [...files.value, ...back], known: after });
  });
}

const isSame = (one: TreeEntry | undefined, other: TreeEntry | undefined): boolean =>
  one?.mode === other?.mode && one?.blob === other?.blob;

/** Entries with what they hold, of a module its commit; one without an entry is gone. */
export async function contentsOf(
  git: PrivateGit,
  entries: readonly (readonly [path: string, entry: TreeEntry | undefined])[],
): Promise<Result<readonly KeptFile[], Failure>> {
  const there = entries.filter(([, entry]) => entry !== undefined && entry.mode !== MODULE_MODE);
  const input = Buffer.from(there.map(([, entry]) => `${entry?.blob}\n`).join(''));
  const most = { bytes: limits.keptPointBytes, limit: 'keptPointBytes' };
  const read = there.length === 0 ? ok(Buffer.alloc(0)) : await git.run(['cat-file', '--batch'], { input, most });
  if (!read.ok) return fail(read.error.says.includes(most.limit) ? tooMuch(read.error.says) : unreadable(read.error));
  const contents = contentsIn(read.value);
  const files: KeptFile[] = [];
  for (const [path, entry] of entries) {
    const isModule = entry?.mode === MODULE_MODE;
    const content = entry === undefined ? undefined : isModule ? Buffer.from(entry.blob) : contents.next().value;
    if (entry !== undefined && content === undefined)
      return fail({ code: 'workspace_git', message: `git gave no content of ${path}.` });
    files.push({ path, ...present({ mode: entry?.mode, content }) });
  }
  return ok(files);
}

const unreadable = (error: Parameters<typeof gitFailure>[1]): Failure => gitFailure('The changed files cannot be read', error);

const tooMuch = (says: string): Failure => ({
  code: 'place_too_large',
  message: `What was changed at once cannot be kept: ${says}.`,
  fix: 'Let .gitignore name what is generated, or split the task.',
});

/** What `cat-file --batch` gives: a line with the size, the content, and the end of a line. */
function* contentsIn(batch: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < batch.length; ) {
    const end = batch.indexOf(10, at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(batch.toString('latin1', at, end)) ?? [];
    if (size === undefined) return undefined;
    yield batch.subarray(end + 1, end + 1 + Number(size));
    at = end + 2 + Number(size);
  }
  return undefined;
}

/** As a tree knows them. */
export function knownOf(files: Iterable<KeptFile>, hasLongNames: boolean): KnownFiles {
  const known = new Map<string, TreeEntry | undefined>();
  for (const { path, mode, content, back } of files) {
    if (back === true) known.delete(path);
    else known.set(path, content && { mode: mode ?? '100644', blob: blobName(content, hasLongNames) });
  }
  return known;
}

/** Exactly as it was kept. What somebody wrote since is kept as a patch beside it: nobody goes on with it by itself. */
export async function restorePlace(
  options: WorkspaceOptions,
  given: WorkPlace,
  files: readonly KeptFile[],
): Promise<Result<RestoredPlace, Failure>> {
  if (given.kind === 'in-place') return fail({ code: 'in_place', message: 'A folder as it is is not put back.' });
  return await atPlace(options, given, async (git, base, place) => {
    const wanted = await treeOfFiles(git, base, files);
    if (!wanted.ok) return wanted;
    const known = knownOf(files, isSha256(git.repository.settings));
    const now = await treeAtPlace(git, place, base);
    if (!now.ok) return now;
    if (now.value.tree === wanted.value) return ok({ known });
    const fresh = await changesBetween(git, base, now.value.tree);
    if (!fresh.ok) return fresh;
    const left = fresh.value.length === 0 ? ok(undefined) : await keepLeft(git, place.path, wanted.value, now.value.tree);
    if (!left.ok) return left;
    options.between?.('left kept');
    // The index of the look knows what is on the disk, so only what differs is written.
    const call = { index: join(git.folder, 'index-snapshot'), work: place.path, timeoutMs: limits.checkoutMs };
    const put = await git.run(['read-tree', '--reset', '-u', wanted.value], call);
    return put.ok
      ? ok({ known, ...present({ dropped: left.value }) })
      : fail(gitFailure('The place cannot be put back', put.error));
  });
}

async function keepLeft(git: PrivateGit, path: string, wanted: string, now: string): Promise<Result<string, Failure>> {
  const patch = await patchBetween(git, wanted, now);
  if (!patch.ok) return patch;
  const { kept } = besidePlace(path);
  await mkdir(kept, { recursive: true, mode: 0o700 });
  const file = join(kept, `left-${sha256(patch.value).slice(0, 16)}.patch`);
  await writeWhole(file, patch.value);
  return ok(file);
}

/** The tree that kept files make of a commit. */
export async function treeOfFiles(git: PrivateGit, base: string, files: readonly KeptFile[]): Promise<Result<string, Failure>> {
  const entries: { readonly path: string; readonly entry: TreeEntry | undefined }[] = [];
  for (const { path, mode = '100644', content, back } of files)
    if (back !== true) entries.push({ path, entry: content && { mode, blob: await blobIn(git, mode, content) } });
  return await treeWith(git, base, entries);
}

const blobIn = async (git: PrivateGit, mode: string, content: Uint8Array): Promise<string> =>
  mode === MODULE_MODE ? Buffer.from(content).toString() : await blobOf(git, content);
