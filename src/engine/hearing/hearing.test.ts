/**
 * Whoever was told that a cancel, a pause or an answer was accepted is heard: one test for each moment in which it may come
 * while nobody is listening.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start, statesOf, untilStopped } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { answeredWith, atWindow, comesIn, signalled } from '../../../test/support/windows.ts';
import { agent, type Brain, calls, createWorld, reports, turnOf } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Append, Ledger, ReadQuery } from '../../ledger/port.ts';
import { createEmbeddedEngine } from '../local/engine.ts';
import type { EngineOptions } from '../options.ts';
import { workOn } from '../restate/work.ts';
import { createSlots } from '../spawning/slots.ts';
import { createFromOutside } from './from-outside.ts';

const RUN = 'run_00000000000000heard' as RunId;
const SESSION = 'ses_00000000000000heard' as SessionId;
const before = { approved: [], at: 0 };
const WAIT = 'turn/1/tool/0/approval';

const folder = mkdtempSync(join(tmpdir(), 'troupe-hearing-'));
const created = keptWorlds();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
const newPath = (): string => {
  count += 1;
  return join(folder, `${count}.db`);
};

const asks: Brain = (asked) => (turnOf(asked) === 1 ? calls({ name: 'act' }, { name: 'look' }) : reports('Done.'));
const careful = [agent({ permissions: { act: 'ask' } })];
const ids = { run: RUN, session: SESSION };

/** A run that a first process has left waiting for a permission. */
async function waitingRun(path: string): Promise<void> {
  const first = createWorld({ path, brain: asks, agents: careful });
  const handle = await start(first, ids);
  expect(await handle.done).toMatchObject({ kind: 'waiting' });
  await first.close();
}

const writes = (type: string) => (request: Append) => request.events.some((event) => event.type === type);

describe('between reading the ledger and being taken up', () => {
  const window = { beforeAppend: writes('run.resumed') };

  it.each([
    ['a cancel', () => [signalled(SESSION, RUN, 'cancel')], { kind: 'ended', result: { status: 'cancelled' } }],
    [
      'an answer',
      () => [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' })],
      { kind: 'ended', result: { status: 'completed' } },
    ],
    [
      'a pause',
      () => [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' }), signalled(SESSION, RUN, 'pause', 'lunch')],
      { kind: 'paused', reason: 'lunch' },
    ],
    [
      'a cancel after more than a page of others',
      () => [
        ...Array.from({ length: limits.readPageEvents }, () => signalled(SESSION, RUN, 'resume')),
        signalled(SESSION, RUN, 'cancel'),
      ],
      { kind: 'ended', result: { status: 'cancelled' } },
    ],
  ] as const)('%s is heard', async (_name, news, end) => {
    const path = newPath();
    await waitingRun(path);
    const { wrapLedger, happened } = atWindow(window, (inner) => comesIn(inner, SESSION, news()));
    const world = created({ path, brain: asks, agents: careful, wrapLedger });
    const resumed = await world.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject(end);
    expect(happened()).toBe(true);
  });

  it('a pause that was asked for holds in the next life too, until somebody has it go on', async () => {
    const path = newPath();
    await waitingRun(path);
    const pause = [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' }), signalled(SESSION, RUN, 'pause', 'lunch')];
    const { wrapLedger } = atWindow(window, (inner) => comesIn(inner, SESSION, pause));
    const world = created({ path, brain: asks, agents: careful, wrapLedger });
    const resumed = await world.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject({ kind: 'paused' });
    expect(await resumedResult(world, RUN)).toMatchObject({ status: 'completed' });
  });
});

describe('while a session is read again for an answer', () => {
  it('a cancel is heard by the life that begins', async () => {
    let answered = false;
    const whole = ({ types, run }: ReadQuery): boolean => answered && types === undefined && run === undefined;
    const { wrapLedger, happened } = atWindow({ afterRead: whole }, (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]),
    );
    // No bell rings, and nothing else is at work: the answer that comes with the question is found when the run would be left.
    const answersAtOnce = (inner: Ledger): Ledger => ({
      ...inner,
      append: async (request) => {
        const outcome = await inner.append(request);
        if (!writes('approval.asked')(request)) return outcome;
        await comesIn(inner, SESSION, [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' })]);
        answered = true;
        return outcome;
      },
    });
    const ledger = (inner: Ledger): Ledger => deaf(wrapLedger(answersAtOnce(inner)));
    const world = created({ path: newPath(), brain: asks, agents: careful, wrapLedger: ledger });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'cancelled' });
    expect(happened()).toBe(true);
  });
});

/** No bell rings in time: what another process has appended is found by looking, or not at all. */
const deaf = (ledger: Ledger): Ledger => ({ ...ledger, onInbound: () => () => undefined });

describe('while the lease is given back', () => {
  it('an answer is heard, and the run goes on', async () => {
    const answer = [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' })];
    const { wrapLedger, happened } = atWindow({ beforeRelease: () => true }, (inner) => comesIn(inner, SESSION, answer));
    const world = created({
      path: newPath(),
      brain: asks,
      agents: careful,
      wrapLedger: (ledger) => deaf(wrapLedger(ledger)),
    });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'completed' });
    expect(happened()).toBe(true);
    expect(await world.ledger.runs({ run: RUN })).toMatchObject([{ state: 'completed', owner: null }]);
  });

  it('a cancel of a run that waits is heard', async () => {
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]),
    );
    const world = created({ path: newPath(), brain: asks, agents: careful, wrapLedger: (ledger) => deaf(wrapLedger(ledger)) });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'cancelled' });
  });

  it('a cancel of a run that pauses is heard', async () => {
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]),
    );
    const pausing: Brain = async () => {
      await world.engine.pause(RUN, 'lunch');
      return calls({ name: 'look' });
    };
    const world = created({ path: newPath(), brain: pausing, wrapLedger });
    expect(await resultOf(await start(world, ids))).toMatchObject({ status: 'cancelled' });
    expect(world.outside.modelCalls).toHaveLength(1);
  });

  it('a cancel of a run whose engine is closed is heard', async () => {
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, (inner) =>
      comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]),
    );
    const world = created({ path: newPath(), brain: untilStopped, wrapLedger });
    const handle = await start(world, ids);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.close();
    expect(await resultOf(handle)).toMatchObject({ status: 'cancelled' });
  });

  it('whoever takes the run up in the same process gets the one that goes on', async () => {
    const gate = Promise.withResolvers<void>();
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, async (inner) => {
      await comesIn(inner, SESSION, [answeredWith(SESSION, RUN, WAIT, { kind: 'approved' })]);
      gate.resolve();
    });
    const world = created({ path: newPath(), brain: asks, agents: careful, wrapLedger });
    const handle = await start(world, ids);
    await gate.promise;
    expect(await resumedResult(world, RUN)).toMatchObject({ status: 'completed' });
    expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
  });
});

describe('whoever answers a run that was just left', () => {
  it('is told that nobody drives it any more', async () => {
    const path = newPath();
    const seen = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const driving = created({
      path,
      brain: asks,
      agents: careful,
      ...atWindow({ beforeRelease: () => true }, () => seen.promise),
    });
    const outside = created({
      path,
      brain: asks,
      agents: careful,
      // It sees a driven run, and is held up until that was left.
      wrapLedger: (inner) => ({
        ...inner,
        runs: async (filter) => {
          const rows = await inner.runs(filter);
          seen.resolve();
          await left.promise;
          return rows;
        },
      }),
    });
    const handle = await start(driving, ids);
    const answering = (async () => {
      await expect.poll(async () => (await driving.engine.waits(RUN)).length).toBe(1);
      return await outside.engine.answer(RUN, WAIT, { kind: 'approved' });
    })();
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    left.resolve();
    expect(await answering).toEqual({ kind: 'accepted', live: false });
    expect(await resumedResult(outside, RUN)).toMatchObject({ status: 'completed' });
  });
});

describe('an answer to a run that was cancelled meanwhile', () => {
  it.each([
    ['before it was given', { afterRead: () => false }],
    ['while it is given', { beforeAppend: writes('approval.answered') }],
  ])('is told so: %s', async (_name, window) => {
    const path = newPath();
    await waitingRun(path);
    const cancels = (inner: Ledger) => comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel')]);
    const { wrapLedger, happened } = atWindow(window, cancels);
    const world = created({ path, brain: asks, agents: careful, wrapLedger });
    if (!('beforeAppend' in window)) await cancels(world.ledger);
    expect(await world.engine.answer(RUN, WAIT, { kind: 'approved' })).toEqual({ kind: 'cancelled' });
    expect(happened()).toBe('beforeAppend' in window);
    expect(await resumedResult(world, RUN)).toMatchObject({ status: 'cancelled' });
  });

  it('is told so also when a run above it was cancelled', async () => {
    const agents = [agent({ agents: ['asker'] }), agent({ name: 'asker', permissions: { act: 'ask' } })];
    const input = { prompt: 'Go', reason: 'need' };
    const brain: Brain = ({ agent: name }) => calls(name === 'asker' ? { name: 'act' } : { name: 'asker', input });
    const world = created({ path: newPath(), brain, agents });
    expect(await (await start(world, ids)).done).toMatchObject({ kind: 'waiting' });
    const [wait] = await world.engine.waits(RUN);
    await comesIn(world.ledger, SESSION, [signalled(SESSION, RUN, 'cancel')]);
    expect(await world.engine.answer(wait?.run as RunId, wait?.wait ?? '', { kind: 'approved' })).toEqual({ kind: 'cancelled' });
  });
});

describe('a run below one that waits', () => {
  it('is left when a run between it and the root is cancelled', async () => {
    const agents = [
      agent({ agents: ['middle'] }),
      agent({ name: 'middle', agents: ['asker'] }),
      agent({ name: 'asker', permissions: { act: 'ask' } }),
    ];
    const brain: Brain = (asked) => {
      if (asked.agent === 'asker') return calls({ name: 'act' });
      if (turnOf(asked) > 1) return reports('Done.');
      return calls({ name: asked.agent === 'worker' ? 'middle' : 'asker', input: { prompt: 'Go', reason: 'need' } });
    };
    const { wrapLedger } = atWindow({ beforeRelease: () => true }, async (inner) => {
      const [middle] = (await inner.runs({ session: SESSION })).filter((row) => row.agent === 'middle');
      await comesIn(inner, SESSION, [signalled(SESSION, middle?.run as RunId, 'cancel')]);
    });
    const world = created({ path: newPath(), brain, agents, wrapLedger });
    const handle = await start(world, ids);
    expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
    expect(await statesOf(world, handle)).toEqual(['asker cancelled', 'middle cancelled', 'worker completed']);
  });
});

describe('on another machine, where a run is read in two engineOptions', () => {
  it('what came between the two reads is heard', async () => {
    const path = newPath();
    const agents = [agent({ agents: ['helper'] }), agent({ name: 'helper', permissions: { act: 'ask' } })];
    const brain: Brain = (asked) =>
      asked.agent === 'worker' ? calls({ name: 'helper', input: { prompt: 'Go', reason: 'need' } }) : calls({ name: 'act' });
    const first = created({ path, brain, agents });
    const handle = await start(first, ids);
    expect(await handle.done).toMatchObject({ kind: 'waiting' });
    const [child] = (await first.ledger.runs({ session: SESSION })).filter((row) => row.agent === 'helper');
    const run = child?.run as RunId;

    const sharedRead = Promise.withResolvers<void>();
    let engineOptions: EngineOptions | undefined;
    created({
      path,
      brain,
      agents,
      // The parent is cancelled after the one read, and something else comes for the child before the other.
      wrapLedger: (inner) => ({
        ...inner,
        read: async (query) => {
          if (query.types === undefined && query.run === run) {
            await sharedRead.promise;
            await comesIn(inner, SESSION, [signalled(SESSION, RUN, 'cancel'), signalled(SESSION, run, 'resume')]);
          }
          const events = await inner.read(query);
          if (query.types?.includes('session.started') === true) sharedRead.resolve();
          return events;
        },
      }),
      createEngine: (made) => {
        engineOptions = made;
        return createEmbeddedEngine(made);
      },
    });
    if (engineOptions === undefined) throw new Error('no engineOptions were made');
    const place = { engineOptions, slots: createSlots(1), stopping: new AbortController().signal };
    const idle = { start: async () => undefined, poke: async () => undefined };
    expect(await workOn({ ...place, ...idle }, SESSION, run)).toEqual({ kind: 'ended', parent: RUN });
    expect(await first.ledger.runs({ run })).toMatchObject([{ state: 'cancelled' }]);
  });
});

describe('two looks at the same time', () => {
  it('the second sees what came while the first was reading, and nothing is told twice', async () => {
    const stored: LedgerEvent[] = [];
    const gates: (() => void)[] = [];
    const told: number[] = [];
    const ledger = {
      read: async ({ after = 0 }) => {
        const seen = stored.filter(({ position }) => position > after);
        await new Promise<void>((resolve) => gates.push(resolve));
        return seen;
      },
      lastInbound: async () => stored.at(-1)?.position ?? 0,
    } as Partial<Ledger> as Ledger;
    const comes = (position: number): void => {
      const payload = { signal: 'cancel', reason: `number ${position}` };
      stored.push({ position, run_id: RUN, event_type: 'run.signalled', payload } as LedgerEvent);
    };
    const onNews = (news: readonly LedgerEvent[]) => void told.push(...news.map(({ position }) => position));
    const hears = createFromOutside({ ledger, session: SESSION, heard: 0, before, shared: false, onNews });
    comes(1);
    const first = hears.refresh();
    await expect.poll(() => gates.length).toBe(1);
    comes(2);
    const second = Promise.all([hears.refresh(), hears.refresh()]);
    gates[0]?.();
    await first;
    await expect.poll(() => gates.length).toBe(2);
    gates[1]?.();
    await second;
    expect(told).toEqual([1, 2]);
    expect(hears.cancelled(RUN)).toBe('number 2');
    expect(hears.heard()).toBe(2);
  });

  it('what the session writes itself does not hide what came before', async () => {
    const read: number[] = [];
    const ledger = {
      read: async ({ after = 0 }) => {
        read.push(after);
        return [];
      },
      lastInbound: async () => 4,
    } as Partial<Ledger> as Ledger;
    const hears = createFromOutside({ ledger, session: SESSION, heard: 3, before, shared: false, onNews: () => undefined });
    hears.apply({ position: 9, run_id: RUN, event_type: 'run.signalled', payload: { signal: 'cancel' } } as LedgerEvent);
    await hears.refresh();
    expect(read).toEqual([3]);
    expect(hears.cancelled(RUN)).toBe('asked from outside');
  });
});

describe('a pause', () => {
  it.each([
    ['asker', 'busy'],
    ['busy', 'asker'],
  ])('is not hidden by a question that is asked beside it: %s first', async (...order) => {
    const agents = [
      agent({ agents: ['asker', 'busy'] }),
      agent({ name: 'asker', permissions: { act: 'ask' } }),
      agent({ name: 'busy' }),
    ];
    const input = { prompt: 'Go', reason: 'need' };
    const brain: Brain = async (asked) => {
      if (asked.agent === 'worker') return calls(...order.map((name) => ({ name, input })));
      if (asked.agent === 'asker') return calls({ name: 'act' });
      await expect.poll(async () => (await world.engine.waits(RUN)).length).toBe(1);
      await world.engine.pause(RUN, 'lunch');
      return calls({ name: 'look' });
    };
    const world = created({ brain, agents });
    const handle = await start(world, ids);
    expect(await handle.done).toEqual({ kind: 'paused', reason: 'lunch' });
    expect(await statesOf(world, handle)).toContain('worker paused');
  });
});
