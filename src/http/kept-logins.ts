/**
 * What logins need to outlive a server: the secret that signs them, and which of them somebody has ended. In the user's own
 * folder, which no walled program sees; nobody else on the machine can read it.
 */
import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { codeOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { type LoginKeys, SECRET_BYTES } from './logins.ts';

const SECRET = 'secret';
const PRIVATE = { mode: 0o600 } as const;

/** Throws what the file system says when the folder cannot be written. */
export function keptKeys(folder: string, clock: Clock, random: Random): LoginKeys {
  const ended = join(folder, 'ended');
  const fileOf = (id: string): string => join(ended, createHash('sha256').update(id).digest('hex'));
  let known: { readonly stamp: string; readonly secret: Uint8Array } | undefined;
  const secret = (): Uint8Array => {
    // Somebody may have ended all logins: then there is another one.
    const stamp = stampOf(join(folder, SECRET));
    if (known === undefined || known.stamp !== stamp)
      known = { secret: readSecret(folder, random), stamp: stampOf(join(folder, SECRET)) };
    return known.secret;
  };
  secret();
  mkdirSync(ended, { recursive: true, mode: 0o700 });
  return {
    secret,
    hasEnded: (id) => statSync(fileOf(id), { throwIfNoEntry: false }) !== undefined,
    end(id, until) {
      const names = readdirSync(ended);
      for (const name of names)
        if (names.length >= limits.loginsEnded || isOver(join(ended, name), clock)) rmSync(join(ended, name), { force: true });
      writeFileSync(fileOf(id), String(until), PRIVATE);
    },
  };
}

/** Ends every login: whoever has one needs another link. */
export const endAllLogins = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Written whole beside it and then linked: of several servers that begin at once the first makes it. */
export function readSecret(folder: string, random: Random): Uint8Array {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, SECRET);
  const there = secretIn(path);
  if (there !== undefined) return there;
  const draft = join(folder, `${SECRET}.${Buffer.from(random.bytes(8)).toString('hex')}`);
  writeFileSync(draft, random.bytes(SECRET_BYTES), { ...PRIVATE, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return secretIn(path) ?? random.bytes(SECRET_BYTES);
}

/** One that is not whole is none, and makes room for another. */
function secretIn(path: string): Uint8Array | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length === SECRET_BYTES) return bytes;
    rmSync(path, { force: true });
    return undefined;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function stampOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs}`;
}

function isOver(path: string, clock: Clock): boolean {
  try {
    return !(Number(readFileSync(path, 'utf8')) > clock.now());
  } catch {
    return false;
  }
}
