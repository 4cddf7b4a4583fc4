/**
 * Keeps reads inside one folder. Agent files may come from a stranger's repository: a path with `..`, an absolute path or a
 * symbolic link must not make a prompt out of somebody's keys. The answer is the real path, and only that is opened.
 */
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { codeOf, messageOf } from '../../base/errors.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { isSecretFileName } from '../../base/secrets/files.ts';
import type { ReadFailure } from './read-text.ts';

export async function confinedPath(root: string, path: string): Promise<Result<string, ReadFailure>> {
  if (holdsSecrets(root, path)) return fail(SECRETS);
  try {
    const [realRoot, realFile] = await Promise.all([realpath(root), realpath(path)]);
    if (!isInside(realRoot, realFile)) {
      return fail({
        message: 'is outside the project folder',
        fix: 'Copy the file into the project; links that lead out are refused.',
      });
    }
    return holdsSecrets(realRoot, realFile) ? fail(SECRETS) : ok(realFile);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return fail({ message: 'does not exist' });
    if (code === 'ELOOP') return fail({ message: 'is a symbolic link that leads to itself' });
    return fail({ message: `cannot be read: ${messageOf(error)}` });
  }
}

const SECRETS: ReadFailure = { message: 'may hold secrets and is never read', fix: 'Keep secrets out of prompts.' };

const holdsSecrets = (root: string, path: string): boolean => isSecretFileName(relative(root, path).split(sep));

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
