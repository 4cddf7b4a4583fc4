/** The folder that a line names, where a `..` in it goes up from where a link leads. */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

export function folderNamed(root: string, folder: string): string {
  const plain = resolve(root, folder);
  if (!folder.split('/').includes('..')) return plain;
  try {
    return realpathSync.native(folder.startsWith('/') ? folder : `${root}/${folder}`);
  } catch {
    return plain;
  }
}
