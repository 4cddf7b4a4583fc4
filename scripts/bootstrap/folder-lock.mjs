/**
 * A lock between processes: whoever makes the folder has it. The holder keeps touching the folder, so a folder that nobody
 * touched for a while belonged to a process that died, and is broken.
 */
import { rmSync } from 'node:fs';
import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { BootstrapError, say } from './checkout.mjs';

const TOUCH_MS = 2_000;
const STALE_MS = 20_000;
const POLL_MS = 200;
const WAIT_MAX_MS = 15 * 60_000;

/** Runs `work` while no other process runs under the same lock. */
export async function withFolderLock(folder, work, waitMaxMs = WAIT_MAX_MS) {
  await acquire(folder, waitMaxMs);
  const touching = setInterval(() => {
    const now = new Date();
    utimes(folder, now, now).catch(() => {});
  }, TOUCH_MS);
  const stopListening = releaseOnSignal(folder);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    stopListening();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Somebody who gave up waiting and tries again must not find a lock of their own. */
function releaseOnSignal(folder) {
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      rmSync(folder, { recursive: true, force: true });
      process.kill(process.pid, signal);
    };
    process.once(signal, handler);
    return () => process.removeListener(signal, handler);
  });
  return () => {
    for (const stop of handlers) stop();
  };
}

async function acquire(folder, waitMaxMs) {
  const polls = Math.ceil(waitMaxMs / POLL_MS);
  for (let poll = 0; poll < polls; poll += 1) {
    if (await make(folder)) return;
    if (poll === 0) say('troupe: waiting for another process that installs …');
    await breakWhenStale(folder);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new BootstrapError(`Another process has been installing for too long.\nFix: end it, or remove the folder ${folder}.`);
}

async function make(folder) {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Renaming is atomic: of several processes that see the same stale lock only one moves it away. */
async function breakWhenStale(folder) {
  const seen = await stat(folder).catch(() => undefined);
  if (seen === undefined || Date.now() - seen.mtimeMs < STALE_MS) return;
  const aside = `${folder}.stale-${seen.ino}`;
  await rename(folder, aside).catch(() => {});
  await rm(aside, { recursive: true, force: true });
}
