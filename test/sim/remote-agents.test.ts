/**
 * Agents that live elsewhere, through crashes: cut at every append, every message is taken once, every task is begun once, and
 * the run ends as the uncut one does. What the peer has taken is memory of the outside.
 */
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { seededRandom } from '../../src/base/random.ts';
import { waitLines } from '../../src/cli/view/run-summary.ts';
import type { RunEnd } from '../../src/engine/port.ts';
import { readAll } from '../../src/engine/record/read-all.ts';
import { textOf, userText } from '../../src/events/messages.ts';
import { brainPeers, newPeerMemory, remote } from '../support/peers/brain-peers.ts';
import {
  alone,
  bodyOf,
  eventsOf,
  folder,
  type Kept,
  live,
  newPlay,
  once,
  type Play,
  RUN,
  SESSION,
  spentIn,
  sunny,
  weather,
} from '../support/peers/remote-play.ts';
import { agent, type Brain, calls, createWorld, reports, says, turnOf } from '../support/world.ts';

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

  it('ends although every life is cut short', async () => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const random = seededRandom(seed);
      const kept = newPlay(play);
      let end: RunEnd | undefined;
      for (let life = 0; life < 100 && end?.kind !== 'ended'; life += 1)
        ({ end } = await live(kept, 2 + Math.floor(random.fraction() * 6)));
      expect(end, `seed ${seed}`).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body } } });
      once(kept.memory.taken, `taken twice, seed ${seed}`);
      expect(kept.memory.tasks, `seed ${seed}`).toHaveLength(1);
      await eventsOf(kept);
    }
  });
});

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

  it('is looked for to be ended when its run is cancelled', async () => {
    const kept = await cutOff({ ...sunny, habits: { lists: true } });
    const { path, agents, brain, memory } = kept;
    const world = createWorld({ path, agents, brain, engineOptions: { peers: brainPeers(memory, () => says('Sun.')) } });
    expect(await world.engine.cancel(RUN, 'Enough.')).toMatchObject({ kind: 'accepted' });
    await world.close();
    expect(memory.cancelled).toEqual(['task-1']);
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

  it('is asked about with what came back, also after a crash', async () => {
    const garbled = {
      kind: 'bad_response' as const,
      message: 'Its answer cannot be read: <html>\n',
      fix: 'see what speaks there',
    };
    const asked = async (kept: Kept): Promise<string> => {
      const { end } = await live(kept);
      return end?.kind === 'waiting' && end.waits[0]?.kind === 'question' ? end.waits[0].question : '';
    };
    const kept = newPlay({ ...sunny, habits: { lists: false, garbled } });
    const question = await asked(kept);
    expect(question).toContain('Its answer cannot be read: <html>');
    expect(question).toContain('See what speaks there');
    expect(question).not.toContain('connection');
    expect(await asked(kept)).toBe(question);
    expect(await asked(await cutOff({ ...sunny, habits: { lists: false } }))).toContain('The connection to weather was lost');
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
  it('fails when its task was cancelled there by somebody else, and is not begun anew', async () => {
    const kept = newPlay(sunny);
    kept.memory.cancelled.push('task-1');
    expect((await live(kept)).end).toMatchObject({
      kind: 'ended',
      result: { status: 'failed', error: { message: expect.stringContaining('it was cancelled there') } },
    });
    expect(kept.memory.taken).toHaveLength(1);
  });

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
    // It was asked, and what that cost is not known: never nothing.
    expect(spentIn(await eventsOf(failing))).toEqual({ calls: 1, unknownCalls: 1, models: ['a2a:weather.test'] });
  });

  it.each(['', ' \n'])('that is done and says nothing has done it, and is asked nothing more: %j', async (words) => {
    const silent = newPlay({ ...sunny, brain: () => says(words) });
    expect((await live(silent)).end).toMatchObject({
      kind: 'ended',
      result: { status: 'completed', report: { body: '(weather has done it and said nothing)' } },
    });
    expect(silent.memory.taken).toHaveLength(1);
  });

  it('that does not answer in the form that was asked for is not told to try again', async () => {
    const wrong = newPlay({ ...sunny, agents: [remote('weather', { output: { format: 'json' } })] });
    expect((await live(wrong)).end).toMatchObject({
      kind: 'ended',
      result: { status: 'failed', error: { code: 'no_report', message: expect.stringContaining('is not valid JSON') } },
    });
    expect(wrong.memory.taken).toHaveLength(1);
  });

  it('hears answers to its questions and nothing else, up to its last turn', async () => {
    const brain: Brain = (request) =>
      turnOf(request) < 7 ? calls({ name: 'ask', input: { question: 'Which city?' } }) : says('Sun.');
    const asking = newPlay({ ...alone, agents: [remote('weather', { maxTurns: 7 })], brain });
    expect(bodyOf((await live(asking)).end)).toBe('Sun.');
    const heard = [...asking.memory.contexts.values()].flat().filter(({ role }) => role === 'user');
    expect(heard.map(({ content }) => textOf(content))).toEqual(['Go.', ...Array(6).fill('Porto')]);
  });

  it.each([1, 2])('that asks on the last of its %i turns fails with the question, and its task is ended', async (maxTurns) => {
    const brain: Brain = () => calls({ name: 'ask', input: { question: 'Which city?' } });
    const asking = newPlay({ ...alone, agents: [remote('weather', { maxTurns })], brain });
    const { end } = await live(asking);
    expect(end).toMatchObject({
      kind: 'ended',
      result: { status: 'failed', error: { code: 'no_report', message: expect.stringContaining('Which city?') } },
    });
    expect(asking.memory.taken).toHaveLength(maxTurns);
    expect(asking.memory.cancelled).toEqual(['task-1']);
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

  it('is not asked below a budget in dollars that it could not keep, and the one above goes on', async () => {
    const budget = { usd: 1, allowUnknownPrices: true };
    const { path, agents, brain, memory } = newPlay({
      agents: [agent({ name: 'boss', tools: [], agents: ['weather'], budget }), remote('weather')],
      brain: (request) =>
        turnOf(request) === 1 ? calls({ name: 'weather', input: { prompt: 'How?', reason: 'to know' } }) : reports('Without it.'),
    });
    const peers = brainPeers(memory, () => says('Sun.'));
    const world = createWorld({ path, agents, brain, prices: UNKNOWN, engineOptions: { peers } });
    const begun = await world.engine.start({ agent: 'boss', input: userText('Go.'), workspace: folder, session: SESSION });
    if (begun.kind !== 'started') throw new Error(begun.error.message);
    expect(bodyOf(await begun.handle.done)).toBe('Without it.');
    const events = await readAll(world.ledger, SESSION);
    const refused = events.flatMap((event) => (event.event_type === 'task.error' ? [event.payload] : []));
    expect(refused).toMatchObject([
      { code: 'unknown_price', message: expect.stringContaining('What weather costs is not known') },
    ]);
    expect(memory.taken).toEqual([]);
    await world.close();
  });

  it('asks under the name that it works under', async () => {
    const workers = ['weather', { agent: 'weather', name: 'second' }];
    const lead = agent({ name: 'lead', tools: [], group: { mode: 'broadcast', workers } });
    const { end } = await live(newPlay({ agents: [lead, remote('weather')], brain: weather }));
    const waits = end?.kind === 'waiting' ? end.waits : [];
    expect(waits.map(({ agent: name, member = '' }) => [name, member]).toSorted()).toEqual([
      ['weather', ''],
      ['weather', 'second'],
    ]);
    const lines = waitLines(waits, 'troupe').filter((line) => line.includes('asks:'));
    expect(lines.toSorted()).toEqual(['second (weather) asks: Which city?', 'weather asks: Which city?']);
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
