/**
 * Workers that are replaced while runs are under way: by another build at the same address, by one at another address, and one
 * that was frozen, was taken for dead, and comes back.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePorts } from '../../src/cluster/free-ports.ts';
import type { EngineOptions } from '../../src/engine/options.ts';
import type { RunHandle } from '../../src/engine/port.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { type Workplace, workOn } from '../../src/engine/restate/work.ts';
import { createSlots } from '../../src/engine/spawning/slots.ts';
import { eventsOfAll, repeatedCalls } from '../support/cluster/checks.ts';
import { type ClusterScenario, openTestCluster, type TestCluster } from '../support/cluster/test-cluster.ts';
import { createWorkers } from '../support/cluster/workers.ts';
import { openClusterWorld } from '../support/cluster/world.ts';
import { reflectScenarios } from '../support/patterns/groups-reflect.ts';
import { actor, byAgent } from '../support/patterns/scenarios.ts';
import { calls, reports, says, turnOf } from '../support/world.ts';

const asker = actor('asker', { tools: ['act'], permissions: { act: 'ask' } });
const actsOnce = (request: Parameters<ClusterScenario['brain']>[0]) =>
  turnOf(request) === 1 ? calls({ name: 'act' }) : reports(`Done by ${request.agent}.`);
const held = Promise.withResolvers<void>();
let asked = 0;

/** Its loop rests for some seconds after a failure: a timer. */
const backsOff = reflectScenarios.find(({ name }) => name === 'a plan that fails is tried again in the same iteration');
if (backsOff === undefined) throw new Error('there is no scenario that backs off');

const ASKS = 0;
const ASKS_BELOW = 1;
const BACKS_OFF = 2;
const HANGS = 3;
const scenes: readonly ClusterScenario[] = [
  { agents: [asker], prompt: 'Do it.', brain: actsOnce },
  {
    agents: [actor('boss', { agents: ['asker'] }), asker],
    prompt: 'Have it done.',
    brain: byAgent({
      asker: actsOnce,
      boss: (request, turn) =>
        turn === 1
          ? calls({ name: 'asker', input: { prompt: 'Do it.', reason: 'I cannot' } })
          : says(JSON.stringify(request.messages.at(-1)).includes('Done by asker.') ? 'Had it done.' : 'Nothing came.'),
    }),
  },
  backsOff,
  {
    agents: [actor('slow')],
    prompt: 'Think.',
    brain: async () => {
      asked += 1;
      if (asked > 1) return says('The answer to whoever took over.');
      await held.promise;
      return says('The answer to the frozen one.');
    },
  },
];

let cluster: TestCluster;
const folders: string[] = [];
beforeAll(async () => {
  cluster = await openTestCluster(scenes, { plan: { drainMs: 200 } });
});
afterEach(() => cluster.workers.stop());
afterAll(async () => {
  await cluster.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The same sources in another place, with another version. */
function anotherBuild(): string {
  const root = join(import.meta.dirname, '..', '..');
  const folder = mkdtempSync(join(tmpdir(), 'troupe-build-'));
  folders.push(folder);
  for (const part of ['src', 'test/support']) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const about = readFileSync(join(root, 'package.json'), 'utf8');
  writeFileSync(join(folder, 'package.json'), about.replace(/"version": "[^"]*"/, '"version": "999.0.0"'));
  return join(folder, 'test', 'support', 'cluster', 'worker-main.ts');
}

async function approve(handle: RunHandle): Promise<void> {
  for (const { run, wait } of await cluster.client.engine.waits(handle.run))
    await cluster.client.engine.answer(run, wait, { kind: 'approved' });
}

async function resultOf(handle: RunHandle): Promise<string> {
  const resumed = await cluster.client.engine.resume(handle.run);
  const end = 'handle' in resumed ? await resumed.handle.done : resumed;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  return `${end.result.status}: ${end.result.report.body}`;
}

async function stepsOf({ session }: RunHandle): Promise<(string | null)[]> {
  return (await readAll(cluster.client.ledger, session, { types: ['step.recorded'] })).map(({ step }) => step);
}

/** What Restate still has to do for a run. */
async function invocationsOf(run: string): Promise<unknown[]> {
  const query = `SELECT target, status, retry_count, last_failure FROM sys_invocation
    WHERE status <> 'completed' AND target_service_key = '${run}'`;
  const response = await fetch(`${cluster.nodes[0]?.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows;
}

const askersOf = (run: string): string[] => cluster.model.asked.flatMap(({ key, by }) => (key.startsWith(`${run}/`) ? [by] : []));

describe('replacing workers', () => {
  it('runs that wait finish on another build at the same address', async () => {
    const old = await cluster.workers.start('build A');
    await cluster.register();
    const handles = await Promise.all([11, 12, 13].flatMap((n) => [cluster.start(ASKS, n), cluster.start(ASKS_BELOW, n + 10)]));
    for (const handle of handles) expect(await handle.done).toMatchObject({ kind: 'waiting' });
    const resting = await cluster.start(BACKS_OFF, 41);
    await expect.poll(() => stepsOf(resting)).toContain('iteration/1/back-off');
    old.kill('SIGTERM');
    expect(await old.ended).toBe(0);

    const newer = createWorkers(cluster.plan, anotherBuild());
    await newer.start('build B');
    await cluster.register();
    await Promise.all(handles.map(approve));
    const results = await Promise.all(handles.map(resultOf));
    expect(await resultOf(resting)).toBe('completed: Built.');
    const again = (await stepsOf(resting)).filter((step) => step === 'iteration/1/back-off');
    expect(again).toHaveLength(1);
    expect(new Set(results)).toEqual(new Set(['completed: Done by asker.', 'completed: Had it done.']));
    await newer.stop();
    const events = await eventsOfAll(
      cluster.client.ledger,
      [...handles, resting].map(({ session }) => session),
    );
    expect(repeatedCalls(cluster.model, events)).toEqual({ afterwards: [], inFlight: 0 });
    expect(new Set(cluster.model.asked.map(({ by }) => by))).toEqual(new Set(['build A', 'build B']));
  });

  it('at another address new runs go to the new workers, and old ones end where they began', async () => {
    const [port = 0] = await freePorts([0]);
    await cluster.workers.start('old');
    await cluster.register();
    const before = await cluster.start(ASKS, 31);
    await before.done;
    await cluster.workers.start('new', { port });
    await cluster.register(port);
    const after = await cluster.start(ASKS, 32);
    await after.done;
    await Promise.all([before, after].map(approve));
    expect(await Promise.all([before, after].map(resultOf))).toEqual(Array(2).fill('completed: Done by asker.'));
    expect(askersOf(before.run)).toEqual(['old', 'old']);
    expect(askersOf(after.run)).toEqual(['new', 'new']);
    await cluster.register();
  });
});

describe('a worker that is frozen and taken for dead', () => {
  it('cannot write when it comes back, and the run ends once', async () => {
    const zombie = await cluster.workers.start('zombie');
    await cluster.register();
    const handle = await cluster.start(HANGS, 51);
    await expect.poll(() => askersOf(handle.run)).toEqual(['zombie']);
    zombie.kill('SIGSTOP');

    let engineOptions: EngineOptions | undefined;
    const other = await openClusterWorld({ ...cluster.plan, by: 'other' }, (made) => {
      engineOptions = made;
      return cluster.client.engine;
    });
    if (engineOptions === undefined) throw new Error('no engineOptions were made');
    const place: Workplace = {
      ...{ engineOptions, slots: createSlots(1), stopping: new AbortController().signal },
      start: async () => undefined,
      poke: async () => undefined,
    };
    expect(await workOn(place, handle.session, handle.run)).toEqual({ kind: 'ended', parent: null });
    const { length } = await readAll(cluster.client.ledger, handle.session);
    expect(await handle.done).toMatchObject({ result: { report: { body: 'The answer to whoever took over.' } } });

    held.resolve();
    zombie.kill('SIGCONT');
    await expect.poll(() => cluster.model.asked.find(({ by }) => by === 'zombie')?.answered).toBe(true);
    await expect.poll(() => invocationsOf(handle.run)).toEqual([]);
    const events = await readAll(cluster.client.ledger, handle.session);
    expect(events).toHaveLength(length);
    expect(events.filter((event) => event.event_type === 'run.resumed').map(({ payload }) => payload)).toMatchObject([
      { owner: 'other', takenOver: true },
    ]);
    expect(events.filter(({ event_type }) => event_type === 'run.ended')).toHaveLength(1);
    expect(await cluster.client.ledger.verify()).toMatchObject({ kind: 'sound' });
    await other.ledger.close();
  });
});
