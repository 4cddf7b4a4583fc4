/**
 * A folder need not be called `.git`: git takes any one for a repository that holds `HEAD`, `objects` and `refs`, and runs what
 * the settings in it name (`core.fsmonitor`) when somebody asks it anything there, be it by a prompt of the shell.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { foldedName } from '../protected-names.ts';

const HEAD = 'HEAD';
/** Where the rest is: here, or where a file of that name says. */
const RESTS: readonly (readonly string[])[] = [['objects', 'refs'], ['commondir']];

/** Whether the file lies in such a folder, or would make one of the folder that it is written to. */
export async function inBareRepository(root: string, parts: readonly string[]): Promise<boolean> {
  for (let depth = 0; depth < parts.length; depth += 1) {
    const folder = join(root, ...parts.slice(0, depth));
    const written = foldedName(parts[depth] ?? '');
    const has = async (name: string): Promise<boolean> => written === foldedName(name) || (await exists(join(folder, name)));
    if (!(await has(HEAD))) continue;
    for (const names of RESTS) if ((await Promise.all(names.map(has))).every(Boolean)) return true;
  }
  return false;
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
