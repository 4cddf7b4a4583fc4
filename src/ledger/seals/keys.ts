/**
 * The keys that payloads are sealed with. They lie outside the ledger: in the environment (`TROUPE_SEAL_KEY`, for many machines)
 * or in a file of the user's that is made when the first payload has to be sealed. The newest key seals, every known one opens.
 *
 * A key that cannot be kept (no folder that can be written) lives as long as this process: what it sealed is then gone for
 * everybody else, and a resumed run says so.
 */

import { createHash } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { codeOf, messageOf, TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Random } from '../../base/random.ts';
import { DatabaseSync } from '../../base/sqlite.ts';

export interface SealKey {
  /** Follows from its bytes, and says nothing about them. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

export interface KeyRing {
  /** What seals; made when there is none yet. */
  current(): SealKey;
  find(id: string): SealKey | undefined;
}

export const SEAL_VARIABLE = 'TROUPE_SEAL_KEY';
const KEY_BYTES = 32;
const ID_CHARACTERS = 12;

/** In the folder for state, not for settings: settings are synchronised between machines, and a key stays on one. */
export function sealKeyFile(env: Environment): string {
  const state = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  return join(state, 'troupe', 'seal.keys');
}

export function createKeyRing(env: Environment, random: Random): KeyRing {
  const given = keysIn(env[SEAL_VARIABLE] ?? '', SEAL_VARIABLE);
  const file = createKeyFile(sealKeyFile(env), random);
  return {
    current: () => given[0] ?? file.current(),
    find: (id) => given.find((key) => key.id === id) ?? file.find(id),
  };
}

/** For a ledger that is opened without a project: what was sealed opens as long as it is open. */
export function passingKeys(random: Random): KeyRing {
  const key = newKey(random);
  return { current: () => key, find: (id) => (id === key.id ? key : undefined) };
}

/** What `troupe doctor` says of the keys. */
export interface SealKeyState {
  readonly place: string;
  /** Newest first. */
  readonly ids: readonly string[];
  readonly problem?: string;
}

export function sealKeyState(env: Environment): SealKeyState {
  const path = sealKeyFile(env);
  const given = keysIn(env[SEAL_VARIABLE] ?? '', SEAL_VARIABLE);
  if (given.length > 0) return { place: SEAL_VARIABLE, ids: given.map(({ id }) => id) };
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return { place: path, ids: [] };
  const ids = readKeys(path).map(({ id }) => id);
  const open = process.platform !== 'win32' && (found.mode & 0o077) !== 0;
  return { place: path, ids, ...(open ? { problem: 'others can read it' } : {}) };
}

/** Adds a key that seals from now on; earlier ones still open. Returns its id. Of several at once none is lost. */
export function addKey(env: Environment, random: Random): string {
  const path = sealKeyFile(env);
  const key = newKey(random);
  // Whoever makes the file does not hold the lock: the one who is first makes it, and it is only ever replaced under the lock.
  if (readKeys(path).length === 0 && createFile(path, key, random).id === key.id) return key.id;
  const unlock = lockOf(path);
  try {
    replaceFile(path, [key, ...readKeys(path)], random);
  } finally {
    unlock();
  }
  return key.id;
}

/** One that the operating system keeps and that ends with the process. It is SQLite's, because Node itself has none. */
function lockOf(path: string): () => void {
  const lock = new DatabaseSync(`${path}.lock`, { timeout: limits.fileLockMs });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    return () => lock.close();
  } catch (error) {
    lock.close();
    throw new TroupeError('held', `The keys are being changed by another process: ${messageOf(error)}`, {
      fix: 'Wait until it is done, and try again.',
    });
  }
}

function createKeyFile(path: string, random: Random): KeyRing {
  let known: readonly SealKey[] = [];
  let seen = '';
  /** Another process may have made or added one: the file is read again when it has changed. */
  const read = (): readonly SealKey[] => {
    const stamp = stampOf(path);
    if (stamp !== seen) {
      known = readKeys(path);
      // Only what could be read has been seen: rights that were given back do not change the stamp.
      seen = stamp;
    }
    return known;
  };
  let passing: SealKey | undefined;
  return {
    current() {
      const [newest] = read();
      if (newest !== undefined) return newest;
      try {
        return createFile(path, newKey(random), random);
      } catch (error) {
        if (error instanceof TroupeError) throw error;
        passing ??= newKey(random);
        return passing;
      }
    },
    find: (id) => [...(passing === undefined ? [] : [passing]), ...read()].find((key) => key.id === id),
  };
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}

function readKeys(path: string): readonly SealKey[] {
  try {
    return keysIn(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    if (error instanceof TroupeError) throw error;
    throw new TroupeError('seal_key', `The keys that seal secrets cannot be read: ${messageOf(error)}`, {
      fix: `Make ${path} readable for you, and for nobody else.`,
    });
  }
}

/** One key per line or between commas, the newest first. */
function keysIn(text: string, place: string): readonly SealKey[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const bytes = /^[0-9a-f]{64}$/i.test(word) ? Buffer.from(word, 'hex') : Buffer.from(word, 'base64');
      if (bytes.length === KEY_BYTES) return keyOf(bytes);
      throw new TroupeError('seal_key', `${place} holds something that is not a key of ${KEY_BYTES} bytes`, {
        fix: `Make one with: openssl rand -base64 ${KEY_BYTES}`,
      });
    });
}

const newKey = (random: Random): SealKey => keyOf(random.bytes(KEY_BYTES));

function keyOf(bytes: Uint8Array): SealKey {
  return { bytes, id: createHash('sha256').update('troupe seal key ').update(bytes).digest('hex').slice(0, ID_CHARACTERS) };
}

/** Of two processes that make the file at once one wins, and both use its key. */
function createFile(path: string, key: SealKey, random: Random): SealKey {
  const draft = writeDraft(path, [key], random);
  try {
    linkSync(draft, path);
    flushFolder(path);
    return key;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    const [winner] = readKeys(path);
    if (winner !== undefined) return winner;
    throw new TroupeError('seal_key', `There is no key in ${path}`, {
      fix: 'Remove the file: a new one is made when it is needed.',
    });
  } finally {
    rmSync(draft, { force: true });
  }
}

function replaceFile(path: string, keys: readonly SealKey[], random: Random): void {
  const draft = writeDraft(path, keys, random);
  renameSync(draft, path);
  flushFolder(path);
}

function writeDraft(path: string, keys: readonly SealKey[], random: Random): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${Buffer.from(random.bytes(9)).toString('base64url')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, keys.map(({ bytes }) => `${Buffer.from(bytes).toString('base64')}\n`).join(''));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return draft;
}

function flushFolder(path: string): void {
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
