import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { resultOf, start } from '../../test/conformance/engine/checks.ts';
import { closedAfterwards } from '../../test/support/kept-worlds.ts';
import { agent, createWorld, reports } from '../../test/support/world.ts';
import { ok } from '../base/result.ts';
import type { Model } from '../models/port.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-take-up-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const kept = closedAfterwards();

it('a run that somebody else drives is not taken up, and whoever tries is told who it is', async () => {
  const path = join(folder, 'ledger.db');
  const answer = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const brain = () => reports('Done.');
  const slow = (id: string): Model => ({
    id,
    account: id,
    async ask() {
      asked.resolve();
      await answer.promise;
      return brain();
    },
  });
  const agents = [agent({})];
  const one = kept(createWorld({ path, agents, brain, engineOptions: { models: { open: async (name) => ok(slow(name)) } } }));
  const handle = await start(one);
  await asked.promise;
  const other = kept(createWorld({ path, agents, brain }));
  expect(await other.engine.resume(handle.run)).toMatchObject({ kind: 'held', owner: { pid: process.pid } });
  answer.resolve();
  expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
  expect(await other.engine.resume(handle.run)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
});
