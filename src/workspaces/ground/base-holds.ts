/**
 * Whether where a task began still is what it was. Git finds objects by names that follow from what they hold, and reads
 * those that are not packed without comparing the two: whoever can write to the repository could put another past in the
 * place of this one, and what was done would be compared with that. Inside walls nobody can; without them it is looked at.
 */
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createInflate, inflateSync } from 'node:zlib';
import { atMost } from '../../base/at-most.ts';
import { KIB, MIB } from '../../base/limits/units.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { gitFailure, isSha256, type PrivateGit } from '../private-git.ts';

const AT_ONCE = 8;
/** Most are small, and a stream for each costs five times what is in it. */
const SMALL_BYTES = 64 * KIB;
const SMALL_INFLATED_BYTES = 4 * MIB;

/** Every object of the commit's files that lies in the repository by itself. Packs are not looked into. */
export async function baseHolds(git: PrivateGit, base: string): Promise<Result<void, Failure>> {
  const objects = join(git.repository.common, 'objects');
  const loose = await looseIn(objects);
  if (loose.size === 0) return ok(undefined);
  const listed = await git.run(['rev-list', '--objects', '--no-walk', '--no-object-names', base], {
    timeoutMs: limits.checkoutMs,
  });
  if (!listed.ok) return fail(gitFailure(`The base ${base.slice(0, 12)} cannot be read`, listed.error));
  const wanted = listed.value
    .toString()
    .split('\n')
    .filter((name) => loose.has(name));
  const algorithm = isSha256(git.repository.settings) ? 'sha256' : 'sha1';
  const places = atMost(AT_ONCE);
  const held = await Promise.all(wanted.map((name) => places(() => holds(objects, name, algorithm))));
  const wrong = wanted.find((_name, index) => held[index] === false);
  if (wrong === undefined) return ok(undefined);
  const said = `The object ${wrong.slice(0, 12)} of the repository does not hold what its name says`;
  const message = `${said}: somebody has changed it, and nothing can be compared with where the task began.`;
  return fail({
    code: 'base_changed',
    message,
    fix: 'git fsck names what is wrong. Let what you do not trust work inside walls.',
  });
}

/** By their whole names. */
async function looseIn(objects: string): Promise<ReadonlySet<string>> {
  const folders = (await readdir(objects).catch(() => [])).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const names = await Promise.all(folders.map(async (name) => (await readdir(join(objects, name))).map((rest) => name + rest)));
  return new Set(names.flat());
}

async function holds(objects: string, name: string, algorithm: string): Promise<boolean> {
  const path = join(objects, name.slice(0, 2), name.slice(2));
  try {
    const whole = (await stat(path)).size > SMALL_BYTES ? undefined : inflated(await readFile(path));
    if (whole !== undefined) return hash(algorithm, whole) === name;
    const sum = createHash(algorithm);
    await pipeline(createReadStream(path), createInflate(), sum);
    return sum.digest('hex') === name;
  } catch {
    return false;
  }
}

/** Nothing when it is broken, or more than it looks: then it is read piece by piece. */
function inflated(content: Uint8Array): Uint8Array | undefined {
  try {
    return inflateSync(content, { maxOutputLength: SMALL_INFLATED_BYTES });
  } catch {
    return undefined;
  }
}
