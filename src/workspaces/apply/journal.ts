/**
 * What is about to be done to the user's files, written down before it is done: for each file how it is and how it will be,
 * with the bytes of both beside it. From that alone an apply that was cut off can be finished, and one that was made can be
 * taken back, to the byte. A journal is a folder:
 *
 * ```text
 * applies/<number>-<id>/journal.json     what, for which run, and how far it is
 * applies/<number>-<id>/before/<n>       the file as it was; a link as a link
 * applies/<number>-<id>/after/<n>        as it is wanted
 * ```
 */
import { lstat, mkdir, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import { patchRef } from '../../events/tasks/workspace-events.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { syncFolder, writeWhole } from '../place-files.ts';

const fileState = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('file'), sha256: z.string(), mode: z.number().int() }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.literal('folder') }),
  /** A pipe, a device, or what cannot be read. */
  z.object({ kind: z.literal('other') }),
]);
export type FileState = z.infer<typeof fileState>;

export const journalSchema = z.object({
  format: z.literal(1),
  apply: z.string(),
  run: z.string(),
  session: z.string(),
  repo: z.string(),
  base: z.string(),
  patch: patchRef,
  /**
   * `begun`: files may be in either state. `made`: all are as wanted. `undoing`: either again. `undone`: all are as they were.
   * What is `recorded` stands in the ledger.
   */
  state: z.enum(['begun', 'made', 'undoing', 'undone']),
  recorded: z.boolean(),
  branch: z.object({ name: z.string(), commit: z.string() }).optional(),
  files: z.array(z.object({ path: z.string(), before: fileState, after: fileState })),
  /** Folders that are not there yet, outermost first. */
  folders: z.array(z.string()),
});
export type ApplyJournal = z.infer<typeof journalSchema>;

export interface KeptJournal {
  readonly folder: string;
  readonly journal: ApplyJournal;
}

const APPLIES = 'applies';

/** Oldest first. One that was cut off before it was written is no journal: nothing was done yet. */
export async function readJournals(home: string): Promise<readonly KeptJournal[]> {
  const below = join(home, APPLIES);
  const found: KeptJournal[] = [];
  for (const name of (await readdir(below).catch(() => [])).toSorted()) {
    const text = await readFile(join(below, name, 'journal.json'), 'utf8').catch(() => undefined);
    const read = text === undefined ? undefined : parseJson(text);
    const journal = journalSchema.safeParse(read?.ok === true ? read.value : undefined);
    if (journal.success) found.push({ folder: join(below, name), journal: journal.data });
  }
  return found;
}

const NUMBER_DIGITS = 8;

/** A folder for the next one, with a greater number than all before it. */
export async function makeJournalFolder(home: string, id: string): Promise<string> {
  const below = join(home, APPLIES);
  await mkdir(below, { recursive: true, mode: 0o700 });
  const last = (await readdir(below)).map((name) => Number.parseInt(name, 10)).filter(Number.isInteger);
  const number = `${Math.max(0, ...last) + 1}`.padStart(NUMBER_DIGITS, '0');
  const folder = join(below, `${number}-${id}`);
  await mkdir(join(folder, 'before'), { recursive: true, mode: 0o700 });
  await mkdir(join(folder, 'after'), { mode: 0o700 });
  return folder;
}

export async function writeJournal(folder: string, journal: ApplyJournal): Promise<void> {
  await syncFolder(join(folder, 'before'));
  await syncFolder(join(folder, 'after'));
  await writeWhole(join(folder, 'journal.json'), JSON.stringify(journal));
}

const PERMISSIONS = 0o777;

/** What is at a path; links are not followed. */
export async function fileStateAt(path: string): Promise<FileState> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts === undefined) return { kind: 'none' };
  if (facts.isSymbolicLink()) return { kind: 'link', target: await readlink(path) };
  if (!facts.isFile()) return { kind: facts.isDirectory() ? 'folder' : 'other' };
  return { kind: 'file', sha256: sha256(await readFile(path)), mode: facts.mode & PERMISSIONS };
}

export function isSame(one: FileState, other: FileState): boolean {
  if (one.kind === 'file' && other.kind === 'file') return one.sha256 === other.sha256 && one.mode === other.mode;
  if (one.kind === 'link' && other.kind === 'link') return one.target === other.target;
  return one.kind === 'none' && other.kind === 'none';
}
