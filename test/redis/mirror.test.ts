/** The copies in Redis follow the ledger, whatever happens to Redis; and no run waits for it. */
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import type { RunId } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import { userText } from '../../src/events/messages.ts';
import type { Ledger } from '../../src/ledger/port.ts';
import { openSqliteLedger } from '../../src/ledger/sqlite/store.ts';
import { writeTask } from '../../src/projections/tasks/task-json.ts';
import { createLedgerTasks } from '../../src/tasks/ledger-tasks.ts';
import { withTaskMirror } from '../../src/tasks/mirror.ts';
import { parseRedisAddress } from '../../src/tasks/redis/address.ts';
import { createRedisTasks } from '../../src/tasks/redis/redis-tasks.ts';
import { countingLedger, noReads, type Reads } from '../support/ledger/counting-ledger.ts';
import { describeWithRedis } from '../support/redis/redis-program.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';
import { agent, type Brain, calls, createWorld, reports, turnOf, type World } from '../support/world.ts';

/** Each hour takes it four seconds. */
const hasty: Clock = {
  now: systemClock.now,
  elapsed: () => systemClock.elapsed() * 1_000,
  after: (delayMs, callback, hold) => systemClock.after(delayMs / 1_000, callback, hold),
};

function mirroredLedger(ledger: Ledger, server: RedisServer, clock = systemClock, reads: Reads = noReads()): Ledger {
  const store = createRedisTasks(
    { address: parseRedisAddress(server.url, {}), key: 'task:{id}', ttlMs: limits.taskTtlMs },
    systemClock,
  );
  return {
    ...withTaskMirror({ ledger: countingLedger(ledger, reads), store, clock, ttlMs: limits.taskTtlMs }),
    read: ledger.read,
  };
}

const acts: Brain = (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.'));

const worldOn = (server: RedisServer, brain: Brain, more: Partial<Parameters<typeof createWorld>[0]> = {}): World =>
  createWorld({ brain, wrapLedger: (ledger) => mirroredLedger(ledger, server), ...more });

async function begin({ engine }: World, name = 'worker') {
  const started = await engine.start({ agent: name, input: userText('Do it'), workspace: '/w' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  return started.handle;
}

const copyOf = async (server: RedisServer, id: string): Promise<unknown> => await server.ask('GET', `task:${id}`);

async function inLedger({ ledger }: Pick<World, 'ledger'>, id: string): Promise<string> {
  const stored = await createLedgerTasks(ledger).load(id);
  return stored === undefined ? 'none' : writeTask(stored.task);
}

/** Until Redis holds what the ledger says. */
async function caughtUp(server: RedisServer, world: Pick<World, 'ledger'>, id: string): Promise<void> {
  await expect.poll(async () => await copyOf(server, id)).toBe(await inLedger(world, id));
}

describeWithRedis('the mirror of tasks', () => {
  it('follows a run to a question and to its end', async () => {
    await using server = await startRedis();
    const world = worldOn(server, acts, { agents: [agent({ permissions: { act: 'ask' } })] });
    const { run, done } = await begin(world);
    expect((await done).kind).toBe('waiting');
    await caughtUp(server, world, run);
    expect(String(await copyOf(server, run))).toContain('"state":"input-required"');
    const [wait] = await world.engine.waits(run);
    await world.engine.answer(run, wait?.wait ?? '', { kind: 'approved' });
    const resumed = await world.engine.resume(run);
    if (resumed.kind === 'resumed') await resumed.handle.done;
    await caughtUp(server, world, run);
    expect(String(await copyOf(server, run))).toContain('"state":"completed"');
    await world.close();
  });

  it('writes what is left when it is closed', async () => {
    await using server = await startRedis();
    const world = worldOn(server, acts);
    const { run, done } = await begin(world);
    await done;
    const last = await inLedger(world, run);
    await world.close();
    expect(await copyOf(server, run)).toBe(last);
  });

  it('lets a run end while Redis stands still, and catches up', async () => {
    await using server = await startRedis();
    server.freeze();
    const world = worldOn(server, acts);
    const { run, done } = await begin(world);
    expect((await done).kind).toBe('ended');
    server.thaw();
    await caughtUp(server, world, run);
    await world.close();
  });

  it('lets a run end while there is no Redis, and catches up when it comes, goes and comes again', async () => {
    await using server = await startRedis({ later: true });
    const world = worldOn(server, acts);
    const first = await begin(world);
    expect((await first.done).kind).toBe('ended');
    await server.start();
    await caughtUp(server, world, first.run);
    await server.stop();
    const second = await begin(world);
    expect((await second.done).kind).toBe('ended');
    await server.start();
    await caughtUp(server, world, second.run);
    await world.close();
  });

  it('writes what was written before, too, when a Redis comes back that has lost everything', async () => {
    await using server = await startRedis();
    // For this one the minute after which it would look by itself never comes.
    const standing: Clock = { ...systemClock, elapsed: () => 0 };
    const world = createWorld({ brain: acts, wrapLedger: (ledger) => mirroredLedger(ledger, server, standing) });
    const first = await begin(world);
    await first.done;
    await caughtUp(server, world, first.run);
    await server.stop();
    const second = await begin(world);
    await second.done;
    await server.start();
    await caughtUp(server, world, second.run);
    await caughtUp(server, world, first.run);
    await world.close();
  });

  it('finds out after a crash, and after everything was flushed, what is missing', async () => {
    await using server = await startRedis();
    const ledger = openSqliteLedger({ path: ':memory:', clock: systemClock, ids: { nonce: () => 'n' } });
    const dead = createWorld({ brain: acts, ledger });
    const { run, done } = await begin(dead);
    await done;
    expect(await copyOf(server, run)).toBeNull();
    const mirrored = mirroredLedger(ledger, server, hasty);
    await caughtUp(server, dead, run);
    await server.ask('FLUSHALL');
    await caughtUp(server, dead, run);
    await dead.close();
    await mirrored.close();
  });

  it('reads what is new and not the history again', async () => {
    await using server = await startRedis();
    const reads = noReads();
    const turns = 60;
    const brain: Brain = async (request) => {
      const turn = turnOf(request);
      // Not before the mirror has seen the turn: its start, a request for each turn, and the answers before this one.
      await expect.poll(() => reads.events).toBeGreaterThanOrEqual(2 * turn);
      return turn < turns ? calls({ name: 'look', input: { name: `${turn}` }, id: `c${turn}` }) : reports('Done.');
    };
    const world = createWorld({
      brain,
      agents: [agent({ maxTurns: turns + 1 })],
      wrapLedger: (ledger) => mirroredLedger(ledger, server, systemClock, reads),
    });
    const { run, session, done } = await begin(world);
    await done;
    await caughtUp(server, world, run);
    const all = (await world.ledger.read({ session, types: ['model.request', 'model.response', 'run.started', 'run.ended'] }))
      .length;
    expect(reads.questions).toBeGreaterThan(turns / 2);
    // Each event once; the rows of runs that were looked up, and the end that is looked for, are a few more.
    expect(reads.events).toBeLessThan(all + 20);
    await world.close();
  });

  it('keeps a task that ended as it ended when its run goes on', async () => {
    await using server = await startRedis();
    const world = worldOn(server, acts, { agents: [agent({ budget: { calls: 1 } })] });
    const { run, done } = await begin(world);
    await done;
    await caughtUp(server, world, run);
    expect(String(await copyOf(server, run))).toContain('"state":"failed"');
    const resumed = await world.engine.resume(run as RunId, { budget: { calls: 5 } });
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    await resumed.handle.done;
    await caughtUp(server, world, `${run}.2`);
    await caughtUp(server, world, run);
    expect(String(await copyOf(server, run))).toMatch(/"state":"failed".*"reopenedAs":/);
    expect(String(await copyOf(server, `${run}.2`))).toContain('"state":"completed"');
    await world.close();
  });
});
