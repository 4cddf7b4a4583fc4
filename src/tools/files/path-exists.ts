/** Whether anything is at a path: a file, a folder, or a link, wherever it points. */
import { lstat } from 'node:fs/promises';

export async function pathExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
