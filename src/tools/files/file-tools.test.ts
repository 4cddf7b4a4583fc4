import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createGuard } from '../closed/guard.ts';
import type { ToolOutcome } from '../port.ts';
import { editTool } from './edit.ts';
import { readTool } from './read.ts';
import { writeTool } from './write.ts';

const guard = createGuard();

const read = readTool({ guard });
const write = writeTool({ clock: systemClock, random: systemRandom, guard });
const edit = editTool({ clock: systemClock, random: systemRandom, guard });

function textOf(outcome: ToolOutcome): string {
  if (outcome.kind === 'error') return `error: ${outcome.message}`;
  return outcome.content.map((part) => (part.type === 'text' ? part.text : `<${part.mediaType}>`)).join('\n');
}
const diffOf = (outcome: ToolOutcome) => outcome.evidence?.find((one) => one.type === 'file.diff')?.payload;
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the read tool', () => {
  it('numbers lines and pages on', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a.txt'), 'one\r\ntwo\nthree\n');
    expect(textOf(await read.run({ path: 'a.txt' }, place.context))).toBe('1\tone\n2\ttwo\n3\tthree');
    expect(textOf(await read.run({ path: 'a.txt', offset: 2, limit: 1 }, place.context))).toBe(
      '2\ttwo\n(lines 2 to 2 of 3; go on with offset 3)',
    );
    expect(textOf(await read.run({ path: 'a.txt', offset: 9 }, place.context))).toBe('(the file has only 3 lines)');
  });

  it('shows images and refuses other binary', async () => {
    await using place = await testWorkspace();
    const images = { png: '\x89PNG\r\n\x1a\n', jpeg: '\xff\xd8\xff\xe0', gif: 'GIF89a', webp: 'RIFF\0\0\0\0WEBP' };
    for (const [name, bytes] of Object.entries(images)) {
      await writeFile(join(place.path, name), Buffer.from(`${bytes}\0\0`, 'latin1'));
      expect(textOf(await read.run({ path: name }, place.context))).toBe(`<image/${name}>`);
    }
    await writeFile(join(place.path, 'program'), Buffer.from([127, 69, 76, 70, 0, 1]));
    expect(textOf(await read.run({ path: 'program' }, place.context))).toBe(
      'error: program is a binary file of 6 bytes and cannot be shown.',
    );
  });

  it('says what is wrong with a path', async () => {
    await using place = await testWorkspace();
    await mkdir(join(place.path, 'folder'));
    execFileSync('mkfifo', [join(place.path, 'pipe')]);
    await writeFile(join(place.path, 'huge'), '');
    await truncate(join(place.path, 'huge'), 17 * 1024 * 1024);
    expect(textOf(await read.run({ path: 'none' }, place.context))).toBe('error: none: no such file.');
    expect(textOf(await read.run({ path: 'folder' }, place.context))).toBe('error: folder is a folder; use `list`.');
    expect(textOf(await read.run({ path: 'pipe' }, place.context))).toBe('error: pipe is not a regular file.');
    expect(textOf(await read.run({ path: 'huge' }, place.context))).toContain(
      'more than the limit of 16,777,216 (readFileBytes)',
    );
    expect(textOf(await read.run({ path: '../x' }, place.context))).toContain('outside the workspace');
  });
});

describe('the write tool', () => {
  it('creates folders and files, replaces as a whole, and proves it', async () => {
    await using place = await testWorkspace();
    const created = await write.run({ path: 'a/b/c.txt', content: 'one\ntwo\n' }, place.context);
    expect(textOf(created)).toBe('Created a/b/c.txt (+2 -0 lines, 8 bytes).');
    expect(diffOf(created)).toEqual({
      path: 'a/b/c.txt',
      before: null,
      after: sha('one\ntwo\n'),
      addedLines: 2,
      removedLines: 0,
      diff: '--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n',
    });
    const replaced = await write.run({ path: 'a/b/c.txt', content: 'one\n2\n' }, place.context);
    expect(diffOf(replaced)).toMatchObject({ before: sha('one\ntwo\n'), after: sha('one\n2\n'), addedLines: 1, removedLines: 1 });
    expect(await readFile(join(place.path, 'a/b/c.txt'), 'utf8')).toBe('one\n2\n');
    expect(await readdir(join(place.path, 'a/b'))).toEqual(['c.txt']);
  });

  it('keeps permissions, and refuses folders and links out', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'run.sh'), 'x');
    await chmod(join(place.path, 'run.sh'), 0o755);
    await write.run({ path: 'run.sh', content: 'y' }, place.context);
    expect((await stat(join(place.path, 'run.sh'))).mode & 0o777).toBe(0o755);
    await mkdir(join(place.path, 'folder'));
    expect((await write.run({ path: 'folder', content: '' }, place.context)).kind).toBe('error');
    expect((await write.run({ path: '.', content: '' }, place.context)).kind).toBe('error');
    await symlink('/tmp/troupe-should-not-exist', join(place.path, 'link'));
    expect((await write.run({ path: 'link', content: 'gotcha' }, place.context)).kind).toBe('error');
  });

  it('attaches the whole of a diff that is shown in part', async () => {
    await using place = await testWorkspace();
    const outcome = await write.run({ path: 'big', content: 'a line of text\n'.repeat(5_000) }, place.context);
    const [evidence] = outcome.evidence ?? [];
    expect(diffOf(outcome)?.diff.length).toBeLessThanOrEqual(16 * 1024);
    expect(evidence?.attachment?.split('\n').length).toBeGreaterThan(5_000);
  });
});

describe('the edit tool', () => {
  it('replaces what occurs once', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a.ts'), 'const a = 1;\nconst b = 2;\n');
    const outcome = await edit.run({ path: 'a.ts', old: 'b = 2', new: "b = '$&'" }, place.context);
    expect(textOf(outcome)).toBe('Edited a.ts (1 replacement, +1 -1 lines).');
    expect(diffOf(outcome)?.diff).toBe(
      "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = '$&';\n",
    );
  });

  it('asks for more when the text is not unique, unless all are meant', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a'), 'x\ny\nx\n');
    expect(textOf(await edit.run({ path: 'a', old: 'x', new: 'z' }, place.context))).toContain('occurs 2 times (lines 1, 3)');
    await edit.run({ path: 'a', old: 'x', new: 'z', all: true }, place.context);
    expect(await readFile(join(place.path, 'a'), 'utf8')).toBe('z\ny\nz\n');
  });

  it('names the nearest lines when the text is not there', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a'), 'alpha\n  return total(items);\nomega\n');
    expect(textOf(await edit.run({ path: 'a', old: 'return total(item);', new: '' }, place.context))).toBe(
      'error: a: `old` was not found. The nearest lines are:\n2\t  return total(items);',
    );
  });

  it('keeps CRLF and the byte-order mark', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'a'), '\uFEFFone\r\ntwo\r\nthree\r\n');
    await edit.run({ path: 'a', old: 'one\ntwo', new: 'one\nnew\ntwo' }, place.context);
    expect(await readFile(join(place.path, 'a'), 'utf8')).toBe('\uFEFFone\r\nnew\r\ntwo\r\nthree\r\n');
  });

  it('leaves what is not text alone', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'latin'), Buffer.from([0x61, 0xe9, 0x62]));
    expect(textOf(await edit.run({ path: 'latin', old: 'a', new: 'b' }, place.context))).toContain('not UTF-8');
  });
});
