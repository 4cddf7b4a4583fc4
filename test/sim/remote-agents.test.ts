/**
 * Agents that live elsewhere, through crashes: cut at every append, every message is taken once, every task is begun once, and
 * the run ends as the uncut one does. What the peer has taken is memory of the outside.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { limits } from '../../src/base/limits.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { userText } from '../../src/events/messages.ts';
import type { ModelRequest } from '../../src/models/port.ts';
import { crashAt } from '../support/ledger/crash.ts';
import { never } from '../support/patterns/scenarios.ts';
import { brainPeers, newPeerMemory, type PeerHabits, type PeerMemory, remote } from '../support/peers/brain-peers.ts';
import { createQuietClock } from '../support/quiet-clock.ts';
import { agent, type Brain, calls, createWorld, reports, says, turnOf, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-remote-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** No process has this number, so its leases are a dead owner's. */
const DEAD_PID = 2 ** 22 + 1;
const RUN = 'run_0000000000000remote' as RunId;
const SESSION = 'ses_0000000000000remote' as SessionId;
const NEVER = Number.POSITIVE_INFINITY;
let files = 0;

interface Play {
  readonly agents: readonly AgentDefinition[];
  readonly brain: Brain;
  readonly habits?: PeerHabits;
  /** What a person says when asked; without it nobody is there. */
  readonly answer?: (question: string) => string;
}

interface Kept extends Play {
  readonly path: string;
  readonly memory: PeerMemory;
}

const newPlay = (play: Play): Kept => ({ ...play, path: join(folder, `${++files}.db`), memory: newPeerMemory() });

interface Life {
  readonly end: RunEnd | undefined;
  readonly appends: readonly string[];
}

/** One process's life: starts or resumes the run, answers what is asked, and dies after so many appends. */
async function live(
  { path, memory, agents, brain, habits = {}, answer }: Kept,
  lastAppend = NEVER,
  prompt = 'Go.',
): Promise<Life> {
  let appends: readonly string[] = [];
  const world = createWorld({
    ...{ path, agents, brain, outside: { modelCalls: [], effects: [], peers: memory }, owner: { pid: DEAD_PID } },
    clock: createQuietClock(),
    engineOptions: { peers: brainPeers(memory, (request) => brain(request, 0), habits) },
    wrapLedger: (inner) => {
      const crashing = crashAt(inner, lastAppend);
      appends = crashing.kinds;
      return crashing.ledger;
    },
  });
  const end = await driven(world, agents, prompt, answer).catch(() => undefined);
  await world.ledger.close();
  return { end, appends };
}

async function driven(world: World, agents: readonly AgentDefinition[], prompt: string, answer: Play['answer']) {
  const resumed = await world.engine.resume(RUN, {});
  if (resumed.kind === 'ended') return { kind: 'ended' as const, result: resumed.result };
  const input = userText(prompt);
  const request = { agent: agents[0]?.name ?? '', input, workspace: folder, run: RUN, session: SESSION };
  const begun = resumed.kind === 'resumed' ? resumed : await world.engine.start(request);
  if (begun.kind !== 'started' && begun.kind !== 'resumed') throw new Error(JSON.stringify(begun));
  for (let going = begun.handle; ; ) {
    const end = await going.done;
    if (end.kind !== 'waiting' || answer === undefined) return end;
    for (const { run, wait, question } of end.waits)
      await world.engine.answer(run, wait, { kind: 'text', text: answer(question) });
    const again = await world.engine.resume(RUN);
    if (again.kind === 'ended') return { kind: 'ended' as const, result: again.result };
    if (again.kind !== 'resumed') throw new Error(JSON.stringify(again));
    going = again.handle;
  }
}

async function eventsOf({ path, agents, brain }: Kept) {
  const world = createWorld({ path, agents, brain });
  const events = await readAll(world.ledger, SESSION);
  const verified = await world.ledger.verify();
  await world.close();
  expect(verified).toMatchObject({ kind: 'sound' });
  return events;
}

const once = (words: readonly string[], what: string) => expect([...new Set(words)], what).toEqual(words);

/** Asks which city, then says how it is there. */
const weather: Brain = (request) => {
  const said = turnOf(request);
  if (said === 1) return calls({ name: 'ask', input: { question: 'Which city?' } });
  return says(`Sun in ${lastWord(request)}.`);
};
const lastWord = ({ messages }: ModelRequest): string => {
  const last = messages.findLast(({ role }) => role === 'user');
  return last?.role === 'user' ? last.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : '';
};

const alone: Play = { agents: [remote('weather')], brain: weather, answer: () => 'Porto' };
const below: Play = {
  agents: [
    agent({ name: 'boss', tools: [], agents: ['middle'] }),
    agent({ name: 'middle', tools: [], agents: ['weather'] }),
    remote('weather'),
  ],
  brain: (request) => {
    if (request.agent === 'weather') return weather(request, 0);
    const next = request.agent === 'boss' ? 'middle' : 'weather';
    if (turnOf(request) === 1) return calls({ name: next, input: { prompt: 'How is it?', reason: 'to know' } });
    return reports(`${request.agent} has heard`);
  },
  answer: (question) => (question === 'Which city?' ? 'Porto' : ''),
};

describe.each([
  { name: 'alone', play: alone, body: 'Sun in Porto.' },
  { name: 'with a budget', play: { ...alone, agents: [remote('weather', { budget: { calls: 9 } })] }, body: 'Sun in Porto.' },
  { name: 'two levels below', play: below, body: 'boss has heard' },
])('an agent elsewhere, $name, that asks back', ({ play, body }) => {
  it('ends as the uncut run does, cut at every append', async () => {
    const whole = newPlay(play);
    const uncut = await live(whole);
    expect(uncut.end).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body } } });
    expect(uncut.appends.length).toBeGreaterThan(8);
    expect(whole.memory.tasks.map(({ taken }) => taken.length)).toEqual([2]);
    for (let cut = 0; cut <= uncut.appends.length; cut += 1) {
      const kept = newPlay(play);
      await live(kept, cut);
      const { end } = await live(kept);
      expect(end, `cut at ${cut}`).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body } } });
      once(kept.memory.taken, `taken twice, cut at ${cut}`);
      expect(kept.memory.tasks, `cut at ${cut}`).toHaveLength(1);
      const events = await eventsOf(kept);
      const states = events.flatMap((event) => (event.event_type === 'peer.state' ? [event.payload.state] : []));
      expect(states, `cut at ${cut}`).toEqual(['input-required', 'completed']);
    }
  });
});

const sunny: Play = { agents: [remote('weather')], brain: () => says('Sun.') };
const bodyOf = (end: RunEnd | undefined) => (end?.kind === 'ended' ? end.result.report.body : end?.kind);

describe('a message that may have been taken', () => {
  /** Dies when the peer has taken the message and its task is not written down yet. */
  async function cutOff(play: Play): Promise<Kept> {
    const { appends } = await live(newPlay(sunny));
    const named = appends.findIndex((kinds) => kinds.includes('peer.task'));
    expect(named).toBeGreaterThan(0);
    const kept = newPlay(play);
    await live(kept, named);
    expect(kept.memory.taken).toHaveLength(1);
    return kept;
  }

  it('is looked for where the peer lists its tasks', async () => {
    const kept = await cutOff({ ...sunny, habits: { lists: true } });
    expect(bodyOf((await live(kept)).end)).toBe('Sun.');
    expect(kept.memory.taken).toHaveLength(1);
  });

  it('is sent again, with the same id, to a peer that takes each once', async () => {
    const kept = await cutOff({ ...sunny, habits: { lists: false, idempotent: true } });
    expect(bodyOf((await live(kept)).end)).toBe('Sun.');
    expect(kept.memory.taken).toHaveLength(1);
    const sent = (await eventsOf(kept)).flatMap((event) => (event.event_type === 'peer.sent' ? [event.payload.message] : []));
    expect(sent).toHaveLength(2);
    expect(new Set(sent).size).toBe(1);
  });

  it('is sent again to no other peer until somebody says so', async () => {
    const kept = await cutOff({ ...sunny, habits: { lists: false } });
    const { end } = await live(kept);
    expect(end).toMatchObject({ kind: 'waiting', waits: [{ kind: 'question', choices: ['again', 'leave it'] }] });
    expect((await live(kept)).end?.kind).toBe('waiting');
    expect(kept.memory.taken).toHaveLength(1);
  });

  it.each([
    { word: 'leave it', taken: 1, body: 'It is not known whether the message was taken' },
    { word: 'again', taken: 2, body: 'Sun.' },
  ])('and "$word" is what is done', async ({ word, taken, body }) => {
    const kept = await cutOff({ ...sunny, habits: { lists: false }, answer: () => word });
    const { end } = await live(kept);
    expect(bodyOf(end)).toContain(body);
    expect(kept.memory.taken).toHaveLength(taken);
  });
});

describe('a peer that cannot be reached', () => {
  it.each(['closed', 'unsent', 'lost', 'perhaps'] as const)('holds the run up and is gone on with later: %s', async (how) => {
    let away: typeof how | undefined = how;
    const kept = newPlay({ ...sunny, habits: { away: () => away } });
    const first = await live(kept);
    expect(first.end).toMatchObject({ kind: 'parked', error: { code: 'peer_network' } });
    const tries = (await eventsOf(kept)).filter(({ event_type }) => event_type === 'model.failed');
    expect(tries).toHaveLength(how === 'lost' ? 1 : limits.peerAttempts);
    expect(kept.memory.taken).toHaveLength(how === 'closed' || how === 'unsent' ? 0 : 1);
    away = undefined;
    expect(bodyOf((await live(kept)).end)).toBe('Sun.');
    expect(kept.memory.taken).toHaveLength(1);
    expect(kept.memory.tasks).toHaveLength(1);
  });

  it('below another run has failed, and that one goes on', async () => {
    const kept = newPlay({
      agents: [agent({ name: 'boss', tools: [], agents: ['weather'] }), remote('weather')],
      brain: (request) =>
        turnOf(request) === 1 ? calls({ name: 'weather', input: { prompt: 'How?', reason: 'to know' } }) : reports('Without it.'),
      habits: { away: () => 'unsent' },
    });
    expect(bodyOf((await live(kept)).end)).toBe('Without it.');
  });
});

describe('a run of an agent elsewhere', () => {
  it('fails in the words of the peer', async () => {
    const failing = newPlay({
      ...sunny,
      brain: () => ({ kind: 'failed', error: { kind: 'refused', message: 'There is no such city.' } }),
    });
    const { end } = await live(failing);
    expect(end).toMatchObject({
      kind: 'ended',
      result: { status: 'failed', error: { code: 'peer_refused', message: 'weather: it failed: There is no such city.' } },
    });
    expect((await live(failing)).end).toEqual(end);
    expect(failing.memory.taken).toHaveLength(1);
  });

  it('keeps what was made, and says what it cost as far as it is known', async () => {
    const kept = newPlay(sunny);
    await live(kept);
    const events = await eventsOf(kept);
    expect(events.find(({ event_type }) => event_type === 'peer.artifact')).toMatchObject({
      payload: { id: 'result', bytes: 4 },
    });
    const response = events.find(({ event_type }) => event_type === 'model.response');
    expect(response).toMatchObject({ payload: { served: 'a2a:weather.test', usage: {} } });
    expect(response?.payload).not.toHaveProperty('cost');
  });

  it('does not start under a budget in dollars that it could not keep', async () => {
    const dear = newPlay({ ...sunny, agents: [remote('weather', { budget: { usd: 1 } })] });
    const world = createWorld({ ...{ path: dear.path, agents: dear.agents, brain: dear.brain }, prices: UNKNOWN });
    const request = { agent: 'weather', input: userText('Go.'), workspace: folder };
    expect(await world.engine.start(request)).toMatchObject({ kind: 'refused', error: { code: 'unknown_price' } });
    await world.close();
  });

  it('counts each message as a call', async () => {
    const kept = newPlay({ ...alone, agents: [remote('weather', { budget: { calls: 1 } })] });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted', exhausted: RUN } });
    expect(kept.memory.taken).toHaveLength(1);
  });

  it('is asked again in the same context when the conversation goes on', async () => {
    const { path, agents, brain } = newPlay(sunny);
    const memory = newPeerMemory();
    const world = createWorld({
      path,
      agents,
      brain,
      engineOptions: { peers: brainPeers(memory, (request) => brain(request, 0)) },
    });
    for (const prompt of ['Today?', 'Tomorrow?']) {
      const begun = await world.engine.start({ agent: 'weather', input: userText(prompt), workspace: folder, session: SESSION });
      if (begun.kind !== 'started') throw new Error(begun.error.message);
      await begun.handle.done;
    }
    await world.close();
    expect(memory.tasks).toHaveLength(2);
    const [context = ''] = memory.contexts.keys();
    expect([...memory.contexts.keys()]).toEqual([context]);
    expect(memory.contexts.get(context)?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});

/** Nobody knows what a peer costs. */
const UNKNOWN = { version: 'none', cost: () => undefined, worstCase: () => undefined };

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
