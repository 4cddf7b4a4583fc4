import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commitFiles,
  git,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../test/support/workspaces/test-repository.ts';

/** A place with work on it, and the homes of workers elsewhere that have nothing. */
async function travelling() {
  const repository = await testRepository({ 'a.txt': 'one\n', 'deep/b.txt': 'b\n', 'data.bin': Uint8Array.from([0, 255]) });
  commitFiles(repository.top, { 'a.txt': 'two\n' }, 'second');
  const { place } = value(await repository.workspaces.prepare({ repo: repository.top, session: 'ses_1', task: 'task-1' }));
  writeFiles(place.path, { 'a.txt': 'three\n', 'new.bin': Uint8Array.from([0, 1]) });
  symlinkSync('a.txt', join(place.path, 'link'));
  const elsewhere = (name: string) => {
    const home = join(repository.home, name);
    mkdirSync(home);
    return workspacesIn(home).workspaces;
  };
  return { ...repository, place, elsewhere };
}

const asked = { session: 'ses_1', task: 'task-1' };

describe('a place that travels', () => {
  it('is built where there is nothing, worked on, and comes back as a patch that fits here', async () => {
    const { top, place, workspaces, elsewhere } = await travelling();
    const packed = value(await workspaces.pack(place));
    rmSync(place.path, { recursive: true });
    const second = elsewhere('second');
    const there = value(await second.unpack(packed, asked));
    expect(readFileSync(join(there.place.path, 'a.txt'), 'utf8')).toBe('three\n');
    expect(readFileSync(join(there.place.path, 'deep/b.txt'), 'utf8')).toBe('b\n');
    expect(git(there.place.path, 'rev-parse', 'HEAD')).toBe(git(top, 'rev-parse', 'HEAD'));
    expect(value(await second.unpack(packed, asked))).toEqual(there);
    writeFiles(there.place.path, { 'deep/b.txt': 'worked on\n' });

    // Killed there, it goes on at a third place with the files as they were.
    const third = elsewhere('third');
    const on = value(await third.unpack(value(await second.pack(there.place)), asked));
    writeFiles(on.place.path, { 'third.txt': 'x\n' });
    const work = value(await third.capture(on.place));
    expect(work.files.map(({ path }) => path)).toEqual(['a.txt', 'deep/b.txt', 'link', 'new.bin', 'third.txt']);
    const merged = value(
      await workspaces.merge({ repo: top, base: packed.base, patches: [{ task: 'task-1', patch: work.patch }] }),
    );
    expect(Buffer.compare(Buffer.from(merged.patch), Buffer.from(work.patch))).toBe(0);
  });

  it('is refused when what arrives is not what was named', async () => {
    const { top, place, workspaces, elsewhere } = await travelling();
    const packed = value(await workspaces.pack(place));
    const first = git(top, 'rev-parse', 'HEAD~1').trim();
    const worker = elsewhere('worker');
    const broken = [
      { ...packed, base: first },
      { ...packed, pack: packed.pack.subarray(0, packed.pack.length - 30) },
      { ...packed, pack: Buffer.from('no pack') },
    ];
    for (const one of broken) expect(await worker.unpack(one, asked)).toMatchObject({ error: { code: 'pack_broken' } });
    expect(await worker.unpack({ ...packed, base: '../../x' }, asked)).toMatchObject({ error: { code: 'bad_base' } });
    expect(readdirSync(join(top, '../home/worker/worktrees/.repositories'))).toEqual([]);
    expect(existsSync(join(top, '../home/worker/worktrees/ses_1/task-1'))).toBe(false);
  });
});
