/**
 * What a task wrote where it must not, in a folder that is in no repository: nobody knows there what a file held before, so only
 * one is taken back that was not there, and is exactly as the task left it. It is kept first. Of the others it is told that they
 * are there.
 */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ok, type Result } from '../../base/result.ts';
import type { CapturedTask, WrittenFiles } from '../../engine/options.ts';
import type { Failure } from '../../events/catalogue.ts';
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
    const [here, kept] = [join(folder, path), join(files.value.kept, path)];
    const [now, copy] = [fileAt(here), fileAt(kept)];
    if (before !== null || after === null) continue;
    if (now === undefined && copy?.sha256 === after) told.push({ path, why: WHY, kept });
    else if (now?.sha256 === after) {
      await mkdir(dirname(kept), { recursive: true });
      await copyFile(here, kept);
      // A link comes as what it leads to, and somebody may have written meanwhile: then it stays.
      if (fileAt(kept)?.sha256 !== after || fileAt(here)?.sha256 !== after) continue;
      await rm(here);
      told.push({ path, why: WHY, kept });
    }
  }
  return ok(told);
}
