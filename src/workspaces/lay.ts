/** Puts work that was captured elsewhere, or earlier, onto a place that is as it began. */
import { join } from 'node:path';
import { limits } from '../base/limits.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { atPlace, treeAtPlace } from './capture.ts';
import type { WorkspaceOptions } from './options.ts';
import { besidePlace } from './place-files.ts';
import type { WorkPlace } from './port.ts';
import { gitFailure } from './private-git.ts';
import { copyIndex } from './snapshot.ts';
import { changesBetween, treeOfPatch } from './trees.ts';

/** Again, it does nothing; a place with other work on it is refused. */
export async function layWork(options: WorkspaceOptions, given: WorkPlace, patch: Uint8Array): Promise<Result<void, Failure>> {
  if (given.kind === 'in-place')
    return fail({ code: 'in_place', message: 'Work is laid on a worktree, not on a folder as it is.' });
  return await atPlace(options, given, async (git, base, place) => {
    const wanted = await treeOfPatch(git, base, patch);
    if (!wanted.ok) return wanted;
    const now = await treeAtPlace(git, place, base);
    if (!now.ok) return now;
    if (now.value.tree === wanted.value) return ok(undefined);
    const other = await othersWork(git, { now: now.value.tree, base, wanted: wanted.value });
    if (!other.ok) return other;
    // The index knows what is on the disk, so that only what differs is written.
    const index = join(git.folder, 'index-lay');
    await copyIndex(besidePlace(place.path).index, index).catch(() => undefined);
    const laid = await git.run(['read-tree', '--reset', '-u', wanted.value], {
      index,
      work: place.path,
      timeoutMs: limits.checkoutMs,
    });
    return laid.ok ? ok(undefined) : fail(gitFailure('The work cannot be laid on its place', laid.error));
  });
}

/** A file may be as it began or as it is wanted: an attempt may have been cut off in between. */
async function othersWork(
  git: Parameters<typeof changesBetween>[0],
  { now, base, wanted }: { readonly now: string; readonly base: string; readonly wanted: string },
): Promise<Result<void, Failure>> {
  const [fromBase, fromWanted] = [await changesBetween(git, base, now), await changesBetween(git, wanted, now)];
  if (!fromBase.ok) return fromBase;
  if (!fromWanted.ok) return fromWanted;
  const unwanted = new Set(fromWanted.value.map(({ path }) => path));
  const strange = fromBase.value.map(({ path }) => path).filter((path) => unwanted.has(path));
  if (strange.length === 0) return ok(undefined);
  const message = `The place holds other work: ${strange.slice(0, 5).join(', ')}.`;
  return fail({ code: 'work_held', message, fix: 'Capture it, and begin with a fresh place.' });
}
