import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  commitFiles,
  everythingOf,
  git,
  testRepository,
  value,
  workspacesIn,
  writeFiles,
} from '../../../test/support/workspaces/test-repository.ts';
import type { KeptFile, KnownFiles, WorkPlace, Workspaces } from '../port.ts';

const NOTHING: KnownFiles = new Map();
const asked = { session: 'ses_1', task: 'task-1' };

/** A repository with uncommitted changes, and the homes of workers elsewhere that have nothing. */
async function travelling() {
  const repository = await testRepository({ 'a.txt': 'one\n', 'deep/b.txt': 'b\n', 'gone.txt': 'x\n', 'run.sh': '#!\n' });
  const { top } = repository;
  commitFiles(top, { 'a.txt': 'two\n', 'data.bin': Uint8Array.from([0, 255]) }, 'second');
  writeFiles(top, { 'a.txt': 'uncommitted\n', 'deep/new.txt': 'new\n' });
  rmSync(join(top, 'gone.txt'));
  chmodSync(join(top, 'run.sh'), 0o755);
  symlinkSync('a.txt', join(top, 'link'));
  const elsewhere = (name: string) => {
    const home = join(repository.home, name);
    mkdirSync(home);
    return { home, ...workspacesIn(home) };
  };
  return { ...repository, elsewhere };
}

async function placeAt({ receive, prepare }: Workspaces, packed: Parameters<Workspaces['receive']>[0]): Promise<WorkPlace> {
  const repo = value(await receive(packed));
  return value(await prepare({ repo, ...asked, base: packed.base })).place;
}

describe('a repository that travels', () => {
  it('is built where there is nothing, as the files were, and the user’s stay as they are', async () => {
    const { top, workspaces, elsewhere } = await travelling();
    const before = everythingOf(top);
    const packed = value(await workspaces.pack(join(top, 'deep')));
    expect(packed.below).toBe('deep');
    expect(everythingOf(top)).toBe(before);
    const there = elsewhere('there').workspaces;
    const place = await placeAt(there, packed);
    const at = (path: string): string => join(place.path, path);
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('uncommitted\n');
    expect(readFileSync(at('link'), 'utf8')).toBe('uncommitted\n');
    expect(readFileSync(at('data.bin'))).toEqual(Buffer.from([0, 255]));
    expect(existsSync(at('gone.txt'))).toBe(false);
    expect(statSync(at('run.sh')).mode & 0o111).toBe(0o111);
    expect(git(place.path, 'rev-parse', 'HEAD').trim()).toBe(packed.base);
    // What was done there fits here.
    writeFiles(place.path, { 'third.txt': 'x\n' });
    const { patch } = value(await there.capture(place));
    const merged = value(await workspaces.merge({ repo: top, base: packed.base, patches: [{ task: 'task-1', patch }] }));
    expect(Buffer.compare(Buffer.from(merged.patch), Buffer.from(patch))).toBe(0);
  });

  it('is refused when what arrives is not what was named', async () => {
    const { top, workspaces, elsewhere } = await travelling();
    const packed = value(await workspaces.pack(top));
    const { workspaces: worker, home } = elsewhere('worker');
    const broken = [
      { ...packed, head: git(top, 'rev-parse', 'HEAD~1').trim() },
      { ...packed, base: git(top, 'rev-parse', 'HEAD~1').trim() },
      { ...packed, files: packed.files.slice(1) },
      { ...packed, pack: packed.pack.subarray(0, packed.pack.length - 30) },
      { ...packed, pack: Buffer.from('no pack') },
    ];
    for (const one of broken) expect(await worker.receive(one)).toMatchObject({ error: { code: 'pack_broken' } });
    expect(await worker.receive({ ...packed, base: '../../x' })).toMatchObject({ error: { code: 'bad_base' } });
    expect(readdirSync(join(home, 'worktrees/.repositories'))).toEqual([]);
  });
});

describe('what is kept of a place', () => {
  it('grows with what is new, and builds the place elsewhere as it was', async () => {
    const { top, workspaces, elsewhere } = await travelling();
    const packed = value(await workspaces.pack(top));
    const first = elsewhere('first').workspaces;
    const place = await placeAt(first, packed);
    const kept: KeptFile[] = [];
    let known = NOTHING;
    const keep = async (): Promise<string[]> => {
      const point = value(await first.changes(place, known));
      known = point.known;
      kept.push(...point.files);
      return point.files.map(({ path, mode, back }) => `${path} ${back === true ? 'back' : (mode ?? 'gone')}`);
    };
    expect(await keep()).toEqual([]);
    writeFiles(place.path, { 'a.txt': 'worked on\n', 'big.bin': Buffer.alloc(200_000, 7) });
    rmSync(join(place.path, 'deep/b.txt'));
    expect(await keep()).toEqual(['a.txt 100644', 'big.bin 100644', 'deep/b.txt gone']);
    expect(await keep()).toEqual([]);
    writeFiles(place.path, { 'a.txt': 'uncommitted\n', 'run.sh': '#! more\n' });
    symlinkSync('big.bin', join(place.path, 'other'));
    expect(await keep()).toEqual(['other 120000', 'run.sh 100755', 'a.txt back']);

    const last = new Map(kept.map((file) => [file.path, file]));
    const files = [...last.values()].filter(({ back }) => back !== true);
    const second = elsewhere('second').workspaces;
    const there = await placeAt(second, packed);
    expect(value(await second.restore(there, files))).toEqual({ known });
    expect(value(await second.capture(there))).toEqual(value(await first.capture(place)));
  });

  it('is what counts: what was written since and by nobody kept is a patch beside the place', async () => {
    const { top, workspaces, elsewhere } = await travelling();
    const packed = value(await workspaces.pack(top));
    const worker = elsewhere('worker').workspaces;
    const place = await placeAt(worker, packed);
    writeFiles(place.path, { 'a.txt': 'kept\n' });
    const { files } = value(await worker.changes(place, NOTHING));
    writeFiles(place.path, { 'a.txt': 'half of it', 'half/new.txt': 'half' });
    const { dropped = '' } = value(await worker.restore(place, files));
    expect(readFileSync(join(place.path, 'a.txt'), 'utf8')).toBe('kept\n');
    expect(existsSync(join(place.path, 'half'))).toBe(false);
    expect(readFileSync(dropped, 'utf8')).toContain('+half of it');
    expect(value(await worker.restore(place, files)).dropped).toBeUndefined();
  });
});
