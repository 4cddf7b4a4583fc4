/** Cancelling one run of a tree that nobody drives: it ends, and nothing else begins again. */
import { describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start, statesOf, untilStopped } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { atWindow, comesIn, signalled } from '../../../test/support/windows.ts';
import { agent, type Brain, calls, reports, turnOf, type World } from '../../../test/support/world.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Fence, Ledger } from '../../ledger/port.ts';
import { readAll } from '../record/read-all.ts';

const RUN = 'run_0000000000000000below' as RunId;
const SESSION = 'ses_0000000000000000below' as SessionId;
const ids = { run: RUN, session: SESSION };

const created = keptWorlds();

const input = { prompt: 'Help', reason: 'need' };
const agents = [
  agent({ agents: ['middle'] }),
  agent({ name: 'middle', agents: ['asker'] }),
  agent({ name: 'asker', permissions: { act: 'ask' } }),
];
const below: Brain = (asked) => {
  if (asked.agent === 'asker') return calls({ name: 'act' });
  if (turnOf(asked) > 1) return reports(`${asked.agent} is done.`);
  return calls({ name: asked.agent === 'worker' ? 'middle' : 'asker', input });
};

const runOf = async (world: World, name: string): Promise<RunId> =>
  (await world.ledger.runs({ session: SESSION })).find((row) => row.agent === name)?.run as RunId;

describe('a run below a root that nobody drives', () => {
  it('ends alone, with what is below it, when the tree waits', async () => {
    const world = created({ brain: below, agents });
    const handle = await start(world, ids);
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    const asked = world.outside.modelCalls.length;
    expect(await world.engine.cancel(await runOf(world, 'middle'), 'no')).toEqual({ kind: 'accepted', live: false });
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle cancelled', 'worker running']);
    expect(world.outside.modelCalls).toHaveLength(asked);
    expect(await world.ledger.runs({ run: RUN })).toMatchObject([{ owner: null }]);
    expect(await world.engine.waits(RUN)).toEqual([]);
    expect(await resumedResult(world, RUN)).toMatchObject({ report: { body: 'worker is done.' } });
    expect(world.outside.modelCalls).toHaveLength(asked + 1);
  });

  it('ends alone when the tree was cut off', async () => {
    const brain: Brain = (asked) => (asked.agent === 'asker' && turnOf(asked) === 1 ? untilStopped(asked) : below(asked, 0));
    const world = created({ brain, agents });
    const handle = await start(world, ids);
    await expect.poll(() => world.outside.modelCalls.length).toBe(3);
    await world.engine.close();
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    expect(await world.engine.cancel(await runOf(world, 'asker'), 'no')).toEqual({ kind: 'accepted', live: false });
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle running', 'worker running']);
    expect(world.outside.modelCalls).toHaveLength(3);
    expect(await resumedResult(world, RUN)).toMatchObject({ report: { body: 'worker is done.' } });
  });

  it('ends alone when it is cancelled while the tree is just being paused', async () => {
    const brain: Brain = async (asked) => {
      if (asked.agent !== 'asker') return below(asked, 0);
      await world.engine.pause(RUN, 'lunch');
      return calls({ name: 'look' });
    };
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, async (inner) => {
      const asker = (await inner.runs({ session: SESSION })).find((row) => row.agent === 'asker')?.run as RunId;
      await comesIn(inner, SESSION, [signalled(SESSION, asker, 'cancel')]);
    });
    const world = created({ brain, agents, wrapLedger });
    const handle = await start(world, ids);
    expect(await handle.done).toMatchObject({ kind: 'paused' });
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle running', 'worker paused']);
    expect(world.outside.modelCalls).toHaveLength(3);
  });

  it('is left to whoever takes the tree over meanwhile, and the cancel stays accepted', async () => {
    let mine: Fence | null = null;
    const takenOver = atWindow(
      {
        beforeAppend({ events, fence }) {
          mine = fence;
          return events.some(({ type }) => type === 'run.resumed');
        },
      },
      async (inner) => {
        if (mine !== null) await inner.release(mine);
        await inner.acquire(SESSION, RUN);
      },
    );
    const world = created({ brain: below, agents, wrapLedger: takenOver.wrapLedger });
    await (await start(world, ids)).done;
    expect(await world.engine.cancel(await runOf(world, 'middle'), 'no')).toEqual({ kind: 'accepted', live: false });
    expect(takenOver.happened()).toBe(true);
  });

  it('takes the whole tree with it when the root is cancelled while it is being ended on leaving a paused tree', async () => {
    const brain: Brain = async (asked) => {
      if (asked.agent !== 'asker') return below(asked, 0);
      await world.engine.pause(RUN, 'lunch');
      return calls({ name: 'look' });
    };
    let releases = 0;
    let outcome: unknown;
    const wrapLedger = (inner: Ledger): Ledger => ({
      ...inner,
      async release(fence) {
        releases += 1;
        if (releases === 1) await comesIn(inner, SESSION, [signalled(SESSION, await runOf(world, 'asker'), 'cancel')]);
        if (releases === 2) outcome = await world.engine.cancel(RUN, 'all of it');
        await inner.release(fence);
      },
    });
    const world = created({ brain, agents, wrapLedger });
    const handle = await start(world, ids);
    expect(await handle.done).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    expect(outcome).toEqual({ kind: 'accepted', live: true });
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle cancelled', 'worker cancelled']);
  });

  it('leaves a paused tree paused, also when one of its questions is answered meanwhile', async () => {
    const two = [
      agent({ agents: ['asker', 'other'] }),
      agent({ name: 'asker', permissions: { act: 'ask' } }),
      agent({ name: 'other' }),
    ];
    const brain: Brain = async (asked) => {
      if (asked.agent === 'worker') return calls({ name: 'other', input }, { name: 'asker', input });
      if (asked.agent === 'asker') return turnOf(asked) > 1 ? reports('Fine.') : calls({ name: 'act' });
      await expect.poll(async () => (await world.engine.waits(RUN)).length).toBe(1);
      await world.engine.pause(RUN, 'lunch');
      return calls({ name: 'look' });
    };
    let answer: (() => Promise<unknown>) | undefined;
    let outcome: unknown;
    const wrapLedger = (inner: Ledger): Ledger => ({
      ...inner,
      async release(fence) {
        const once = answer;
        answer = undefined;
        if (once !== undefined) outcome = await once();
        await inner.release(fence);
      },
    });
    const world = created({ brain, agents: two, wrapLedger });
    const handle = await start(world, ids);
    expect(await handle.done).toMatchObject({ kind: 'paused' });
    const asked = world.outside.modelCalls.length;
    const [question] = await world.engine.waits(RUN);
    answer = () => world.engine.answer(question?.run as RunId, question?.wait ?? '', { kind: 'approved' });
    await world.engine.cancel(await runOf(world, 'other'), 'no');
    expect(outcome).toEqual({ kind: 'accepted', live: true });
    expect(await statesOf(world, handle)).toEqual(['asker running', 'other cancelled', 'worker paused']);
    expect(world.outside.modelCalls).toHaveLength(asked);
  });

  it('stays accepted when it cannot be ended just now, with the reason', async () => {
    let full = false;
    const wrapLedger = (inner: Ledger): Ledger => ({
      ...inner,
      append: async (request) => {
        if (full && request.fence !== null) throw new TroupeError('ledger_io', 'The disk is full.', { fix: 'Free some space.' });
        return await inner.append(request);
      },
    });
    const world = created({ brain: below, agents, wrapLedger });
    await (await start(world, ids)).done;
    full = true;
    const unended = { code: 'ledger_io', message: 'The disk is full.', fix: 'Free some space.' };
    const middle = await runOf(world, 'middle');
    expect(await world.engine.cancel(middle, 'no')).toEqual({ kind: 'accepted', live: false, unended });
    full = false;
    expect(await resumedResult(world, RUN)).toMatchObject({ report: { body: 'worker is done.' } });
    expect((await world.ledger.runs({ run: middle }))[0]?.state).toBe('cancelled');
  });

  it('ends once when it is cancelled and so is the one above it', async () => {
    const world = created({ brain: below, agents });
    const handle = await start(world, ids);
    await handle.done;
    await comesIn(world.ledger, SESSION, [signalled(SESSION, await runOf(world, 'asker'), 'cancel')]);
    await world.engine.cancel(await runOf(world, 'middle'), 'no');
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle cancelled', 'worker running']);
    const ended = (await readAll(world.ledger, SESSION)).filter(({ event_type }) => event_type === 'run.ended');
    expect(ended.map(({ run_id }) => run_id).sort()).toEqual([await runOf(world, 'asker'), await runOf(world, 'middle')].sort());
  });

  it.each([
    ['the one above it', 'middle', ['asker cancelled', 'middle cancelled', 'worker running']],
    ['the root', 'worker', ['asker cancelled', 'middle cancelled', 'worker cancelled']],
  ])('has whoever ends it hear a cancel of %s that comes before the lease is given back', async (_who, name, states) => {
    let ending = false;
    const { wrapLedger, happened } = atWindow({ beforeRelease: () => ending }, async (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, await runOf(world, name), 'cancel')]),
    );
    const world = created({ brain: below, agents, wrapLedger });
    const handle = await start(world, ids);
    await handle.done;
    ending = true;
    expect(await world.engine.cancel(await runOf(world, 'asker'), 'no')).toEqual({ kind: 'accepted', live: false });
    expect(happened()).toBe(true);
    await expect.poll(() => statesOf(world, handle)).toEqual(states);
  });

  it('brings the whole tree to its end when the root is cancelled', async () => {
    const world = created({ brain: below, agents });
    const handle = await start(world, ids);
    await handle.done;
    await world.engine.cancel(RUN, 'all of it');
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle cancelled', 'worker cancelled']);
    expect(
      await resultOf({ ...handle, done: Promise.resolve({ kind: 'ended', result: await resumedResult(world, RUN) }) }),
    ).toMatchObject({
      status: 'cancelled',
    });
  });
});
