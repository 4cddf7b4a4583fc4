/** Removes places. One that holds work which is in no patch that the caller has stays, and the failure says what it is. */
import { lstat, mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { startOf } from '../base/whole-words.ts';
import type { Failure } from '../events/catalogue.ts';
import { sha256 } from '../tools/files/file-change.ts';
import { pathExists } from '../tools/files/path-exists.ts';
import { captureWork } from './capture.ts';
import { askGit } from './git.ts';
import { lockedWorktrees, onePerTask } from './locks.ts';
import type { WorkspaceOptions } from './options.ts';
import { besidePlace, type PlaceFiles, readRecord, wholePlace, writeWhole } from './place-files.ts';
import type { RemovedPlace, RemoveOptions, WorkPlace } from './port.ts';
import { adminOf, removeMade } from './prepare.ts';
import { withoutNewline } from './repository.ts';

export async function removePlace(
  options: WorkspaceOptions,
  given: WorkPlace,
  { captured, force = false, keepRest = false }: RemoveOptions,
): Promise<Result<RemovedPlace, Failure>> {
  // The folder of somebody who works there is never removed, and nothing that was not made here.
  if (given.kind === 'in-place') return ok({ removed: false });
  const found = await wholePlace(given);
  if (!found.ok) return (await pathExists(given.path)) ? found : ok({ removed: true });
  const place = { ...given, path: found.value.path };
  const files = besidePlace(place.path);
  return await onePerTask(options, place.path, undefined, async () => {
    if (!(await pathExists(place.path))) return await forget(options, place, files);
    const record = await readRecord(files.record);
    const held = force || record?.going === true ? undefined : await heldWork(options, place, captured, keepRest);
    if (held !== undefined) return fail(held);
    // Cut off from here on it is finished by whoever comes next, and looked at by nobody.
    if (record !== undefined) await writeWhole(files.record, JSON.stringify({ ...record, going: true }));
    options.between?.('going');
    const admin = await adminOf(place.path);
    const removed = await lockedWorktrees(options, undefined, async () =>
      removeMade(place.path, admin).then(
        () => ok(undefined),
        (error: unknown) => fail(notRemoved(place.path, error)),
      ),
    );
    if (!removed.ok) return removed;
    options.between?.('removed');
    return await forget(options, place, files);
  });
}

const notRemoved = (path: string, error: unknown): Failure => ({
  ...{ code: 'place_not_removed', message: `${path} cannot be removed: ${startOf(messageOf(error), SHOWN_CHARACTERS)}` },
  fix: 'Remove it yourself; nothing in it is needed any more.',
});

const SHOWN_CHARACTERS = 300;

async function heldWork(
  options: WorkspaceOptions,
  place: WorkPlace,
  captured: Uint8Array | undefined,
  keepRest: boolean,
): Promise<Failure | undefined> {
  const now = await captureWork(options, place);
  if (!now.ok) return { ...now.error, message: `What is in ${place.path} is not known: ${now.error.message}` };
  const { patch, uncaptured } = now.value;
  const known = patch.length === 0 || (captured !== undefined && Buffer.compare(patch, captured) === 0);
  const lost = [...now.value.lost, ...uncaptured.filter((one) => /^(?:the|files of the) module /.test(one))];
  if (known && lost.length === 0) return undefined;
  if (keepRest && lost.length === 0) return await keepAll(place.path, patch);
  const what = known ? lost.join('; ') : `${now.value.files.length} files that are in no patch`;
  return { code: 'work_held', message: `${place.path} holds work: ${what}.`, fix: 'Capture it first, or remove it with force.' };
}

async function keepAll(path: string, patch: Uint8Array): Promise<Failure | undefined> {
  const { kept } = besidePlace(path);
  await mkdir(kept, { recursive: true, mode: 0o700 });
  await writeWhole(join(kept, `left-${sha256(patch).slice(0, 16)}.patch`), patch);
  return undefined;
}

/** What was kept beside it stays as long as it holds something; a branch stays when it holds commits of its own. */
async function forget(
  { environment }: WorkspaceOptions,
  { repo, base }: WorkPlace & { readonly kind: 'worktree' },
  files: PlaceFiles,
): Promise<Result<RemovedPlace, Failure>> {
  const branch = (await readRecord(files.record))?.branch;
  let kept: string | undefined;
  if (branch !== undefined && (await lstat(repo).catch(() => undefined)) !== undefined) {
    const call = { folder: repo, environment };
    const at = await askGit(['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`], call);
    if (at.ok && withoutNewline(at.value) === base) await askGit(['update-ref', '-d', `refs/heads/${branch}`, base], call);
    else if (at.ok) kept = branch;
  }
  await rm(files.index, { force: true });
  await rm(files.record, { force: true });
  await rmdir(dirname(files.path)).catch(() => undefined);
  return ok({ removed: true, ...(kept !== undefined && { kept }) });
}
