/** Patches made of recorded changes: git takes them, and they bring the files to what they were left as. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testFolder } from '../../test/support/ledger/sqlite-folder.ts';
import { lineDiff } from '../tools/files/line-diff.ts';
import { patchText, type RecordedChange } from './patch-text.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hash = (text: string | null): string | null => (text === null ? null : sha256(text));

function change(path: string, before: string | null, after: string | null): RecordedChange {
  const [from, to] = [before === null ? '/dev/null' : `a/${path}`, after === null ? '/dev/null' : `b/${path}`];
  const { text } = lineDiff(before ?? '', after ?? '');
  return { path, before: hash(before), after: hash(after), diff: text === '' ? '' : `--- ${from}\n+++ ${to}\n${text}` };
}

function applied(start: Readonly<Record<string, string | null>>, patch: string, paths: readonly string[]) {
  const folder = testFolder();
  execFileSync('git', ['init', '-q'], { cwd: folder });
  for (const [path, text] of Object.entries(start)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    if (text !== null) writeFileSync(join(folder, path), text);
  }
  if (patch !== '') execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: patch });
  const read = (path: string): string | null => {
    try {
      return readFileSync(join(folder, path), 'utf8');
    } catch {
      return null;
    }
  };
  const held = paths.map(read);
  rmSync(folder, { recursive: true });
  return held;
}

it('of any changes of files, one after the other, whether it is known what they hold or not', () => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '', '@@ -1,1 +1,1 @@'), { maxLength: 8 }).map((lines) => lines.join('\n'));
  const held = fc.option(
    text.filter((one) => one !== ''),
    { nil: null },
  );
  const history = fc.array(held, { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(fc.tuple(history, history), fc.boolean(), (histories, known) => {
      const paths = ['src/one file.txt', 'two.txt'];
      const changes = histories.flatMap((states, index) =>
        states.slice(1).flatMap((after, at) => {
          const before = states[at] ?? null;
          return before === after ? [] : [change(paths[index] ?? '', before, after)];
        }),
      );
      const now = new Map(paths.map((path, index) => [path, histories[index]?.at(-1) ?? undefined]));
      const patch = patchText(
        changes,
        (path) => (known ? now.get(path) : undefined),
        (one) => one,
      );
      const start = Object.fromEntries(paths.map((path, index) => [path, histories[index]?.[0] ?? null]));
      expect(applied(start, patch, paths)).toEqual(histories.map((states) => states.at(-1) ?? null));
    }),
    { numRuns: 30 },
  );
});

it('a file that is changed several times is there once, where that can be told', () => {
  const changes = [change('a.txt', null, 'one\n'), change('a.txt', 'one\n', 'one\ntwo\n')];
  const patch = patchText(
    changes,
    () => 'one\ntwo\n',
    (one) => one,
  );
  expect(patch.match(/^diff --git/gm)).toHaveLength(1);
  expect(patch).toContain('+one\n+two\n');
});

it('what is no text is named, and left out', () => {
  const binary = { path: 'logo.png', before: null, after: sha256('x'), diff: '--- /dev/null\n+++ b/logo.png\n(not text)\n' };
  const patch = patchText(
    [binary, change('a.txt', null, 'one\n')],
    () => undefined,
    (one) => one,
  );
  expect(patch).toContain(
    `# logo.png is not in this patch, it is no text or too large: nothing before, sha256:${sha256('x')} after`,
  );
  expect(applied({}, patch, ['a.txt', 'logo.png'])).toEqual(['one\n', null]);
});
