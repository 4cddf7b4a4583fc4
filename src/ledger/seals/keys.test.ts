import { execFile } from 'node:child_process';
import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { systemRandom } from '../../base/random.ts';
import { addKey, createKeyRing, sealKeyFile, sealKeyState } from './keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let homes = 0;
const newHome = (): { HOME: string } => {
  homes += 1;
  return { HOME: join(folder, `home-${homes}`) };
};

/** What is done to files meanwhile, in its order: what is flushed, and what gets its name. */
function recordedFiles(act: () => void): readonly string[] {
  const seen: string[] = [];
  const { fsyncSync, linkSync, renameSync } = fs;
  const noting =
    <Given extends readonly unknown[]>(what: string, act: (...given: Given) => void) =>
    (...given: Given): void => {
      seen.push(what);
      act(...given);
    };
  Object.assign(fs, {
    fsyncSync: noting('flush', fsyncSync),
    linkSync: noting('link', linkSync),
    renameSync: noting('rename', renameSync),
  });
  syncBuiltinESMExports();
  try {
    act();
  } finally {
    Object.assign(fs, { fsyncSync, linkSync, renameSync });
    syncBuiltinESMExports();
  }
  return seen;
}

describe('the file of keys', () => {
  it('is made with the first key, for its owner only', () => {
    const env = newHome();
    const ring = createKeyRing(env, systemRandom);
    expect(ring.find('000000000000')).toBeUndefined();
    expect(() => statSync(sealKeyFile(env))).toThrow();
    const key = ring.current();
    expect(statSync(sealKeyFile(env)).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(sealKeyFile(env))).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(sealKeyFile(env)))).toEqual(['seal.keys']);
    expect(createKeyRing(env, systemRandom).current()).toEqual(key);
    expect(sealKeyState(env)).toEqual({ place: sealKeyFile(env), ids: [key.id] });
  });

  it('is on the disk, with its name, before a key of it is used: the first one and every other', () => {
    const env = newHome();
    const carriedOut = recordedFiles(() => createKeyRing(env, systemRandom).current());
    expect(carriedOut).toEqual(['flush', 'link', 'flush']);
    expect(recordedFiles(() => addKey(env, systemRandom))).toEqual(['flush', 'rename', 'flush']);
  });

  it('seals with the newest and opens with all, also in a process that has been running', () => {
    const env = newHome();
    const running = createKeyRing(env, systemRandom);
    const first = running.current();
    const id = addKey(env, systemRandom);
    expect(running.current().id).toBe(id);
    expect(running.find(first.id)).toEqual(first);
    expect(sealKeyState(env).ids).toEqual([id, first.id]);
  });

  it('is one, however many processes make it at once', async () => {
    const env = newHome();
    const module = (name: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);
    const script =
      `const { createKeyRing } = await import(${module('./keys.ts')});` +
      `const { systemRandom } = await import(${module('../../base/random.ts')});` +
      'console.log(createKeyRing(process.env, systemRandom).current().id);';
    const ids = await Promise.all(
      Array.from({ length: 6 }, () =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, ...env } }),
      ),
    );
    expect(new Set(ids.map(({ stdout }) => stdout.trim())).size).toBe(1);
    expect(ids[0]?.stdout.trim()).toMatch(/^[0-9a-f]{12}$/);
  });

  it('keeps every key, however many processes add one at once', async () => {
    const env = newHome();
    const module = (name: string) => JSON.stringify(pathToFileURL(join(import.meta.dirname, name)).href);
    const script =
      `const { addKey } = await import(${module('./keys.ts')});` +
      `const { systemRandom } = await import(${module('../../base/random.ts')});` +
      'for (let round = 0; round < 10; round += 1) console.log(addKey(process.env, systemRandom));';
    const added = await Promise.all(
      Array.from({ length: 4 }, () =>
        promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env: { ...process.env, ...env } }),
      ),
    );
    const ids = added.flatMap(({ stdout }) => stdout.trim().split('\n'));
    expect(new Set(ids).size).toBe(40);
    expect(sealKeyState(env).ids.toSorted()).toEqual(ids.toSorted());
  });

  it('is read again when it could not be read, though nothing shows that it has changed', () => {
    const env = newHome();
    const kept = createKeyRing(env, systemRandom).current();
    const path = sealKeyFile(env);
    const { atime, mtime } = statSync(path);
    const text = readFileSync(path, 'utf8');
    const put = (content: string): void => {
      writeFileSync(path, content);
      utimesSync(path, atime, mtime);
    };
    put(text.replace(/^.{9}/, '!'.repeat(9)));
    const ring = createKeyRing(env, systemRandom);
    expect(() => ring.find(kept.id)).toThrow(expect.objectContaining({ code: 'seal_key' }));
    put(text);
    expect(ring.find(kept.id)).toEqual(kept);
  });

  it('gives way to the environment, whose first key seals', () => {
    const env = newHome();
    const kept = createKeyRing(env, systemRandom).current();
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const given = { ...env, TROUPE_SEAL_KEY: `${one.toString('base64')},${two.toString('hex')}` };
    const ring = createKeyRing(given, systemRandom);
    expect(Buffer.from(ring.current().bytes)).toEqual(one);
    const [, older = ''] = sealKeyState(given).ids;
    expect(Buffer.from(ring.find(older)?.bytes ?? [])).toEqual(two);
    expect(ring.find(kept.id)).toEqual(kept);
  });

  it('refuses what is no key, without showing it', () => {
    expect(() => createKeyRing({ ...newHome(), TROUPE_SEAL_KEY: 'hunter2' }, systemRandom)).toThrow(
      expect.objectContaining({ code: 'seal_key', message: expect.not.stringContaining('hunter2') }),
    );
    const env = newHome();
    mkdirSync(dirname(sealKeyFile(env)), { recursive: true });
    writeFileSync(sealKeyFile(env), 'nonsense\n');
    expect(() => createKeyRing(env, systemRandom).current()).toThrow(expect.objectContaining({ code: 'seal_key' }));
    expect(readFileSync(sealKeyFile(env), 'utf8')).toBe('nonsense\n');
  });

  it('says when others can read it', () => {
    const env = newHome();
    createKeyRing(env, systemRandom).current();
    chmodSync(sealKeyFile(env), 0o644);
    expect(sealKeyState(env)).toMatchObject({ problem: expect.stringContaining('others') });
  });

  it('that cannot be made leaves a key for this process', () => {
    writeFileSync(join(folder, 'a-file'), '');
    const ring = createKeyRing({ HOME: join(folder, 'a-file') }, systemRandom);
    const key = ring.current();
    expect(ring.current()).toEqual(key);
    expect(ring.find(key.id)).toEqual(key);
  });
});
