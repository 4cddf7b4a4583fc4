/** Writes an entry into `executors.yaml`, which keeps its comments. What would not be understood is not written. */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { codeOf } from '../../base/errors.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ExecutorFields } from '../../executors/entry.ts';
import { userFolder } from '../config.ts';
import { EXECUTORS_FILE, executorsText, readExecutorLayers } from './executors-file.ts';

export interface AddNeeds {
  readonly root: string;
  readonly env: Environment;
  /** In the user's own file, for all projects. */
  readonly user: boolean;
  /** Also over one that stands there. */
  readonly force: boolean;
}

interface NotAdded {
  readonly message: string;
  readonly fix?: string | undefined;
}

export async function addExecutor(
  name: string,
  fields: ExecutorFields,
  needs: AddNeeds,
): Promise<Result<{ readonly file: string }, NotAdded>> {
  const file = join(needs.user ? userFolder(needs.env) : needs.root, EXECUTORS_FILE);
  const before = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  });
  const { parseDocument } = await import('yaml');
  const document = parseDocument(before);
  if (document.errors.length > 0) return fail({ message: `${file} is no YAML`, fix: 'correct it and try again' });
  if (document.hasIn(['executors', name]) && !needs.force)
    return fail({ message: `${file} has an executor ${name} already`, fix: 'to replace it: --force' });
  document.setIn(['executors', name], fields);
  const after = document.toString();
  const read = await readExecutorLayers(needs.root, needs.env, { [file]: after });
  if (!read.ok) return fail({ message: executorsText(read.error), fix: 'give a command, --address or --like' });
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, after);
  await rename(`${file}.new`, file);
  return ok({ file: needs.user ? file : EXECUTORS_FILE });
}
