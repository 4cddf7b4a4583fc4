/**
 * A worker with many runs under way is frozen and taken for dead, while the project's budget is nearly out. Another one takes its
 * runs over; then it comes back with answers in its hands. It can write nothing (M2), nothing is done twice, and nothing is
 * spent beyond the limit or settled twice.
 */
import { expect, it } from 'vitest';
import type { EngineOptions } from '../../src/engine/options.ts';
import type { RunHandle } from '../../src/engine/port.ts';
import { type Workplace, workOn } from '../../src/engine/restate/work.ts';
import { createSlots } from '../../src/engine/spawning/slots.ts';
import { checkEffects, checkProjectBudget, eventsOfAll } from '../support/cluster/checks.ts';
import { type ClusterScenario, openTestCluster, type TestCluster } from '../support/cluster/test-cluster.ts';
import { openClusterWorld } from '../support/cluster/world.ts';
import { actor } from '../support/patterns/scenarios.ts';
import { calls, reports, turnOf } from '../support/world.ts';

const RUNS = 6;
/** One call of the zombie for each run, and two of whoever takes it over: enough for four of them and a half. */
const MOST_CALLS = RUNS + 2 * 4 + 1;

const released = Promise.withResolvers<void>();
const known = new Set<string>();
const scene: ClusterScenario = {
  agents: [actor('doer', { tools: ['act'] })],
  prompt: 'Do it.',
  brain: async (request) => {
    const isFirst = turnOf(request) === 1 && !known.has(request.idempotencyKey);
    known.add(request.idempotencyKey);
    if (isFirst) await released.promise;
    return turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.');
  },
};

async function pendingInvocations(cluster: TestCluster): Promise<unknown[]> {
  const query = "SELECT target, status FROM sys_invocation WHERE status <> 'completed'";
  const response = await fetch(`${cluster.nodes[0]?.admin}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows;
}

/** Works on the runs one after the other, as a worker does that they were assigned to. */
async function takeOver(cluster: TestCluster, handles: readonly RunHandle[]): Promise<void> {
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
  for (const { session, run } of handles) expect(await workOn(place, session, run)).toEqual({ kind: 'ended', parent: null });
  await other.ledger.close();
}

it('workers that come back write nothing, with a budget at its limit', async () => {
  const cluster = await openTestCluster([scene], { plan: { drainMs: 200, projectBudget: { calls: MOST_CALLS } } });
  try {
    const zombie = await cluster.workers.start('zombie');
    await cluster.register();
    const handles = await Promise.all(Array.from({ length: RUNS }, (_, number) => cluster.start(0, number + 1)));
    await expect.poll(() => cluster.model.asked.length).toBe(RUNS);
    zombie.kill('SIGSTOP');

    await takeOver(cluster, handles);
    const ends = await Promise.all(handles.map(({ done }) => done));
    const statuses = ends.map((end) => (end.kind === 'ended' ? end.result.status : end.kind));
    expect(statuses).toEqual([...Array(4).fill('completed'), 'budget_exhausted', 'budget_exhausted']);
    const sessions = handles.map(({ session }) => session);
    const before = await eventsOfAll(cluster.client.ledger, sessions);

    released.resolve();
    zombie.kill('SIGCONT');
    await expect.poll(() => cluster.model.asked.filter(({ by, answered }) => by === 'zombie' && answered).length).toBe(RUNS);
    await expect.poll(() => pendingInvocations(cluster)).toEqual([]);
    expect(zombie.alive()).toBe(true);

    const events = await eventsOfAll(cluster.client.ledger, sessions);
    expect(events.length, 'somebody who had lost the lease has written').toBe(before.length);
    expect(events.filter(({ event_type }) => event_type === 'run.ended')).toHaveLength(RUNS);
    checkEffects(cluster.model);
    expect(cluster.model.effects).toHaveLength(5);
    expect(await checkProjectBudget(cluster.client.ledger, events, MOST_CALLS)).toBe(MOST_CALLS);
    expect(await cluster.client.ledger.verify()).toMatchObject({ kind: 'sound' });
  } finally {
    await cluster.close();
  }
});
