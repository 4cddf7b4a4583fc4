/**
 * Tests that mend the sources while they run, and break them again: afterwards every file holds what it held before. It is seen
 * by the files, which were written all the same, and by a test of this very work that can write any.
 */
import type { EventOf } from '../../events/envelope.ts';
import { looksLikeTestRun } from '../../tools/shell/test-commands.ts';
import { isTest, type TextOf } from '../old-tests/weakened-tests.ts';

const WRITES =
  /writeFile|appendFile|copyFile|\bcp(?:Sync)?\(|rename|unlink|symlink|truncate|createWriteStream|openSync|child_process|\bexeca\b|Bun\.write|Deno\.(?:write|Command)|\bopen\(|write_text|write_bytes|shutil|subprocess|os\.(?:replace|remove|system|popen)/;

/** Why the run of a test command proves nothing, if it proves nothing; `changes` are those of the whole work. */
export function mendedMeanwhile(
  { payload: { workspace } }: EventOf<'cli.run'>,
  command: string,
  changes: readonly EventOf<'file.diff'>['payload'][],
  textOf: TextOf,
): string | undefined {
  if (workspace === undefined || 'unknown' in workspace || workspace.touched !== true || !looksLikeTestRun(command))
    return undefined;
  const tests = new Set(changes.flatMap(({ path }) => (isTest(path) ? [path] : [])));
  const writer = [...tests].find((path) => WRITES.test(textOf(path) ?? ''));
  return writer === undefined
    ? undefined
    : `files were changed and put back while it ran, and ${writer}, which was written in this work, can do that`;
}
