/**
 * Writes a text file so that whoever reads it sees the old text or the new, never half of one: beside it first, then in its
 * place. Written only inside the given folder, also when links are on the way.
 */
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { isInside } from './confined-path.ts';
import type { ReadFailure } from './read-text.ts';

let written = 0;

export async function writeText(root: string, path: string, text: string): Promise<Result<string, ReadFailure>> {
  try {
    const target = await targetOf(root, path);
    if (!target.ok) return target;
    await replace(target.value, text);
    return target;
  } catch (error) {
    return fail({ message: `cannot be written: ${messageOf(error)}` });
  }
}

/** The real path to write to: a link to a file inside stays a link. */
async function targetOf(root: string, path: string): Promise<Result<string, ReadFailure>> {
  const realRoot = await realpath(root);
  const there = await nearestThere(dirname(path));
  if (!isInside(realRoot, there)) return fail(OUTSIDE);
  await mkdir(dirname(path), { recursive: true });
  const folder = await realpath(dirname(path));
  const file = await realpath(path).catch((error) => {
    if (codeOf(error) === 'ENOENT') return join(folder, basename(path));
    throw error;
  });
  return isInside(realRoot, folder) && isInside(realRoot, file) ? ok(file) : fail(OUTSIDE);
}

const OUTSIDE: ReadFailure = { message: 'leads out of the folder and is not written', fix: 'Replace the link by a real folder.' };

/** Where the path leads as far as it exists: folders are made only below that. */
async function nearestThere(folder: string): Promise<string> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    return join(await nearestThere(dirname(folder)), basename(folder));
  }
}

async function replace(target: string, text: string): Promise<void> {
  written += 1;
  const beside = join(dirname(target), `.${basename(target)}.${process.pid}-${written}.tmp`);
  try {
    const handle = await open(beside, 'w', await modeOf(target));
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
}

async function modeOf(target: string): Promise<number> {
  const found = await stat(target).catch(() => undefined);
  return found === undefined ? 0o644 : found.mode & 0o777;
}
