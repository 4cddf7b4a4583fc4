/**
 * What lies beside the ledger and may hold words of a session: the index of words, folders that its tasks worked in, and files
 * that name it. The first two go with it; of the others it is told that they are there.
 */
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';

const INDEX = 'search.db';
const PLACES = 'worktrees';

/** The folders of these sessions that are there. */
export async function foldersOf(home: string, sessions: readonly SessionId[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const session of sessions)
    for (const folder of [join(home, PLACES, session), join(home, PLACES, 'forks', session)])
      if ((await stat(folder).catch(() => undefined)) !== undefined) found.push(folder);
  return found;
}

/** The index is made anew by whoever searches next. */
export async function clearAway(home: string, folders: readonly string[]): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(join(home, `${INDEX}${end}`), { force: true });
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
}

/** Files below `home`, without those of the ledger itself, in which one of these texts stands. */
export async function filesWith(home: string, ledger: string, texts: readonly string[]): Promise<readonly string[]> {
  const names = (await readdir(home, { recursive: true, withFileTypes: true }).catch(() => [])).slice(0, limits.forgetFiles);
  const found: string[] = [];
  for (const entry of names) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.startsWith(ledger) || basename(path).startsWith(INDEX)) continue;
    const { size } = await stat(path).catch(() => ({ size: Number.POSITIVE_INFINITY }));
    if (size > limits.forgetFileBytes) continue;
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    if (texts.some((text) => bytes.includes(text))) found.push(relative(home, path));
  }
  return found;
}
