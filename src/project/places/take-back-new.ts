/**
 * What a task wrote where it must not, in a folder that is in no repository: nobody knows there what a file held before, so only
 * one is taken back that was not there, and is exactly as the task left it. It is kept first. Of the others it is told that they
 * are there.
 */
import { realpathSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { entryAt } from '../../base/files/entry-below.ts';
import { holdParent } from '../../base/files/held-folder.ts';
import { ok, type Result } from '../../base/result.ts';
import type { CapturedTask, WrittenFiles } from '../../engine/options.ts';
import type { Failure } from '../../events/catalogue.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { fileAt } from '../../tools/watch/watched-file.ts';
import { placeFiles } from '../../workspaces/place-files.ts';

const WHY = 'outside of what the task is about';

interface Wanted {
  readonly home: string;
  readonly session: string;
  readonly task: string;
  readonly folder: string;
}

/** Asked for again, also by another process, it tells the same. */
export async function takeBackNew(
  { home, session, task, folder }: Wanted,
  written: WrittenFiles,
): Promise<Result<CapturedTask['outside'], Failure>> {
  const files = placeFiles(home, session, task);
  if (!files.ok) return files;
  const told: CapturedTask['outside'][number][] = [];
  for (const [path, { before, after }] of written) {
    const kept = join(files.value.kept, path);
    const [now, copy] = [fileAt(folder, path), fileAt(dirname(kept), basename(kept))];
    if (before !== null || after === null) continue;
    if (now === undefined && copy?.sha256 === after) told.push({ path, why: WHY, kept });
    else if (now?.sha256 === after) {
      await mkdir(dirname(kept), { recursive: true });
      using parent = holdParent({ root: realpathSync(folder), absolute: join(realpathSync(folder), path) });
      const found = entryAt(parent.entry, Number.POSITIVE_INFINITY);
      // A link stays, and so does what somebody has written meanwhile.
      if (found?.kind !== 'file' || sha256(found.bytes) !== after) continue;
      await writeFile(kept, found.bytes, { mode: found.facts.mode & 0o777 });
      if (entryAt(parent.entry, Number.POSITIVE_INFINITY)?.facts.ctimeMs !== found.facts.ctimeMs) continue;
      await rm(parent.entry);
      told.push({ path, why: WHY, kept });
    }
  }
  return ok(told);
}
