import { chmodSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  everythingOf,
  type Files,
  git,
  testRepository,
  value,
  writeFiles,
} from '../../test/support/workspaces/test-repository.ts';

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
const BASE: Files = { 'a.txt': LINES, 'b.txt': `b ${LINES}`, 'data.bin': Uint8Array.from([0, 1, 2, 3]), 'run.sh': '#!/bin/sh\n' };

/** Tasks that each did something, and their patches. */
async function worked(...tasks: ((path: string) => void)[]) {
  const repository = await testRepository(BASE);
  const { top, workspaces } = repository;
  const patches: { task: string; patch: Uint8Array }[] = [];
  let base = '';
  for (const [number, work] of tasks.entries()) {
    const task = `task-${number}`;
    const { place } = value(await workspaces.prepare({ repo: top, session: 'ses_1', task }));
    base = place.base ?? '';
    work(place.path);
    patches.push({ task, patch: value(await workspaces.capture(place)).patch });
  }
  const before = everythingOf(top);
  const merged = value(await workspaces.merge({ repo: top, base, patches }));
  expect(everythingOf(top)).toBe(before);
  return { ...repository, base, patches, merged };
}

const write = (files: Files) => (path: string) => writeFiles(path, files);

describe('the work of several tasks', () => {
  it('is one patch where it goes together, also within a file', async () => {
    const { merged } = await worked(
      write({ 'a.txt': LINES.replace('one', '1') }),
      write({ 'a.txt': LINES.replace('seven', '7'), 'new.txt': 'new\n' }),
      write({ 'deep/er.txt': 'deep\n' }),
    );
    expect(merged.merged).toEqual(['task-0', 'task-1', 'task-2']);
    expect(merged.left).toEqual([]);
    expect(merged.files.map(({ path }) => path)).toEqual(['a.txt', 'deep/er.txt', 'new.txt']);
  });

  it('of a task that stands against an earlier one is left whole, with both sides, and all patches are still there', async () => {
    const { merged, patches } = await worked(
      write({ 'a.txt': LINES.replace('two', '2') }),
      write({ 'a.txt': LINES.replace('two', 'zwei'), 'mine.txt': 'whole work or none\n' }),
      write({ 'b.txt': 'other\n' }),
    );
    expect(merged.merged).toEqual(['task-0', 'task-2']);
    expect(merged.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    const [left] = merged.left;
    expect(left).toMatchObject({ task: 'task-1', against: ['task-0'] });
    expect(left?.conflicts).toEqual([
      {
        path: 'a.txt',
        kind: 'content',
        says: 'CONFLICT (content): Merge conflict in a.txt',
        sides: [
          { task: 'task-0', mode: '100644', blob: expect.any(String) },
          { task: 'task-1', mode: '100644', blob: expect.any(String) },
        ],
        hunks: [{ line: 2, base: 'two', ours: '2', theirs: 'zwei' }],
      },
    ]);
    expect(patches.every(({ patch }) => patch.length > 0)).toBe(true);
  });

  it.each([
    ['add/add', write({ 'new.txt': 'mine\n' }), write({ 'new.txt': 'yours\n' }), 'new.txt'],
    ['modify/delete', write({ 'a.txt': 'changed\n' }), (path: string) => rmSync(join(path, 'a.txt')), 'a.txt'],
    ['binary', write({ 'data.bin': Uint8Array.from([0, 9]) }), write({ 'data.bin': Uint8Array.from([0, 8]) }), 'data.bin'],
    [
      'rename/rename',
      (path: string) => renameSync(join(path, 'a.txt'), join(path, 'c.txt')),
      (path: string) => renameSync(join(path, 'a.txt'), join(path, 'd.txt')),
      'a.txt',
    ],
    [
      'distinct types',
      (path: string) => {
        rmSync(join(path, 'run.sh'));
        symlinkSync('a.txt', join(path, 'run.sh'));
      },
      write({ 'run.sh': '#!/bin/bash\n' }),
      'run.sh',
    ],
    ['file/directory', write({ thing: 'a file\n' }), write({ 'thing/inner': 'in a folder\n' }), 'thing'],
  ])('a conflict of the kind %s is told by its name', async (kind, mine, yours, path) => {
    const { merged } = await worked(mine, yours);
    expect(merged.merged).toEqual(['task-0']);
    const told = merged.left[0]?.conflicts ?? [];
    expect(told.map((one) => one.kind)).toContain(kind);
    expect(told.some((one) => one.path === path || one.says.includes(path))).toBe(true);
    expect(merged.left[0]?.against).toEqual(['task-0']);
  });

  it('modes and links go together with other changes', async () => {
    const { merged } = await worked(
      (path) => chmodSync(join(path, 'run.sh'), 0o755),
      write({ 'run.sh': '#!/bin/sh\necho\n' }),
      (path) => symlinkSync('a.txt', join(path, 'link')),
    );
    expect(merged.left).toEqual([]);
    expect(Buffer.from(merged.patch).toString()).toContain('new mode 100755');
  });

  it('is resolved at a place that begins with the marks, and what is captured there is all of it', async () => {
    const { top, workspaces, base, merged } = await worked(
      write({ 'a.txt': LINES.replace('two', '2') }),
      write({ 'a.txt': LINES.replace('two', 'zwei'), 'mine.txt': 'mine\n' }),
    );
    const { place } = value(await workspaces.prepare({ repo: top, session: 'ses_1', task: 'resolve', base }));
    const marked = merged.left[0]?.marked ?? new Uint8Array();
    value(await workspaces.lay(place, marked));
    value(await workspaces.lay(place, marked));
    const text = readFileSync(join(place.path, 'a.txt'), 'utf8');
    expect(text).toMatch(/<<<<<<< task-0\n2\n\|{7} \w+\ntwo\n=======\nzwei\n>>>>>>> task-1\n/);
    expect(existsSync(join(place.path, 'mine.txt'))).toBe(true);
    writeFiles(place.path, { 'a.txt': LINES.replace('two', '2, zwei') });
    const resolved = value(await workspaces.capture(place));
    expect(resolved.files.map(({ path }) => path)).toEqual(['a.txt', 'mine.txt']);
    writeFiles(place.path, { 'b.txt': 'other work\n' });
    expect(await workspaces.lay(place, marked)).toMatchObject({ error: { code: 'work_held' } });
  });

  it('lines that look like marks are none', async () => {
    const marks = '<<<<<<< mine\nx\n=======\ny\n>>>>>>> yours\n';
    const { merged } = await worked(write({ 'a.txt': `1\n${marks}` }), write({ 'a.txt': `2\n${marks}` }));
    expect(merged.left[0]?.conflicts[0]?.hunks).toHaveLength(1);
  });

  it('a patch that does not fit its base is an error that names the task', async () => {
    const { top, workspaces, base, patches } = await worked(write({ 'a.txt': 'x\n' }));
    const broken = {
      task: 'broken',
      patch: Buffer.from('diff --git a/../x b/../x\n--- a/../x\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n'),
    };
    const outcome = await workspaces.merge({ repo: top, base, patches: [...patches, broken] });
    expect(outcome).toMatchObject({ error: { code: 'patch_broken', message: expect.stringContaining('broken') } });
    expect(existsSync(join(top, '../x'))).toBe(false);
    expect(git(top, 'status', '--porcelain')).toBe('');
  });
});
