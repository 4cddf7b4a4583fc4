import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ok } from '../../base/result.ts';
import { previewChange } from './preview-change.ts';

let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-preview-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const preview = (path: string, text: string) => previewChange(folder, path, () => ok(text));

it('says that a file which is no text would be lost', async () => {
  writeFileSync(join(folder, 'photo.bin'), Buffer.alloc(5_120));
  expect(await preview('photo.bin', 'gone\n')).toBe(
    'photo.bin (takes the place of 5,120 bytes that are not text, +1 -0 lines)\n@@ -0,0 +1,1 @@\n+gone',
  );
});

it('keeps blanks at the end of the last line, which may be all that changes', async () => {
  writeFileSync(join(folder, 'a.txt'), 'two\n');
  expect(await preview('a.txt', 'two  \n')).toMatch(/\n-two\n\+two {2}$/);
});

it('names a file on its line, whatever the name holds', async () => {
  const [head, ...rest] = ((await preview('a.txt (new file)\n+hello\nb.txt', 'x\n')) ?? '').split('\n');
  expect([head, rest]).toEqual([
    '"a.txt (new file)⟨U+000A⟩+hello⟨U+000A⟩b.txt" (new file, +1 -0 lines)',
    ['@@ -0,0 +1,1 @@', '+x'],
  ]);
});
