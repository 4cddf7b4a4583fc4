/** Which files of a folder are as the last commit has them. The repository is only read, and nothing of it is run. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { entryBelow } from '../../base/files/entry-below.ts';
import type { PathBelow } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { minimalEnvironment } from '../shell/environment.ts';

/** One that is gone, and gone from the last commit as well, counts among them; without a repository none does. */
export async function committedFiles(
  folder: string,
  paths: readonly string[],
  environment: Environment,
): Promise<ReadonlySet<string>> {
  const listed = await inLastCommit(folder, paths, environment);
  if (listed === undefined) return new Set();
  const root = realpathSync(folder);
  return new Set(paths.filter((path) => isAs({ root, absolute: join(root, path) }, listed.get(path))));
}

function inLastCommit(
  cwd: string,
  paths: readonly string[],
  environment: Environment,
): Promise<ReadonlyMap<string, string> | undefined> {
  const env = { ...minimalEnvironment(environment), GIT_OPTIONAL_LOCKS: '0', GIT_LITERAL_PATHSPECS: '1', LC_ALL: 'C' };
  const args = ['-c', 'core.fsmonitor=false', 'ls-tree', '-z', 'HEAD', '--', ...paths];
  return new Promise((resolve) => {
    execFile('git', args, { cwd, env, timeout: limits.gitMs }, (error, stdout) => {
      if (error !== null) return resolve(undefined);
      const rows = stdout.split('\0').map((row) => /^\d+ blob ([0-9a-f]+)\t([\s\S]+)$/.exec(row));
      resolve(new Map(rows.flatMap((row) => (row === null ? [] : [[row[2] ?? '', row[1] ?? ''] as const]))));
    });
  });
}

function isAs(path: PathBelow, blob: string | undefined): boolean {
  try {
    const found = entryBelow(path);
    if (found === undefined || blob === undefined) return found === undefined && blob === undefined;
    const bytes = found.kind === 'link' ? found.target : found.kind === 'file' ? found.bytes : undefined;
    if (bytes === undefined) return false;
    const sum = createHash(blob.length > SHORT_ID ? 'sha256' : 'sha1')
      .update(`blob ${bytes.length}\0`)
      .update(bytes);
    return sum.digest('hex') === blob;
  } catch {
    return false;
  }
}

/** Of a repository that names its objects by SHA-1. */
const SHORT_ID = 40;
