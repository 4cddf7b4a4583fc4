/**
 * Copies of the files that are to become a tree, made by us. Git opens a file by its path, and somebody who still works there
 * could put a link where a folder was: so it is given what was opened through its own folder, and nothing else.
 */
import { constants, createWriteStream } from 'node:fs';
import { lstat, mkdir, open, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../base/errors.ts';
import { type FoldersBelow, foldersBelow } from '../../base/files/entry-below.ts';
import { NO_LINK } from '../../base/files/held-folder.ts';
import { MIB } from '../../base/limits/units.ts';

interface Staged {
  /** Those that are folders: modules, with a git of their own. */
  readonly modules: readonly string[];
  /** What is there and cannot be copied, each with why. */
  readonly lost: readonly string[];
}

/** `root` is a real path. What is gone by now is left out. */
export async function stageFiles(root: string, stage: string, paths: Iterable<string>): Promise<Staged> {
  const [modules, lost]: [string[], string[]] = [[], []];
  using folders = foldersBelow(root);
  await mkdir(stage, { recursive: true });
  for (const path of paths) {
    try {
      if ((await stageOne(folders, path, join(stage, path))) === 'folder') modules.push(path);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENAMETOOLONG') lost.push(`the path ${path.slice(0, SHOWN)}… is too long`);
      else if (!GONE.has(code)) throw error;
    }
  }
  return { modules, lost };
}

const SHOWN = 100;

const GONE: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

async function stageOne(folders: FoldersBelow, path: string, to: string): Promise<'folder' | undefined> {
  const entry = folders.entry(path);
  const facts = await lstat(entry);
  if (facts.isDirectory()) return 'folder';
  await mkdir(dirname(to), { recursive: true });
  if (facts.isSymbolicLink()) await symlink(await readlink(entry, 'buffer'), to);
  else if (facts.isFile()) await copyContent(entry, to);
  return undefined;
}

/** What is larger is not held as a whole. */
const AT_ONCE = 4 * MIB;

async function copyContent(entry: string, to: string): Promise<void> {
  await using file = await open(entry, constants.O_RDONLY | NO_LINK | constants.O_NONBLOCK);
  const facts = await file.stat();
  if (!facts.isFile()) return;
  // Git knows of no other right.
  const mode = (facts.mode & 0o100) === 0 ? 0o600 : 0o700;
  if (facts.size <= AT_ONCE) return await writeFile(to, await file.readFile(), { mode });
  await pipeline(file.createReadStream({ start: 0, end: facts.size - 1, autoClose: false }), createWriteStream(to, { mode }));
}
