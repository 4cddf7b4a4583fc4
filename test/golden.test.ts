/** Ledgers of every release load, verify and resume in this one (invariant I9). */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAll } from '../src/engine/record/read-all.ts';
import { trajectoryFile } from '../src/front/trajectory/trajectory-file.ts';
import { replayRun } from '../src/replay/replay.ts';
import { goldenAgents, goldenBrain, goldenRuns } from './support/golden.ts';
import { trajectoryIn } from './support/trajectories.ts';
import { createWorld } from './support/world.ts';

const fixtures = join(import.meta.dirname, 'fixtures/ledgers');
const folder = mkdtempSync(join(tmpdir(), 'troupe-golden-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const releases = readdirSync(fixtures);

it('there is a golden ledger', () => {
  expect(releases.length).toBeGreaterThan(0);
});

function opened(release: string, copy: string) {
  const path = join(folder, `${release}-${copy}`, 'ledger.db');
  cpSync(join(fixtures, release), join(folder, `${release}-${copy}`), { recursive: true });
  return createWorld({ path, agents: goldenAgents, brain: goldenBrain });
}

describe.each(releases)('the ledger of %s', (release) => {
  it('verifies and reads as it was written', async () => {
    const world = opened(release, 'read');
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound', sessions: goldenRuns.length });
    const rows = (await world.ledger.runs({ roots: true })).toReversed();
    const sessions = await Promise.all(rows.map((row) => readAll(world.ledger, row.session)));
    expect(JSON.parse(JSON.stringify(sessions))).toEqual(
      JSON.parse(readFileSync(join(fixtures, release, 'events.json'), 'utf8')),
    );
    for (const { session } of rows) {
      let trajectory = '';
      for await (const piece of trajectoryFile(world.ledger, { session, version: release })) trajectory += piece;
      expect(trajectoryIn(trajectory)).toMatchObject({ session_id: session });
    }
    await world.close();
  });

  it.each(goldenRuns)('goes on with $run', async ({ run, left, says }) => {
    const world = opened(release, run);
    for (const wait of await world.engine.waits(run)) await world.engine.answer(wait.run, wait.wait, { kind: 'approved' });
    const resumed = await world.engine.resume(run);
    if (left === 'ended') expect(resumed).toMatchObject({ kind: 'ended', result: { report: { body: says } } });
    else {
      if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
      expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body: says } } });
    }
    // Whether the effect had happened is not known: it is not done again.
    if (left === 'interrupted') expect(world.outside.effects.filter((effect) => effect.startsWith('act'))).toEqual([]);
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    // What an earlier release began and this one has ended comes to the same when it is played again.
    expect(await replayRun(world.ledger, run)).toMatchObject({ kind: 'identical' });
    await world.close();
  });
});
