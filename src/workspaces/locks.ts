/** Who may make and apply at a time, in all processes of the machine. */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { fail, type Result } from '../base/result.ts';
import type { Failure } from '../events/catalogue.ts';
import { whileLocked } from '../process/system-lock.ts';
import type { WorkspaceOptions } from './options.ts';

/** So many files at most, however many tasks there are: two that share one wait for each other now and then. */
const TASK_LOCKS = 64;

/** One attempt at a time for one place. */
export async function onePerTask<Value>(
  options: WorkspaceOptions,
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const number = createHash('sha256').update(path).digest().readUInt16BE() % TASK_LOCKS;
  return await locked(options, `task-${number}`, signal, work);
}

/** One change of a repository's list of worktrees at a time. */
export async function lockedWorktrees<Value>(
  options: WorkspaceOptions,
  signal: AbortSignal | undefined,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  return await locked(options, 'worktrees', signal, work);
}

/** One change of the user's files at a time. */
export async function lockedApplying<Value>(
  options: WorkspaceOptions,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  return await locked(options, 'apply', undefined, work);
}

async function locked<Value>(
  { home, clock }: WorkspaceOptions,
  name: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  const folder = join(home, 'worktrees', '.locks');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const held = await whileLocked(path, { clock, waitMs: limits.workspaceWaitMs, ...present({ signal }) }, work);
  if (held.ok) return held.value;
  if (held.error === 'cancelled') return fail({ code: 'cancelled', message: 'Cancelled; nothing was changed.' });
  if (held.error === 'unusable') return fail({ code: 'io', message: `${path} cannot be locked; nothing was changed.` });
  const message = `Others have held ${path} for ${limits.workspaceWaitMs / 60_000} minutes (workspaceWaitMs).`;
  return fail({ code: 'workspace_busy', message, fix: 'Try again.' });
}
