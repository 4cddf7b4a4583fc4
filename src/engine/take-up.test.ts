import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { answered, question, resultOf, start, typesIn } from '../../test/conformance/engine/checks.ts';
import { closedAfterwards } from '../../test/support/kept-worlds.ts';
import { testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { agent, calls, createWorld, reports, turnOf, type World } from '../../test/support/world.ts';
import { limits } from '../base/limits.ts';
import { ok } from '../base/result.ts';
import type { EventType } from '../events/catalogue.ts';
import type { Ledger } from '../ledger/port.ts';
import type { Model, ModelOutcome, ModelRequest } from '../models/port.ts';
import type { RunHandle } from './port.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-take-up-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const kept = closedAfterwards();

/** Just before the first lease is asked for, somebody else does something. */
const overtakenBy =
  (act: () => Promise<unknown>) =>
  (inner: Ledger): Ledger => {
    let acted: Promise<unknown> | undefined;
    return {
      ...inner,
      async acquire(...given) {
        acted ??= act();
        await acted;
        return await inner.acquire(...given);
      },
    };
  };

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
  let told = 0;
  const wrapLedger = toldHeld(() => {
    told += 1;
  });
  const other = kept(createWorld({ path, agents, brain, wrapLedger }));
  expect(await other.engine.resume(handle.run)).toMatchObject({ kind: 'held', owner: { pid: process.pid } });
  // It is at work: nobody waits for it to stand still.
  expect(told).toBe(1);
  answer.resolve();
  expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
  expect(await other.engine.resume(handle.run)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
});

it('a run that another ends while it is being taken up stays ended, and nothing is written behind its end', async () => {
  const path = join(folder, 'ended.db');
  const setup = {
    path,
    agents: [agent({ tools: ['ask'] })],
    tools: [question],
    brain: (request: ModelRequest) =>
      turnOf(request) === 1 ? calls({ name: 'ask', input: { question: 'Which?' } }) : reports('Done.'),
  };
  const first = kept(createWorld(setup));
  const handle = await start(first);
  const answers = (): Promise<unknown> => answered(first, handle, { kind: 'text', text: 'This one.' });
  const late = kept(createWorld({ ...setup, wrapLedger: overtakenBy(answers) }));
  await handle.done;
  expect(await late.engine.resume(handle.run)).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  expect((await typesIn(first, handle)).at(-1)).toBe('run.ended');
  // It was given back.
  expect(await late.engine.resume(handle.run)).toMatchObject({ kind: 'ended' });
});

it.each(['before its end', 'after its end'] as const)(
  'two start the same run, the later one %s: it begins once',
  async (when) => {
    const path = join(folder, `${when.replaceAll(' ', '-')}.db`);
    let asked = 0;
    const setup = {
      path,
      agents: [agent({ tools: ['ask'] })],
      tools: [question],
      brain: (request: ModelRequest) => {
        asked += 1;
        return when === 'before its end' && turnOf(request) === 1
          ? calls({ name: 'ask', input: { question: 'Which?' } })
          : reports('Done.');
      },
    };
    const first = kept(createWorld(setup));
    const request = { session: testIds.session(), run: testIds.run() };
    let isFirst = true;
    const late = kept(
      createWorld({
        ...setup,
        wrapLedger: (inner) => ({
          ...inner,
          async acquire(...given) {
            if (isFirst) {
              isFirst = false;
              await (await start(first, request)).done;
            }
            return await inner.acquire(...given);
          },
        }),
      }),
    );
    const handle = await start(late, request);
    expect((await handle.done).kind).toBe(when === 'before its end' ? 'waiting' : 'ended');
    const types = await typesIn(first, handle);
    expect(types.filter((type) => type === 'run.started')).toHaveLength(1);
    expect(asked).toBe(1);
    // It was given back.
    expect((await first.ledger.runs({ run: request.run }))[0]?.owner).toBeNull();
  },
);

/** Gives leases back only when it is let. */
const slowToLeave =
  (may: Promise<void>) =>
  (inner: Ledger): Ledger => ({
    ...inner,
    async release(fence) {
      await may;
      await inner.release(fence);
    },
  });

/** Says when it was told that somebody has the lease. */
const toldHeld =
  (told: () => void) =>
  (inner: Ledger): Ledger => ({
    ...inner,
    async acquire(...given) {
      const lease = await inner.acquire(...given);
      if (lease.kind !== 'acquired') told();
      return lease;
    },
  });

it.each(['parked', 'paused'] as const)('a run that is %s goes on as soon as whoever left it is gone', async (how) => {
  const path = join(folder, `${how}.db`);
  const left = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const agents = [agent({ maxRetries: 0 })];
  const first = kept(
    createWorld({
      path,
      agents,
      wrapLedger: slowToLeave(left.promise),
      brain: async () => {
        asked.resolve();
        await told.promise;
        if (how === 'paused') return calls({ name: 'act', input: { name: 'once' } });
        return { kind: 'failed', error: { kind: 'auth', message: 'no key' } };
      },
    }),
  );
  const handle = await start(first);
  await asked.promise;
  if (how === 'paused') await first.engine.pause(handle.run, 'Lunch.');
  told.resolve();
  await expect.poll(async () => (await first.ledger.runs({ run: handle.run }))[0]?.state).toBe(how);
  const second = kept(createWorld({ path, agents, wrapLedger: toldHeld(left.resolve), brain: () => reports('Done.') }));
  const resumed = await second.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
  // Only who was told to wait lets the other go.
  await left.promise;
});

it('a run that another parks while it is being taken up goes on all the same', async () => {
  const path = join(folder, 'parked-meanwhile.db');
  const asked = Promise.withResolvers<void>();
  const fails = Promise.withResolvers<void>();
  const agents = [agent({ maxRetries: 0 })];
  const first = kept(
    createWorld({
      path,
      agents,
      brain: async () => {
        asked.resolve();
        await fails.promise;
        return { kind: 'failed', error: { kind: 'auth', message: 'no key' } };
      },
    }),
  );
  const handle = await start(first);
  await asked.promise;
  const parks = (): Promise<unknown> => {
    fails.resolve();
    return handle.done;
  };
  const late = kept(createWorld({ path, agents, brain: () => reports('Done.'), wrapLedger: overtakenBy(parks) }));
  const resumed = await late.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
  expect((await typesIn(late, handle)).filter((type) => type.startsWith('run.'))).toEqual([
    ...['run.started', 'run.parked', 'run.reopened', 'run.resumed', 'run.ended'],
  ]);
});

/** A worker that is assigned a run late takes its lease so many times just before this is written, looks, and leaves it. */
function wokenLate(type: EventType, times: number, { ledger }: World, { session, run }: RunHandle) {
  let count = 0;
  const wrapLedger = (inner: Ledger): Ledger => ({
    ...inner,
    async append(request) {
      if (request.events.some((event) => event.type === type) && count < times) {
        count += 1;
        const lease = await ledger.acquire(session, run, { assigned: true });
        if (lease.kind === 'acquired') await ledger.release(lease.fence);
      }
      return await inner.append(request);
    },
  });
  return { wrapLedger, count: () => count };
}

it.each([
  [1, 'resumed'],
  [limits.overtakenTries, 'refused'],
] as const)('a worker that was woken late takes the lease %i times before a run is reopened: %s', async (times, kind) => {
  const path = join(folder, `late-${kind}.db`);
  const agents = [agent({ maxRetries: 0 })];
  const noKey = (): ModelOutcome => ({ kind: 'failed', error: { kind: 'auth', message: 'no key' } });
  const first = kept(createWorld({ path, agents, brain: noKey }));
  const handle = await start(first);
  await handle.done;
  const late = wokenLate('run.reopened', times, first, handle);
  const resuming = kept(createWorld({ path, agents, brain: () => reports('Done.'), wrapLedger: late.wrapLedger }));
  const resumed = await resuming.engine.resume(handle.run);
  expect([late.count(), resumed.kind]).toEqual([times, kind]);
  if (resumed.kind === 'resumed') expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
  const reopenings = (await typesIn(first, handle)).filter((type) => type === 'run.reopened');
  expect(reopenings).toHaveLength(kind === 'resumed' ? 1 : 0);
  expect((await first.ledger.runs({ run: handle.run }))[0]?.owner).toBeNull();
});

it.each([
  [1, 'withdrawn'],
  [limits.overtakenTries, 'refused'],
] as const)('a worker that was woken late takes the lease %i times before a run is taken back: %s', async (times, kind) => {
  const path = join(folder, `late-${kind}-back.db`);
  const agents = [agent({})];
  const first = kept(createWorld({ path, agents, brain: () => reports('Done.') }));
  const handle = await start(first);
  await handle.done;
  const late = wokenLate('run.withdrawn', times, first, handle);
  const second = kept(createWorld({ path, agents, brain: () => reports('Done.'), wrapLedger: late.wrapLedger }));
  expect([await second.engine.withdraw(handle.run), late.count()]).toMatchObject([{ kind }, times]);
  const withdrawals = (await typesIn(first, handle)).filter((type) => type === 'run.withdrawn');
  expect(withdrawals).toHaveLength(kind === 'withdrawn' ? 1 : 0);
  expect((await first.ledger.runs({ run: handle.run }))[0]?.owner).toBeNull();
});

it.each(['withdraw', 'start'] as const)('a worker that looks at an ended run holds up nobody for good: %s', async (what) => {
  const path = join(folder, `looked-at-${what}.db`);
  const agents = [agent({})];
  const brain = () => reports('Done.');
  const first = kept(createWorld({ path, agents, brain }));
  const handle = await start(first);
  await handle.done;
  const looking = await first.ledger.acquire(handle.session, handle.run, { assigned: true });
  if (looking.kind !== 'acquired') throw new Error(looking.kind);
  let told = 0;
  const wrapLedger = toldHeld(() => {
    told += 1;
    void first.ledger.release(looking.fence);
  });
  const second = kept(createWorld({ path, agents, brain, wrapLedger }));
  if (what === 'withdraw') expect(await second.engine.withdraw(handle.run)).toEqual({ kind: 'withdrawn' });
  else expect(await resultOf(await start(second, { session: handle.session }))).toMatchObject({ status: 'completed' });
  // Only who was told to wait lets the other go.
  expect(told).toBeGreaterThan(0);
});

it('a run that is still called parked after it was told to go on is taken up, and not told so for ever', async () => {
  const path = join(folder, 'still-parked.db');
  const agents = [agent({ maxRetries: 0 })];
  const noKey = (): ModelOutcome => ({ kind: 'failed', error: { kind: 'auth', message: 'no key' } });
  const handle = await start(kept(createWorld({ path, agents, brain: noKey })));
  await handle.done;
  let looks = 0;
  const calledParked = (inner: Ledger): Ledger => ({
    ...inner,
    async runs(filter) {
      looks += 1;
      if (looks > 200) throw new Error('it is looked at again and again');
      return (await inner.runs(filter)).map((row) => ({ ...row, state: 'parked' as const }));
    },
  });
  const late = kept(createWorld({ path, agents, brain: () => reports('Done.'), wrapLedger: calledParked }));
  const resumed = await late.engine.resume(handle.run);
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  expect(await resultOf(resumed.handle)).toMatchObject({ status: 'completed' });
});
