/** Agents elsewhere, when a budget or the time of a run above is used up: their tasks end with the run, wherever they stand. */
import { describe, expect, it } from 'vitest';
import { type Message, textOf } from '../../src/events/messages.ts';
import { never } from '../support/patterns/scenarios.ts';
import { brainPeers, remote } from '../support/peers/brain-peers.ts';
import {
  alone,
  bodyOf,
  DEAD_PID,
  eventsOf,
  type Kept,
  live,
  newPlay,
  once,
  type Play,
  RUN,
  weather,
} from '../support/peers/remote-play.ts';
import { createQuietClock } from '../support/quiet-clock.ts';
import { agent, createWorld, says } from '../support/world.ts';

const cancelsIn = async (kept: Kept) =>
  (await eventsOf(kept)).flatMap((event) => (event.event_type === 'peer.cancelled' ? [event.payload] : []));
const heardBy = ({ memory }: Kept): readonly string[] =>
  [...memory.contexts.values()].flat().flatMap((said: Message) => (said.role === 'user' ? [textOf(said.content)] : []));

async function goesOn(kept: Kept, budget: { readonly calls?: number; readonly wallMs?: number }): Promise<string | undefined> {
  const world = createWorld({
    ...{ path: kept.path, agents: kept.agents, brain: kept.brain, owner: { pid: DEAD_PID }, clock: createQuietClock() },
    engineOptions: { peers: brainPeers(kept.memory, (request) => kept.brain(request, 0)) },
  });
  const again = await world.engine.resume(RUN, { budget });
  if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
  const body = bodyOf(await again.handle.done);
  await world.close();
  return body;
}

describe('a budget that is used up while a peer waits for an answer', () => {
  const poor: Play = { ...alone, agents: [remote('weather', { budget: { calls: 1 } })] };

  it('ends its task, and the ledger says whether the peer has confirmed that', async () => {
    const kept = newPlay(poor);
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted', exhausted: RUN } });
    expect(kept.memory.cancelled).toEqual(['task-1']);
    expect(await cancelsIn(kept)).toEqual([{ task: 'task-1', reached: true, state: 'canceled' }]);
  });

  it('ends its task wherever the process died', async () => {
    const { appends } = await live(newPlay(poor));
    const asked = appends.findIndex((kinds) => kinds.includes('peer.state'));
    expect(asked).toBeGreaterThan(0);
    for (let cut = asked; cut <= appends.length; cut += 1) {
      const kept = newPlay(poor);
      await live(kept, cut);
      const { end } = await live(kept);
      expect(end, `cut at ${cut}`).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
      expect(new Set(kept.memory.cancelled), `cut at ${cut}`).toEqual(new Set(['task-1']));
    }
  });

  it('is not waited for when it cannot be reached, and the ledger says that', async () => {
    let answered = false;
    const kept = newPlay({
      ...poor,
      answer: () => {
        answered = true;
        return 'Porto';
      },
      habits: { away: () => (answered ? 'unsent' : undefined) },
    });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    expect(await cancelsIn(kept)).toEqual([{ task: 'task-1', reached: false, why: 'nobody is there' }]);
  });

  it('is begun anew with more, and told everything that the task before was told', async () => {
    const kept = newPlay(poor);
    await live(kept);
    const world = createWorld({
      ...{ path: kept.path, agents: kept.agents, brain: kept.brain, owner: { pid: DEAD_PID }, clock: createQuietClock() },
      engineOptions: { peers: brainPeers(kept.memory, (request) => weather(request, 0)) },
    });
    const again = await world.engine.resume(RUN, { budget: { calls: 9 } });
    if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
    expect(bodyOf(await again.handle.done)).toContain('Porto');
    await world.close();
    expect(heardBy(kept)).toEqual(['Go.', 'Go.\nYou asked: Which city?\nPorto']);
    once(kept.memory.taken, 'the same message twice');
    expect(kept.memory.tasks).toHaveLength(2);
  });
});

describe('a peer that cannot be told that its task is to end', () => {
  /** Away from when the first life wants to end the task until that life is over. */
  async function untold(play: Play): Promise<Kept> {
    let away: 'unsent' | undefined;
    const leaves = () => {
      away = 'unsent';
    };
    const kept = newPlay({
      ...play,
      brain: (request, call) => {
        request.signal.addEventListener('abort', leaves);
        return play.brain(request, call);
      },
      answer: (question) => {
        leaves();
        return play.answer?.(question) ?? '';
      },
      habits: { away: () => away },
    });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    expect(await cancelsIn(kept)).toMatchObject([{ task: 'task-1', reached: false }]);
    away = undefined;
    return kept;
  }

  it('is gone on with when there is more time: its task may be at work', async () => {
    let slow = true;
    const agents = [remote('weather', { budget: { wall: 20 } })];
    const kept = await untold({ agents, brain: (request) => (slow ? never(request) : says('Sun.')) });
    slow = false;
    expect(await goesOn(kept, { wallMs: 60_000 })).toBe('Sun.');
    expect([kept.memory.taken.length, kept.memory.tasks.length]).toEqual([1, 1]);
  });

  it('gets the answer that it waits for when the budget is larger', async () => {
    const kept = await untold({ ...alone, agents: [remote('weather', { budget: { calls: 1 } })] });
    expect(await goesOn(kept, { calls: 9 })).toBe('Sun in Porto.');
    expect(heardBy(kept)).toEqual(['Go.', 'Porto']);
    expect(kept.memory.tasks).toHaveLength(1);
  });
});

describe('a peer that ends its task only after it was told to', () => {
  it.each([
    { state: 'working', play: { agents: [remote('weather', { budget: { wall: 20 } })], brain: never }, taken: 2 },
    { state: 'input-required', play: { ...alone, agents: [remote('weather', { budget: { calls: 1 } })] }, taken: 3 },
  ])('and is $state until then is asked anew when there is more', async ({ state, play, taken }) => {
    const kept = newPlay({ ...play, habits: { endures: true } });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    expect(await cancelsIn(kept)).toMatchObject([{ reached: true, state }]);
    kept.memory.cancelled.push('task-1');
    expect(await goesOn({ ...kept, brain: () => says('Sun.') }, { calls: 9, wallMs: 60_000 })).toBe('Sun.');
    expect([kept.memory.taken.length, kept.memory.tasks.length]).toEqual([taken, 2]);
    once(kept.memory.taken, 'the same message twice');
  });

  it('is one call that nobody answered, however often it is told', async () => {
    const agents = [remote('weather', { budget: { wall: 20 } })];
    const kept = newPlay({ agents, brain: never, habits: { endures: true } });
    await live(kept);
    await goesOn(kept, { wallMs: 40_000 });
    expect((await cancelsIn(kept)).map(({ unanswered }) => unanswered)).toEqual([true, undefined]);
  });
});

it('time that is over for a whole group ends the task of one that waits for an answer', async () => {
  const group = { mode: 'broadcast' as const, workers: ['weather', 'near'] };
  const kept = newPlay({
    agents: [
      agent({ name: 'lead', tools: [], group, budget: { wall: 20 } }),
      remote('weather'),
      agent({ name: 'near', tools: [] }),
    ],
    brain: (request, call) => {
      if (request.agent === 'weather') return weather(request, 0);
      return request.agent === 'near' ? never(request) : says(String(call));
    },
  });
  const { end } = await live(kept);
  expect(end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
  expect(kept.memory.cancelled).toEqual(['task-1']);
});
