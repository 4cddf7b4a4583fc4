import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { lineDiff, textBefore } from './line-diff.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 30 }).map((all) => all.join('\n'));

/** Applies a unified diff by its line numbers alone. */
function patch(before: string, diff: string): string {
  const source = before === '' ? [] : before.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  const rows = diff.split('\n').slice(0, -1);
  rows.forEach((row, index) => {
    const text = row.slice(1) + (rows[index + 1]?.startsWith('\\') === true ? '' : '\n');
    const header = /^@@ -(\d+),(\d+) /.exec(row);
    if (header !== null) {
      const start = header[2] === '0' ? Number(header[1]) : Number(header[1]) - 1;
      result.push(...source.slice(at, start));
      at = start;
    } else if (row.startsWith('+')) result.push(text);
    else if (row.startsWith(' ') || row.startsWith('-')) {
      expect(source[at]).toBe(text);
      if (row.startsWith(' ')) result.push(text);
      at += 1;
    }
  });
  return [...result, ...source.slice(at)].join('');
}

describe('lineDiff', () => {
  it('turns before into after', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const { text, added, removed } = lineDiff(before, after);
        expect(patch(before, text)).toBe(after);
        expect(text.split('\n').filter((row) => row.startsWith('+')).length).toBe(added);
        expect(text.split('\n').filter((row) => row.startsWith('-')).length).toBe(removed);
      }),
      { numRuns: 500 },
    );
  });

  it('is what patch understands', async () => {
    await using place = await testWorkspace();
    const before = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');
    const after = before.replace('line 3\n', 'line three\n').replace('line 40\n', '').concat('\nend');
    writeFileSync(join(place.path, 'f'), before);
    writeFileSync(join(place.path, 'd'), `--- a/f\n+++ b/f\n${lineDiff(before, after).text}`);
    execFileSync('git', ['apply', '--unidiff-zero', 'd'], { cwd: place.path });
    expect(execFileSync('cat', ['f'], { cwd: place.path }).toString()).toBe(after);
  });

  it('stays quick when everything differs', () => {
    const many = (word: string) => Array.from({ length: 200_000 }, (_, index) => `${word} ${index}`).join('\n');
    expect(lineDiff(many('old'), many('new'))).toMatchObject({ added: 200_000, removed: 200_000 });
  });
});

it('a text can be had back from what it became', () => {
  const texts = ['', 'a', 'a\n', 'a\nb\nc\n', 'x\nb\ny', Array.from({ length: 40 }, (_, line) => `l${line % 7}\n`).join('')];
  for (const before of texts)
    for (const after of [...texts, `${before}more\n`, before.replace('b', 'B')]) {
      expect(textBefore(after, lineDiff(before, after).text)).toBe(before);
      const { text } = lineDiff(before, after);
      if (text.length > 12) expect(textBefore(`${after}!`, text.slice(0, -6)) === before).toBe(false);
    }
});
