/**
 * Large payloads as files, named by their hash: `ab/cdef…` in their folder. A file is complete and on the disk, under its
 * name, before anything refers to it.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, messageOf, TroupeError } from '../../base/errors.ts';
import type { PayloadRef } from '../../base/ids.ts';
import { type Disk, keepFile, systemDisk } from './disk.ts';

export interface PayloadFiles {
  write(ref: PayloadRef, body: string | Uint8Array): Promise<void>;
  /** For use inside the transaction: writes the file again if a collection took it away in the meantime. */
  ensure(ref: PayloadRef, body: string | Uint8Array): void;
  /** `undefined` when there is no such file. */
  read(ref: PayloadRef): Promise<Uint8Array | undefined>;
  remove(ref: PayloadRef): void;
  /** Removes files last changed before `before` that nothing refers to: leftovers of commits that failed. */
  sweep(before: number, isUsed: (ref: PayloadRef) => boolean): void;
}

/** `unique` keeps the temporary names of several processes apart. */
export function createPayloadFiles(folder: string, unique: string, disk: Disk = systemDisk): PayloadFiles {
  const pathOf = (ref: PayloadRef): string => join(folder, ref.slice(0, 2), ref.slice(2));
  const temporary = (path: string): string => `${path}.${unique}.tmp`;
  return {
    write: async (ref, body) => {
      const path = pathOf(ref);
      try {
        // Whoever has put it there may not have flushed its name yet.
        if (existsSync(path)) await disk.carryOut({ kind: 'flush', what: 'folder', path: dirname(path) });
        else for (const step of keepFile(path, body, temporary(path))) await disk.carryOut(step);
      } catch (error) {
        rmSync(temporary(path), { force: true });
        throw fileError(error, path);
      }
    },
    ensure: (ref, body) => {
      const path = pathOf(ref);
      if (existsSync(path)) return;
      try {
        for (const step of keepFile(path, body, temporary(path))) disk.carryOutNow(step);
      } catch (error) {
        throw fileError(error, path);
      }
    },
    read: async (ref) => {
      try {
        return await readFile(pathOf(ref));
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw fileError(error, pathOf(ref));
      }
    },
    remove: (ref) => rmSync(pathOf(ref), { force: true }),
    sweep: (before, isUsed) => {
      if (!existsSync(folder)) return;
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const path = join(folder, name);
        const found = statSync(path, { throwIfNoEntry: false });
        if (found?.isFile() !== true || found.mtimeMs >= before) continue;
        const ref = name.replace(/[\\/]/, '');
        if (!/^[0-9a-f]{64}$/.test(ref) || !isUsed(ref as PayloadRef)) rmSync(path, { force: true });
      }
    },
  };
}

function fileError(error: unknown, path: string): TroupeError {
  const full = codeOf(error) === 'ENOSPC';
  return new TroupeError(
    full ? 'ledger_full' : 'ledger_io',
    `${full ? 'The disk is full' : 'A payload file failed'}: ${path} (${messageOf(error)})`,
    {
      fix: full ? 'Free some space and resume the run.' : 'Check the disk, the folder and its permissions.',
      cause: error,
    },
  );
}
