/** The files of the workspace as an executor has them through us: inside its folder, with links followed, and bounded. */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import { isThere } from '../../base/files/held-folder.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Guard } from '../../tools/closed/guard.ts';
import { replaceFile, sha256 } from '../../tools/files/file-change.ts';
import { decodeUtf8, looksBinary, readContent } from '../../tools/files/file-content.ts';
import { alone } from '../../tools/files/file-lock.ts';
import { resolveInside } from '../../tools/files/workspace.ts';
import type { ExecutorAllowed, ExecutorWrote } from '../port.ts';

export interface FileNeeds {
  readonly folder: string;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly random: Random;
  /** Some take every answer but a text for a broken client, also of a file that they are about to make. */
  readonly missingFile: 'error' | 'empty';
  readonly seen: ReadVersions;
}

/** Which version of a file it goes by; `null` where there was none, `undefined` where it has not looked through us. */
interface ReadVersions {
  version(path: string): string | null | undefined;
  note(path: string, content: string | Uint8Array | undefined): void;
}

export function createReadVersions(): ReadVersions {
  const versions = new Map<string, string | null>();
  return {
    version: (path) => versions.get(path),
    note(path, content) {
      versions.delete(path);
      versions.set(path, content === undefined ? null : sha256(content));
      const [oldest] = versions.keys();
      if (versions.size > limits.executorFilesSeen && oldest !== undefined) versions.delete(oldest);
    },
  };
}

/** `missing`: there is no such file. */
export interface FileRefusal {
  readonly message: string;
  readonly missing: boolean;
}

const refused = (message: string, missing = false): { readonly ok: false; readonly error: FileRefusal } =>
  fail({ message, missing });

export async function readForExecutor(
  asked: { readonly path: string; readonly line?: number | undefined; readonly limit?: number | undefined },
  needs: FileNeeds,
  may: (path: string) => Promise<ExecutorAllowed>,
): Promise<Result<string, FileRefusal>> {
  const inside = await resolveInside(needs.folder, asked.path, { guard: needs.guard, use: 'read' });
  if (!inside.ok) return refused(inside.error);
  const allowed = await may(inside.value.absolute);
  if (!allowed.allowed) return refused(allowed.reason);
  if (!isThere(inside.value)) {
    needs.seen.note(inside.value.absolute, undefined);
    return needs.missingFile === 'empty' ? ok('') : refused(`${asked.path}: no such file.`, true);
  }
  const content = await readContent(inside.value);
  if (!content.ok) return refused(content.error);
  const text = looksBinary(content.value.bytes) ? undefined : decodeUtf8(content.value.bytes);
  if (text === undefined) return refused(`${asked.path} is no text.`);
  needs.seen.note(inside.value.absolute, content.value.bytes);
  return ok(linesOf(text, asked.line, asked.limit));
}

/** Lines count from 1. */
function linesOf(text: string, line: number | undefined, limit: number | undefined): string {
  if (line === undefined && limit === undefined) return text;
  const start = Math.max(1, line ?? 1) - 1;
  const lines = text.split(/(?<=\n)/).slice(start, limit === undefined ? undefined : start + Math.max(0, limit));
  return lines.join('');
}

export async function writeForExecutor(
  asked: { readonly path: string; readonly content: string },
  needs: FileNeeds,
  may: (path: string) => Promise<ExecutorAllowed>,
  signal: AbortSignal,
): Promise<Result<ExecutorWrote, FileRefusal>> {
  const { path, content } = asked;
  if (Buffer.byteLength(content) > limits.executorWriteBytes)
    return refused(`${path} would have more than ${limits.executorWriteBytes} bytes (executorWriteBytes).`);
  const inside = await resolveInside(needs.folder, path, { guard: needs.guard, use: 'write' });
  if (!inside.ok) return refused(inside.error);
  const allowed = await may(inside.value.absolute);
  if (!allowed.allowed) return refused(allowed.reason);
  const written = await alone(inside.value, { clock: needs.clock, signal }, async () => {
    // It may be another place than it was when somebody was asked.
    const now = await resolveInside(needs.folder, path, { guard: needs.guard, use: 'write' });
    if (!now.ok || now.value.absolute !== inside.value.absolute) return refused(`${path} was moved meanwhile.`);
    const before = isThere(now.value) ? await readContent(now.value) : undefined;
    if (before !== undefined && !before.ok) return refused(before.error);
    const bytes = before?.value.bytes;
    const late = tooLate(now.value.absolute, bytes, content, needs.seen);
    if (late !== undefined) return refused(`${path} ${late}`);
    const replaced = await replaceFile(now.value, content, before?.value.mode, needs.random);
    if (!replaced.ok) return refused(replaced.error);
    needs.seen.note(now.value.absolute, content);
    const text = bytes === undefined || looksBinary(bytes) ? undefined : decodeUtf8(bytes);
    return ok({ path: now.value.absolute, ...present({ before: text }), after: content });
  });
  return written.ok ? written.value : refused(written.error);
}

/** What it is told when it goes by another version than the one that is there. What it read without us nobody knows. */
function tooLate(path: string, before: Uint8Array | undefined, content: string, seen: ReadVersions): string | undefined {
  const known = seen.version(path);
  const version = before === undefined ? null : sha256(before);
  if (known === undefined || known === version || version === sha256(content)) return undefined;
  if (version === null) {
    // There is nothing more to see of it: whoever wants it back may write it.
    seen.note(path, undefined);
    return 'was there when you read it and is gone now; nothing was written. Write it again if it should be there.';
  }
  const what = known === null ? 'was not there when you looked and is now' : 'was changed since you read it';
  return `${what}; nothing was written. Read it again and decide anew.`;
}
