/**
 * How a file comes to be on the disk, against loss of power too: its bytes are flushed under another name, then it gets its
 * own, then the folder that holds the name is flushed, and so is every folder above it that was just made. A name without a
 * flushed folder may be gone after a loss of power, however carefully the bytes were written.
 *
 * It is a list of steps, so that one order serves those who may wait and those inside a transaction, and so that a test can
 * stop between any two of them.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../base/errors.ts';

export type DiskStep =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly body: string | Uint8Array }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  /** What was written to the file, or the names that the folder holds. */
  | { readonly kind: 'flush'; readonly what: 'file' | 'folder'; readonly path: string };

export interface Disk {
  carryOut(step: DiskStep): Promise<void>;
  carryOutNow(step: DiskStep): void;
}

/** Puts a file at its place as a whole. Each step is looked for when it is its turn. */
export function* keepFile(path: string, body: string | Uint8Array, temporary: string): Generator<DiskStep> {
  yield* makeFolder(dirname(path));
  yield { kind: 'write', path: temporary, body };
  yield { kind: 'flush', what: 'file', path: temporary };
  yield { kind: 'rename', from: temporary, to: path };
  yield { kind: 'flush', what: 'folder', path: dirname(path) };
}

/** Makes the folder and those above it that are not there. */
export function* makeFolder(path: string): Generator<DiskStep> {
  const above = dirname(path);
  if (existsSync(path) || above === path) return;
  yield* makeFolder(above);
  yield { kind: 'folder', path };
  yield { kind: 'flush', what: 'folder', path: above };
}

const PRIVATE_FOLDER = { mode: 0o700, recursive: true } as const;
const PRIVATE_FILE = { mode: 0o600 } as const;

export const systemDisk: Disk = {
  async carryOut(step) {
    if (step.kind === 'folder') await mkdir(step.path, PRIVATE_FOLDER);
    else if (step.kind === 'write') await writeFile(step.path, step.body, PRIVATE_FILE);
    else if (step.kind === 'rename') await rename(step.from, step.to);
    else await flush(step.what, step.path);
  },
  carryOutNow(step) {
    if (step.kind === 'folder') mkdirSync(step.path, PRIVATE_FOLDER);
    else if (step.kind === 'write') writeFileSync(step.path, step.body, PRIVATE_FILE);
    else if (step.kind === 'rename') renameSync(step.from, step.to);
    else flushNow(step.what, step.path);
  },
};

async function flush(what: 'file' | 'folder', path: string): Promise<void> {
  try {
    await using file = await open(path, 'r');
    await file.sync();
  } catch (error) {
    if (what === 'file' || !isUnknownThere(error)) throw error;
  }
}

function flushNow(what: 'file' | 'folder', path: string): void {
  try {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (what === 'file' || !isUnknownThere(error)) throw error;
  }
}

/** Some systems keep the names of folders by themselves, and refuse to be asked. */
function isUnknownThere(error: unknown): boolean {
  return ['EINVAL', 'EISDIR', 'EPERM', 'EACCES', 'ENOTSUP'].includes(codeOf(error) ?? '');
}
