/** A card that changes while its task is under way: what was begun at an address goes on there, or the run says why it cannot. */
import { describe, expect, it } from 'vitest';
import { userText } from '../../src/events/messages.ts';
import { brainPeers } from '../support/peers/brain-peers.ts';
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
  sunny,
} from '../support/peers/remote-play.ts';
import { createWorld, says } from '../support/world.ts';

describe('a card that names another address while something is under way', () => {
  const HERE = 'https://weather.test/a2a';
  const ELSEWHERE = 'https://elsewhere.test/a2a';
  type Addresses = readonly [string, ...string[]];

  /** Dies at the first append of this kind; then the card says something else. */
  async function changed(play: Play, kind: string, after: Addresses): Promise<Kept> {
    let named: Addresses = [HERE];
    const whole = { ...play, habits: { ...play.habits, addresses: () => named } };
    const { appends } = await live(newPlay(whole));
    const cut = appends.findIndex((kinds) => kinds.includes(kind));
    expect(cut).toBeGreaterThan(0);
    const kept = newPlay(whole);
    await live(kept, cut);
    named = after;
    return kept;
  }
  const askedAt = async (kept: Kept) =>
    (await eventsOf(kept)).flatMap((event) => (event.event_type === 'peer.sent' ? [event.payload.address] : []));

  /** Its task is known, its message may have been taken, its question waits for the answer. */
  const times = [
    ['the task is known', sunny, 'model.response', 'Sun.'],
    ['nobody knows whether there is a task', sunny, 'peer.task', 'Sun.'],
    ['it would be sent again', { ...sunny, habits: { lists: false, idempotent: true } }, 'peer.task', 'Sun.'],
    ['the task waits for an answer', alone, 'approval.answered', 'Sun in Porto.'],
  ] as const;

  it.each(times)('besides the one where it is: it is gone on with there, when %s', async (_when, play, kind, body) => {
    const kept = await changed(play, kind, [ELSEWHERE, HERE]);
    expect(bodyOf((await live(kept)).end)).toBe(body);
    once(kept.memory.taken, 'taken twice');
    expect(new Set(await askedAt(kept))).toEqual(new Set([HERE]));
  });

  it.each(times)(
    'and no more the one where it is: nobody else is asked, and the run says so, when %s',
    async (_when, play, kind) => {
      const kept = await changed(play, kind, [ELSEWHERE]);
      const before = kept.memory.taken.length;
      expect((await live(kept)).end).toMatchObject({
        kind: 'ended',
        result: {
          status: 'failed',
          error: {
            code: 'peer_refused',
            message: expect.stringContaining(`its task is at ${HERE}, which its card does not name any more`),
            fix: expect.stringContaining('see why the card has changed'),
          },
        },
      });
      expect(kept.memory).toMatchObject({ taken: { length: before }, cancelled: [] });
      expect(new Set(await askedAt(kept))).toEqual(new Set([HERE]));
    },
  );

  it('does not have another told to end it', async () => {
    const kept = await changed(sunny, 'model.response', [ELSEWHERE]);
    const { path, agents, brain, memory, habits = {} } = kept;
    const world = createWorld({ path, agents, brain, engineOptions: { peers: brainPeers(memory, () => says('Sun.'), habits) } });
    expect(await world.engine.cancel(RUN, 'Enough.')).toMatchObject({ kind: 'accepted' });
    await world.close();
    expect(memory.cancelled).toEqual([]);
    const told = (await eventsOf(kept)).flatMap((event) => (event.event_type === 'peer.cancelled' ? [event.payload] : []));
    expect(told).toMatchObject([{ reached: false, why: expect.stringContaining(HERE) }]);
  });

  it('is where the next one is begun, when that is over', async () => {
    let named: Addresses = [HERE];
    const kept = newPlay({ ...sunny, habits: { addresses: () => named } });
    const { path, agents, brain, memory, habits = {} } = kept;
    const world = createWorld({ path, agents, brain, engineOptions: { peers: brainPeers(memory, () => says('Sun.'), habits) } });
    for (const prompt of ['Today?', 'Tomorrow?']) {
      const begun = await world.engine.start({ agent: 'weather', input: userText(prompt), workspace: folder, session: SESSION });
      if (begun.kind !== 'started') throw new Error(begun.error.message);
      expect(bodyOf(await begun.handle.done)).toBe('Sun.');
      named = [ELSEWHERE];
    }
    await world.close();
    expect(await askedAt(kept)).toEqual([HERE, ELSEWHERE]);
  });
});
