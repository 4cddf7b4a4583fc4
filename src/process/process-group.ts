/**
 * Ends a child process together with everything it started. Children are spawned `detached`, which makes them leaders of a
 * process group of their own; a signal to the group reaches grandchildren too.
 */
import type { ChildProcess } from 'node:child_process';
import { type Clock, sleep } from '../base/clock.ts';
import { limits } from '../base/limits.ts';

/** Says whether there was anything left to signal. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

/** Groups that are to end with this process. */
const dependent = new Set<ChildProcess>();
const endDependent = (): void => {
  for (const child of dependent) signalGroup(child, 'SIGKILL');
};

/** Even when this process leaves at once, nothing of the group stays behind to do things that nobody sees. */
export function endWithThisProcess(child: ChildProcess, gone: Promise<unknown>): void {
  if (dependent.size === 0) process.on('exit', endDependent);
  dependent.add(child);
  void gone.then(() => {
    dependent.delete(child);
    if (dependent.size === 0) process.off('exit', endDependent);
  });
}

/** Asks the group to end, and makes it end when it has not after the grace period. `gone` resolves when it is. */
export async function stopGroup(
  child: ChildProcess,
  gone: Promise<unknown>,
  clock: Clock,
  graceMs = limits.stopGraceMs,
): Promise<void> {
  if (!signalGroup(child, 'SIGTERM')) return;
  const done = new AbortController();
  void gone.then(() => done.abort());
  await sleep(clock, graceMs, done.signal);
  signalGroup(child, 'SIGKILL');
}
