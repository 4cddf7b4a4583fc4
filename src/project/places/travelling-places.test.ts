import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, testRepository, value, workspacesIn, writeFiles } from '../../../test/support/workspaces/test-repository.ts';
import type { SessionId } from '../../base/ids.ts';
import type { KeptPoint, OpenPlace, WantedTravel } from '../../engine/options.ts';
import { createTravellingPlaces } from './travelling-places.ts';

/** A run that has brought its repository along, and workers that have nothing of it. */
async function travelling(inSight = false) {
  const repository = await testRepository({ 'src/a.txt': 'one\n', 'b.txt': 'b\n' });
  writeFiles(repository.top, { 'src/draft.txt': 'draft\n' });
  const packed = value(await createTravellingPlaces(repository.options).pack(join(repository.top, 'src')));
  if (!inSight) renameSync(repository.top, `${repository.top}-hidden`);
  const points: KeptPoint[] = [];
  const patches = new Map<string, Uint8Array>();
  const wanted: WantedTravel = {
    ...{ session: 'ses_1' as SessionId, task: 'task-1', from: packed.repository, commit: packed.repository.base },
    contents: async () => packed,
    patchTo: async (commit) => patches.get(commit),
    kept: async () => [...points],
  };
  const worker = (name: string) => {
    const home = join(repository.home, name);
    mkdirSync(home, { recursive: true });
    return { home, ...workspacesIn(home), ...createTravellingPlaces(workspacesIn(home).options) };
  };
  /** As the engine does: what was kept is in the ledger. */
  const keep = async (place: OpenPlace): Promise<readonly string[]> => {
    const point = value(await place.changes());
    if (point !== undefined) points.push(point);
    return (point?.files ?? []).map(({ path }) => path);
  };
  return { repository, packed, wanted, points, patches, worker, keep };
}

const read = ({ path }: OpenPlace, file: string): string => readFileSync(join(path, file), 'utf8');

describe('a place that is worked on by whoever is free', () => {
  it('is built as it was kept last, wherever that is', async () => {
    const { wanted, worker, keep } = await travelling();
    const first = value(await worker('first').open(wanted));
    expect(read(first, 'draft.txt')).toBe('draft\n');
    writeFiles(first.path, { 'a.txt': 'kept\n' });
    expect(await keep(first)).toEqual(['src/a.txt']);
    writeFiles(first.path, { 'a.txt': 'half' });
    const second = value(await worker('second').open(wanted));
    expect(read(second, 'a.txt')).toBe('kept\n');
    writeFiles(second.path, { 'new.txt': 'by the second\n' });
    expect(await keep(second)).toEqual(['src/new.txt']);
    // A worker that comes back to a place that others have worked on since has theirs, not its own.
    const again = value(await worker('first').open(wanted));
    expect([read(again, 'a.txt'), read(again, 'new.txt')]).toEqual(['kept\n', 'by the second\n']);
  });

  it('is left alone by the process that built it, as long as nobody else has worked there', async () => {
    const { wanted, worker, keep, points } = await travelling();
    const { open } = worker('one');
    const first = value(await open(wanted));
    writeFiles(first.path, { 'a.txt': 'kept\n' });
    await keep(first);
    first.close();
    // Whoever waits for an answer there may go on writing.
    writeFiles(first.path, { 'a.txt': 'meanwhile\n' });
    const second = value(await open(wanted));
    expect(read(second, 'a.txt')).toBe('meanwhile\n');
    // Somebody is at work in it: it is not put back below them.
    points.push({ by: 'another', point: 1, files: [{ path: 'b.txt', mode: '100644', content: Buffer.from('theirs\n') }] });
    expect(read(value(await open(wanted)), 'a.txt')).toBe('meanwhile\n');
  });

  it('is put back when what it kept did not come to the ledger', async () => {
    const { wanted, worker } = await travelling();
    const { open } = worker('one');
    const first = value(await open(wanted));
    writeFiles(first.path, { 'a.txt': 'lost with the lease\n' });
    value(await first.changes());
    first.close();
    expect(read(value(await open(wanted)), 'a.txt')).toBe('one\n');
  });

  it('begins at accepted work that was put together elsewhere', async () => {
    const { wanted, worker, keep, packed, patches } = await travelling();
    const first = worker('first');
    const place = value(await first.open(wanted));
    writeFiles(place.path, { 'a.txt': 'accepted\n' });
    await keep(place);
    const repo = value(await first.repository(wanted));
    const { base } = packed.repository;
    const { patch } = value(await first.workspaces.capture({ kind: 'worktree', path: place.path, base, repo }));
    const { commit } = value(await first.workspaces.advance({ repo, from: base, base, patch }));
    const next = { ...wanted, task: 'task-2', commit, kept: async () => [] };
    const { open } = worker('second');
    expect(await open(next)).toMatchObject({ error: { code: 'bad_base' } });
    patches.set(commit, patch);
    expect(read(value(await open(next)), 'a.txt')).toBe('accepted\n');
  });

  it('uses a clone that is at hand, and shows the folder itself to whoever only looks', async () => {
    const { repository, wanted, worker } = await travelling(true);
    const { home, open, folder } = worker('near');
    const place = value(await open(wanted));
    expect(place.repo).toBe(repository.top);
    expect(git(repository.top, 'worktree', 'list')).toContain('task-1');
    const src = join(repository.top, 'src');
    expect(value(await folder({ ...wanted, folder: src }))).toBe(src);
    rmSync(repository.top, { recursive: true });
    const shown = value(await folder({ ...wanted, folder: src }));
    expect(shown.startsWith(home)).toBe(true);
    expect(readdirSync(shown).toSorted()).toEqual(['a.txt', 'draft.txt']);
  });
});
