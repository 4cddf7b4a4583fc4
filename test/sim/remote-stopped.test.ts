/** Agents that live elsewhere, when their run is cancelled, out of time or paused: the peer is told, or left to its work. */
import { describe, expect, it } from 'vitest';
import { userText } from '../../src/events/messages.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { never } from '../support/patterns/scenarios.ts';
import { brainPeers, type PeerMemory, remote } from '../support/peers/brain-peers.ts';
import {
  alone,
  bodyOf,
  DEAD_PID,
  eventsOf,
  folder,
  live,
  NEVER,
  newPlay,
  once,
  type Play,
  RUN,
  SESSION,
  spentIn,
  sunny,
  weather,
} from '../support/peers/remote-play.ts';
import { createQuietClock } from '../support/quiet-clock.ts';
import { type Brain, createWorld, says } from '../support/world.ts';

it('a run that is paused leaves the task that is worked on elsewhere, and finds it again', async () => {
  const working = Promise.withResolvers<void>();
  const kept = newPlay({
    ...sunny,
    brain: (request) => {
      working.resolve();
      return never(request);
    },
  });
  const { path, memory, agents, brain } = kept;
  const peers = brainPeers(memory, (request) => brain(request, 0));
  const world = createWorld({ path, agents, brain, engineOptions: { peers }, owner: { pid: DEAD_PID } });
  const begun = await world.engine.start({
    agent: 'weather',
    input: userText('Go.'),
    workspace: folder,
    run: RUN,
    session: SESSION,
  });
  if (begun.kind !== 'started') throw new Error(begun.error.message);
  await working.promise;
  await world.engine.pause(RUN, 'enough for today');
  expect((await begun.handle.done).kind).toBe('paused');
  await world.close();
  expect(bodyOf((await live({ ...kept, brain: sunny.brain })).end)).toBe('Sun.');
  expect([memory.taken.length, memory.tasks.length, memory.cancelled.length]).toEqual([1, 1, 0]);
});

describe('a cancel', () => {
  /** Waits until the peer works, or until the run waits for an answer; then cancels it. */
  async function cancelled(play: Play, when: 'works' | 'asks', lastAppend = NEVER) {
    const kept = newPlay(play);
    const { path, memory, agents } = kept;
    const working = Promise.withResolvers<void>();
    const brain: Brain = async (request) => {
      if (when === 'asks') return weather(request, 0);
      working.resolve();
      return await new Promise(() => undefined);
    };
    let appends: readonly string[] = [];
    const world = createWorld({
      ...{ path, agents, brain, outside: { modelCalls: [], effects: [], peers: memory }, owner: { pid: DEAD_PID } },
      engineOptions: { peers: stoppable(memory, brain) },
      wrapLedger: (inner) => {
        const crashing = crashAt(inner, lastAppend);
        appends = crashing.kinds;
        return crashing.ledger;
      },
    });
    const input = userText('Go.');
    const begun = await world.engine.start({ agent: 'weather', input, workspace: folder, run: RUN, session: SESSION });
    if (begun.kind !== 'started') throw new Error(begun.error.message);
    if (when === 'asks') await begun.handle.done;
    else await working.promise;
    const outcome = await world.engine.cancel(RUN, 'enough').catch(() => undefined);
    if (when === 'works') await begun.handle.done;
    await world.ledger.close();
    return { kept, appends, outcome };
  }
  /** Real peers notice when nobody listens any more; one that never answers would not. */
  const stoppable = (memory: PeerMemory, brain: Brain) =>
    brainPeers(memory, (request) =>
      Promise.race([
        brain(request, 0),
        new Promise<never>((_resolve, reject) =>
          request.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true }),
        ),
      ]).catch(() => says('')),
    );

  it.each(['works', 'asks'] as const)('reaches the task of a peer that %s', async (when) => {
    const { kept } = await cancelled({ ...alone }, when);
    expect(kept.memory.cancelled).toEqual(['task-1']);
    const events = await eventsOf(kept);
    expect(events.find(({ event_type }) => event_type === 'peer.cancelled')).toMatchObject({ payload: { reached: true } });
    expect(events.at(-1)).toMatchObject({ event_type: 'run.ended', payload: { status: 'cancelled' } });
    expect(spentIn(events)).toEqual({ calls: 1, unknownCalls: 1, models: ['a2a:weather.test'] });
  });

  it('for want of time is not for ever: with more time the work is asked for again', async () => {
    const agents = [remote('weather', { budget: { wall: 20 } })];
    let slow = true;
    const kept = newPlay({ agents, brain: (request) => (slow ? never(request) : says('Sun.')) });
    const first = await live(kept);
    expect(first.end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    expect(kept.memory.cancelled).toEqual(['task-1']);
    slow = false;
    const world = createWorld({
      ...{ path: kept.path, agents, brain: kept.brain, owner: { pid: DEAD_PID }, clock: createQuietClock() },
      engineOptions: { peers: brainPeers(kept.memory, (request) => kept.brain(request, 0), { idempotent: true }) },
    });
    const again = await world.engine.resume(RUN, { budget: { wallMs: 60_000 } });
    if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
    expect(bodyOf(await again.handle.done)).toBe('Sun.');
    await world.close();
    once(kept.memory.taken, 'the same message twice');
    expect(kept.memory.tasks).toHaveLength(2);
  });

  it('reaches it when the process died in between, wherever that was', async () => {
    const whole = await cancelled({ ...alone }, 'asks');
    const asked = whole.appends.findIndex((kinds) => kinds.includes('run.signalled'));
    expect(asked).toBeGreaterThan(0);
    expect(whole.appends.length).toBeGreaterThan(asked + 1);
    for (let cut = asked + 1; cut <= whole.appends.length; cut += 1) {
      const { kept } = await cancelled({ ...alone }, 'asks', cut);
      const { end } = await live({ ...kept, answer: () => 'Porto' });
      expect(end, `cut at ${cut}`).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
      expect(new Set(kept.memory.cancelled), `cut at ${cut}`).toEqual(new Set(['task-1']));
    }
  });
});
