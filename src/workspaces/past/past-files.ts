/**
 * What the files that a session changed held at one of its events. Told from what they hold now, back over the changes that were
 * recorded since, each held against its checksum; or from bytes of the same checksum that somebody has. What cannot be told is
 * named with why: nothing is guessed.
 */
import type { Payloads } from '../../events/catalogue.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { decodeUtf8, looksBinary } from '../../tools/files/file-content.ts';
import { textBefore } from '../../tools/files/line-diff.ts';

export interface FileChange extends Pick<Payloads['file.diff'], 'path' | 'before' | 'after' | 'diff'> {
  readonly position: number;
}

/** `content` is `null` where there was no such file. */
export type PastFile =
  | { readonly path: string; readonly content: Uint8Array | null }
  | { readonly path: string; readonly why: string };

export interface FilesAsKept {
  /** What the file holds now. */
  now(path: string): Promise<Uint8Array | undefined>;
  /** Bytes of this SHA-256 that are kept somewhere: in the ledger, or in the last commit as this file. */
  bytes(hash: string, path: string): Promise<Uint8Array | undefined>;
}

/** In the order in which they were first changed. `changes`: all of the session, oldest first. */
export async function pastFiles(
  changes: readonly FileChange[],
  position: number,
  known: FilesAsKept,
): Promise<readonly PastFile[]> {
  const files: PastFile[] = [];
  for (const [path, own] of Map.groupBy(changes, (change) => change.path)) files.push(await pastFile(path, own, position, known));
  return files;
}

async function pastFile(path: string, own: readonly FileChange[], position: number, known: FilesAsKept): Promise<PastFile> {
  const since = own.filter((change) => change.position > position);
  const wanted = since[0] === undefined ? (own.at(-1)?.after ?? null) : since[0].before;
  if (wanted === null) return { path, content: null };
  const now = await known.now(path);
  if (now !== undefined && sha256(now) === wanted) return { path, content: now };
  const kept = (await backFrom(now, since)) ?? (await known.bytes(wanted, path));
  if (kept !== undefined && sha256(kept) === wanted) return { path, content: kept };
  return { path, why: whyNot(now, since) };
}

async function backFrom(now: Uint8Array | undefined, since: readonly FileChange[]): Promise<Uint8Array | undefined> {
  const after = since.at(-1)?.after;
  if (since.length === 0 || after === undefined) return undefined;
  if (after === null ? now !== undefined : now === undefined || sha256(now) !== after) return undefined;
  let text: string | undefined = now === undefined ? '' : looksBinary(now) ? undefined : decodeUtf8(now);
  for (const { before, diff } of since.toReversed()) {
    text = text === undefined ? undefined : textBefore(text, diff);
    if (text === undefined || (before === null ? text !== '' : sha256(text) !== before)) return undefined;
  }
  return text === undefined ? undefined : Buffer.from(text);
}

function whyNot(now: Uint8Array | undefined, since: readonly FileChange[]): string {
  const last = since.at(-1);
  const isAsLeft = last !== undefined && (now === undefined ? last.after === null : sha256(now) === last.after);
  if (!isAsLeft) return 'it was changed since, by somebody else';
  return 'what was changed since is no text, too large to be recorded, or held a secret';
}
