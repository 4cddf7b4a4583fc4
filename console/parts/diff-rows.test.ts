import { describe, expect, it } from 'vitest';
import { diffRows } from './diff-rows.ts';

describe('the rows of a difference', () => {
  it('have the numbers of both files, hunk by hunk', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@\n one\n-two\n+2\n+2b\n@@ -9 +10 @@\n-nine\n\\ No newline at end of file\n';
    expect(diffRows(diff).map(({ kind, text, before, after }) => `${kind} ${before ?? '-'} ${after ?? '-'} ${text}`)).toEqual([
      'place - - --- a/x',
      'place - - +++ b/x',
      'place - - @@ -3,2 +3,3 @@',
      'same 3 3 one',
      'removed 4 - two',
      'added - 4 2',
      'added - 5 2b',
      'place - - @@ -9 +10 @@',
      'removed 9 - nine',
      'place - - \\ No newline at end of file',
    ]);
  });

  it('take what looks like the head of a file inside a hunk for what it is', () => {
    expect(diffRows('@@ -1 +1 @@\n--- x\n+++ y\n').map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      'place @@ -1 +1 @@',
      'removed -- x',
      'added ++ y',
    ]);
  });
});
