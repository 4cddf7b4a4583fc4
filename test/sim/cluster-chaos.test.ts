/**
 * A cluster under attack, with runs of every pattern under way: workers are killed one after the other, Postgres is restarted, a
 * Restate server of three is killed. Every run ends as it should; what was recorded is not asked again; budgets hold.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { RunEnd, RunHandle } from '../../src/engine/port.ts';
import { checkEffects, checkProjectBudget, eventsOfAll, outcomesTwice, repeatedCalls } from '../support/cluster/checks.ts';
import { openTestCluster, type TestCluster } from '../support/cluster/test-cluster.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { checkExpected } from '../support/patterns/invariants.ts';
import { actor, type Scenario } from '../support/patterns/scenarios.ts';
import { scenarios } from '../support/patterns/table.ts';
import { calls, reports, says, turnOf } from '../support/world.ts';

const RUNS = Number(process.env['TROUPE_CHAOS_RUNS'] ?? 100);
const MOST_KILLS = 10;
const CALLS_PER_KILL = 40;
const MOST_CALLS = 5_000;
const TREE_CALLS = 60;

const plain: Scenario = {
  name: 'plain',
  pattern: 'sub-agents',
  agents: [actor('speaker')],
  prompt: 'Hello?',
  brain: () => says('Hello.'),
  expect: { body: 'Hello.', finalAgent: 'speaker' },
};
const withTools: Scenario = {
  name: 'tools',
  pattern: 'sub-agents',
  agents: [actor('doer', { tools: ['look', 'act'] })],
  prompt: 'Do it.',
  brain: (request) => (turnOf(request) < 4 ? calls({ name: 'look' }, { name: 'act' }) : reports('Done.')),
  expect: { body: 'Done.', finalAgent: 'doer' },
};
const INSIDE: ReadonlySet<string> = new Set(['remote agents', 'executors']);
/** One of each pattern, or two: those that are cut at every append elsewhere. Nobody is here to answer a question. */
const scenes: readonly Scenario[] = [
  plain,
  withTools,
  ...scenarios.filter(
    ({ everyCut, clock, afterwards, answer, pattern }) =>
      // What agents elsewhere have taken, and sessions of executors, are memory of one process, and here the processes die.
      everyCut === true && !INSIDE.has(pattern) && clock === undefined && afterwards === undefined && answer === undefined,
  ),
];

interface Started {
  readonly handles: readonly RunHandle[];
  readonly ends: Promise<readonly RunEnd[]>;
  ended(): number;
}

async function startRuns(cluster: TestCluster, count: number): Promise<Started> {
  let ended = 0;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const start = (number: number) => cluster.start(number % scenes.length, number, { calls: TREE_CALLS });
  const handles = await Promise.all(numbers.map(start));
  const ends = Promise.all(
    handles.map(async ({ done }) => {
      const end = await done;
      ended += 1;
      return end;
    }),
  );
  return { handles, ends, ended: () => ended };
}

/** Kills a worker after every so many calls and puts another in its place, as long as one is left that works. */
async function killWorkers({ workers, model }: TestCluster, going: () => boolean): Promise<number> {
  let kills = 0;
  const replacements: Promise<unknown>[] = [];
  while (going() && kills < MOST_KILLS) {
    const enough = model.asked.length + CALLS_PER_KILL;
    while (going() && model.asked.length < enough) await delay(10);
    const [first, second] = workers.all();
    if (second === undefined || !going()) continue;
    first?.kill('SIGKILL');
    kills += 1;
    replacements.push(workers.start(`worker ${3 + kills}`));
  }
  await Promise.all(replacements);
  return kills;
}

function checkEnds(ends: readonly RunEnd[]): void {
  ends.forEach((end, number) => {
    const scene = scenes[number % scenes.length] ?? plain;
    if (end.kind !== 'ended') throw new Error(`run ${number}, ${scene.name}: ${JSON.stringify(end)}`);
    checkExpected({ result: end.result }, scene, `run ${number}, ${scene.name}`);
  });
}

/** What holds whatever was done to the cluster; the text says what happened. */
async function checkAll({ client, model }: TestCluster, { handles, ends }: Started): Promise<string> {
  checkEnds(await ends);
  const sessions = handles.map(({ session }) => session);
  const events = await eventsOfAll(client.ledger, sessions);
  const { afterwards, inFlight } = repeatedCalls(model, events);
  expect(afterwards, 'asked again although the answer was recorded').toEqual([]);
  expect(outcomesTwice(events), 'written by somebody who had lost the lease').toEqual([]);
  checkEffects(model);
  expect(await client.ledger.verify()).toMatchObject({ kind: 'sound' });
  const spent = await checkProjectBudget(client.ledger, events, MOST_CALLS);
  const open = events.filter(({ event_type }) => event_type === 'run.started').length;
  expect(events.filter(({ event_type }) => event_type === 'run.ended')).toHaveLength(open);
  const taken = events.filter((event) => event.event_type === 'run.resumed' && event.payload.takenOver).length;
  const calls = `${model.asked.length} model calls (${inFlight} cut off and made again)`;
  return `${open} runs in ${sessions.length} trees, ${taken} taken over, ${calls}, ${spent} in the budget`;
}

const clusterOptions = { delayMs: () => 20 + 30 * Math.random(), plan: { projectBudget: { calls: MOST_CALLS } } };

describe('a cluster under attack', () => {
  it('workers killed one after the other, then Postgres restarted', { timeout: LONG_TEST_MS }, async () => {
    const cluster = await openTestCluster(scenes, clusterOptions);
    try {
      await Promise.all([1, 2, 3].map((number) => cluster.workers.start(`worker ${number}`)));
      await cluster.register();
      const begun = Date.now();
      let halfway = false;
      const killing = killWorkers(cluster, () => !halfway);
      const runs = await startRuns(cluster, RUNS);
      while (runs.ended() < RUNS / 2) await delay(50);
      // Whoever starts while there is no database cannot start: those that are on their way get there first.
      halfway = true;
      const kills = await killing;
      await cluster.postgres.restart(500);
      const said = await checkAll(cluster, runs);
      expect(kills).toBeGreaterThan(1);
      process.stderr.write(`chaos: ${kills} workers killed, ${said}, ${Date.now() - begun} ms\n`);
    } finally {
      await cluster.close();
    }
  });

  it('a Restate server of three killed', { timeout: LONG_TEST_MS }, async () => {
    const cluster = await openTestCluster(scenes, { ...clusterOptions, nodes: 3 });
    try {
      await Promise.all([1, 2].map((number) => cluster.workers.start(`worker ${number}`)));
      await cluster.register();
      const begun = Date.now();
      const runs = await startRuns(cluster, Math.ceil(RUNS / 5));
      while (runs.ended() < RUNS / 20) await delay(20);
      cluster.nodes[1]?.kill('SIGKILL');
      const said = await checkAll(cluster, runs);
      process.stderr.write(`chaos: one Restate server of three killed, ${said}, ${Date.now() - begun} ms\n`);
    } finally {
      await cluster.close();
    }
  });
});
