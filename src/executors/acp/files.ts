/** The files of the workspace as an executor has them through us: inside its folder, with links followed, and bounded. */
import { Buffer } from 'node:buffer';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { replaceFile } from '../../tools/files/file-change.ts';
import { decodeUtf8, looksBinary, readContent } from '../../tools/files/file-content.ts';
import { alone } from '../../tools/files/file-lock.ts';
import type { Guard } from '../../tools/files/guard.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import { resolveInside } from '../../tools/files/workspace.ts';
import type { ExecutorAllowed, ExecutorWrote } from '../port.ts';

export interface FileNeeds {
  readonly folder: string;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly random: Random;
  /** Some take every answer but a text for a broken client, also of a file that they are about to make. */
  readonly missingFile: 'error' | 'empty';
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
  if (!(await pathExists(inside.value.absolute)))
    return needs.missingFile === 'empty' ? ok('') : refused(`${asked.path}: no such file.`, true);
  const content = await readContent(inside.value);
  if (!content.ok) return refused(content.error);
  const text = looksBinary(content.value.bytes) ? undefined : decodeUtf8(content.value.bytes);
  if (text === undefined) return refused(`${asked.path} is no text.`);
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
    const before = (await pathExists(now.value.absolute)) ? await readContent(now.value) : undefined;
    if (before !== undefined && !before.ok) return refused(before.error);
    const replaced = await replaceFile(now.value, content, before?.value.mode, needs.random);
    if (!replaced.ok) return refused(replaced.error);
    const bytes = before?.value.bytes;
    const text = bytes === undefined || looksBinary(bytes) ? undefined : decodeUtf8(bytes);
    return ok({ path: now.value.absolute, ...present({ before: text }), after: content });
  });
  return written.ok ? written.value : refused(written.error);
}
