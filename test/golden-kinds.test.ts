/**
 * Sessions of every kind that earlier releases recorded are read as they were written, and come to the same when this one plays
 * them again: without a model, a program or a file. This is where they are counted: a hundred and more, and some of each kind.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type ReplayOutcome, replayRun } from '../src/replay/replay.ts';
import { type SessionKind, sessionKinds } from './support/golden/kinds.ts';
import { ledgersFolder, openedGolden, sessionsIn, unpacked } from './support/golden/packed.ts';

const LEAST = 100;
const PACKED = '.db.gz';

const folder = mkdtempSync(join(tmpdir(), 'troupe-golden-kinds-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ledgers = readdirSync(ledgersFolder).flatMap((release) =>
  readdirSync(join(ledgersFolder, release)).flatMap((file) =>
    file.endsWith(PACKED) ? [{ release, name: file.slice(0, -'.gz'.length) }] : [],
  ),
);
const same = { sessions: 0, kinds: new Set<SessionKind>() };

describe.each(ledgers)('the sessions of $release in $name', ({ release, name }) => {
  it('are as they were written, and come to the same when they are played again', async () => {
    const path = join(folder, `${release}-${name}`);
    const known = unpacked(release, name, path);
    const ledger = openedGolden(path);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    expect(known.length).toBeGreaterThan(0);
    expect(await sessionsIn(ledger)).toEqual(known);
    const before = await ledger.stats();
    const others: { readonly run: string; readonly kinds: readonly SessionKind[]; readonly outcome: ReplayOutcome }[] = [];
    for (const { runs, kinds } of known) {
      for (const run of runs) {
        const outcome = await replayRun(ledger, run);
        if (outcome.kind !== 'identical') others.push({ run, kinds, outcome });
      }
      same.sessions += 1;
      for (const kind of kinds) same.kinds.add(kind);
    }
    expect(others).toEqual([]);
    expect(await ledger.stats()).toEqual(before);
    await ledger.close();
  });
});

it('are a hundred and more, and there are some of every kind', () => {
  expect(same.sessions).toBeGreaterThanOrEqual(LEAST);
  expect(sessionKinds.filter((kind) => !same.kinds.has(kind))).toEqual([]);
});
