/**
 * Files that an index says not to look at (`git update-index --assume-unchanged`, `--skip-worktree`): git takes them for
 * unchanged, whatever they hold. Whoever asks what is on the disk must not: they hold somebody's work like any other.
 */
import { lstat } from 'node:fs/promises';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { zeroSeparatedBytes } from '../git.ts';
import { gitFailure, type PrivateGit } from '../private-git.ts';

/** From now on this index, which is a copy, has them looked at. What is left out on purpose, and is not there, stays so. */
export async function lookAtAll(git: PrivateGit, index: string, work: string): Promise<Result<void, Failure>> {
  const listed = await git.run(['ls-files', '-z', '-v'], { index, work });
  if (!listed.ok) return fail(gitFailure('The files cannot be listed', listed.error));
  const [assumed, skipped]: [Buffer[], Buffer[]] = [[], []];
  for (const line of zeroSeparatedBytes(listed.value)) {
    // A small letter is assumed to be unchanged, an S is skipped, and a small s is both.
    const [letter, name] = [line.toString('latin1', 0, 1), line.subarray(2)];
    if (letter !== letter.toUpperCase()) assumed.push(name);
    if (letter.toUpperCase() === 'S' && (await isThere(work, name))) skipped.push(name);
  }
  for (const [flag, names] of [
    ['--no-assume-unchanged', assumed],
    ['--no-skip-worktree', skipped],
  ] as const) {
    if (names.length === 0) continue;
    const input = Buffer.concat(names.flatMap((name) => [name, ZERO]));
    const done = await git.run(['update-index', '-z', flag, '--stdin'], { index, work, input });
    if (!done.ok) return fail(gitFailure('The files cannot be read', done.error));
  }
  return ok(undefined);
}

const ZERO = Buffer.of(0);

/** A name need not be a text. */
async function isThere(work: string, name: Buffer): Promise<boolean> {
  return lstat(Buffer.concat([Buffer.from(`${work}/`), name])).then(
    () => true,
    () => false,
  );
}
