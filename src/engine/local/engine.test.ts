/** What only the embedded engine does, and what is the same code in every engine. The rest is in engine-conformance.test.ts. */
import { describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start, untilStopped } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World, type WorldOptions } from '../../../test/support/world.ts';
import { TroupeError } from '../../base/errors.ts';
import { ok } from '../../base/result.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { readAll } from '../record/read-all.ts';

const createdWorld = keptWorlds();

describe('a run', () => {
  it('says plainly what it cannot run yet', async () => {
    const world = createdWorld({
      brain: () => says(''),
      agents: [agent({ handoff: { to: 'other', include: 'report' } }), agent({ name: 'other' })],
      engineOptions: { patterns: [] },
    });
    const refused = await world.engine.start({ agent: 'worker', input: userText('Hi'), workspace: '.' });
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'not_yet', message: expect.stringContaining('handoff') } });
  });
});

describe('a lease', () => {
  it('is given back when what came before cannot be read, and the run is refused with the reason', async () => {
    let broken = false;
    let leases = 0;
    const wrapLedger: WorldOptions['wrapLedger'] = (inner) => ({
      ...inner,
      acquire: async (...given) => {
        leases += 1;
        return await inner.acquire(...given);
      },
      release: async (fence) => {
        leases -= 1;
        await inner.release(fence);
      },
      read: async (query) => {
        if (broken && leases > 0) throw new TroupeError('corrupt', 'A page of the ledger cannot be read.');
        return await inner.read(query);
      },
    });
    const brain: Brain = (asked) => (turnOf(asked) === 1 ? calls({ name: 'act' }) : says('Done.'));
    const world = createdWorld({ brain, agents: [agent({ permissions: { act: 'ask' } })], wrapLedger });
    const { run, session, done } = await start(world);
    expect(await done).toMatchObject({ kind: 'waiting' });
    expect(leases).toBe(0);

    broken = true;
    expect(await world.engine.resume(run)).toMatchObject({ kind: 'refused', error: { code: 'corrupt' } });
    expect(leases).toBe(0);

    broken = false;
    await world.engine.cancel(run, 'enough');
    leases = 0;
    broken = true;
    const next = { agent: 'worker', input: userText('More'), workspace: '.', session };
    expect(await world.engine.start(next)).toMatchObject({ kind: 'refused', error: { code: 'corrupt' } });
    expect(leases).toBe(0);
  });
});

describe('a ledger that cannot be read for a moment', () => {
  it('cuts a run off that can go on later, and does not end it', async () => {
    let broken = false;
    const wrapLedger = (inner: Ledger): Ledger => ({
      ...inner,
      read: async (query) => {
        if (!broken || query.types?.includes('model.response') !== true) return await inner.read(query);
        broken = false;
        throw new TroupeError('ledger_unreachable', 'The server cannot be reached.');
      },
    });
    const first = createdWorld({ brain: () => says('Fine.') });
    const { session, done } = await start(first);
    await done;
    const other = createdWorld({ brain: () => says('Fine again.'), ledger: wrapLedger(first.ledger) });
    broken = true;
    const handle = await start(other, { session });
    expect(await handle.done).toMatchObject({ kind: 'interrupted', error: { code: 'ledger_unreachable' } });
    expect(await resumedResult(other, handle.run)).toMatchObject({ status: 'completed', report: { body: 'Fine again.' } });
  });
});

describe('why a run was cancelled', () => {
  it('is said once, also when the reason reads like the end of the sentence', async () => {
    const world = createdWorld({ brain: untilStopped });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.cancel(handle.run, 'the plan was cancelled');
    expect((await resultOf(handle)).error?.message).toBe('The run was cancelled: the plan was cancelled.');
  });

  it('is in its result and in the report that stands for its own', async () => {
    const world = createdWorld({ brain: untilStopped });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.cancel(handle.run, 'the meeting is over');
    const { status, error, report } = await resultOf(handle);
    expect({ status, error }).toEqual({
      status: 'cancelled',
      error: { code: 'cancelled', message: 'The run was cancelled: the meeting is over.' },
    });
    expect(report).toMatchObject({ synthetic: true, body: expect.stringContaining('cancelled: the meeting is over.') });
  });

  it('reaches what is below it too', async () => {
    const world = createdWorld({
      agents: [agent({ agents: ['helper'] }), agent({ name: 'helper' })],
      brain: (asked) =>
        asked.agent === 'helper' ? untilStopped(asked) : calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } }),
    });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(2);
    await world.engine.cancel(handle.run, 'the meeting is over');
    await handle.done;
    const ends = (await readAll(world.ledger, handle.session)).flatMap((event) =>
      event.event_type === 'run.ended' ? [event.payload.error?.message] : [],
    );
    expect(ends).toEqual(Array(2).fill('The run was cancelled: the meeting is over.'));
  });
});

describe('stopping the embedded engine', () => {
  it('waits for a run that has just been asked for, and cuts it off too', async () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const wrapLedger = (inner: Ledger): Ledger => ({
      ...inner,
      append: async (request) => {
        reached.resolve();
        await gate.promise;
        return await inner.append(request);
      },
    });
    const world = createdWorld({ brain: () => says('Done.'), wrapLedger });
    const starting = start(world);
    await reached.promise;
    const closing = world.engine.close();
    gate.resolve();
    await closing;
    expect(await (await starting).done).toMatchObject({ kind: 'interrupted' });
    expect((await world.ledger.runs({})).map(({ owner }) => owner)).toEqual([null]);
    expect(world.outside.modelCalls).toEqual([]);
  });

  it('leaves runs resumable when it is closed', async () => {
    const world = createdWorld({
      brain: (asked) =>
        new Promise((resolve) => {
          asked.signal.addEventListener('abort', () =>
            resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } }),
          );
          if (world.outside.modelCalls.length > 1) resolve(says('Back again.'));
        }),
    });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.close();
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    expect(await resumedResult(world, handle.run)).toMatchObject({ status: 'completed', report: { body: 'Back again.' } });
  });

  it('before the first turn of a run is not taken for cancelling it', async () => {
    const world: World = createdWorld({
      agents: [agent({ agents: ['helper'] }), agent({ name: 'helper' })],
      brain: () => calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } }),
      engineOptions: {
        tools: async ({ name }) => {
          if (name === 'helper' && world.outside.modelCalls.length > 0) void world.engine.close();
          return ok([]);
        },
      },
    });
    const handle = await start(world);
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    const rows = await world.ledger.runs({ session: handle.session });
    expect(rows.map(({ agent, state }) => `${agent} ${state}`)).toEqual(['helper running', 'worker running']);
  });
});

describe('done is checked', () => {
  it('a claim without evidence ends unverified', async () => {
    const world = createdWorld({ brain: () => reports('I wrote it.', { claims: [{ kind: 'file', path: 'made-up.txt' }] }) });
    expect(await resultOf(await start(world))).toMatchObject({ status: 'completed_unverified' });
  });

  it('a reported failure is a failure', async () => {
    const world = createdWorld({ brain: () => reports('No way.', { status: 'failure' }) });
    expect(await resultOf(await start(world))).toMatchObject({
      status: 'failed',
      error: { code: 'reported_failure' },
      report: { body: 'No way.' },
    });
  });
});
