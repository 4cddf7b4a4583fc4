/** A file that is written only where there is none. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, TroupeError } from '../../base/errors.ts';

export interface Written {
  readonly path: string;
  readonly done: 'written' | 'kept';
}

export async function writeNew(folder: string, name: string, text: string): Promise<Written> {
  const path = join(folder, name);
  const refused = (cause: unknown): TroupeError =>
    new TroupeError('io', `${name} cannot be written`, { fix: 'check the folder and its permissions', cause });
  await mkdir(dirname(path), { recursive: true }).catch((error) => {
    throw refused(error);
  });
  try {
    await writeFile(path, text, { flag: 'wx' });
    return { path: name, done: 'written' };
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return { path: name, done: 'kept' };
    throw refused(error);
  }
}
