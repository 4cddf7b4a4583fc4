/** What an agent elsewhere says that its work took is counted however the work ended: done, failed or cancelled. */
import { expect, it } from 'vitest';
import { foldCosts, initialCosts } from '../../src/projections/costs.ts';
import { never } from '../support/patterns/scenarios.ts';
import { remote } from '../support/peers/brain-peers.ts';
import { alone, eventsOf, type Kept, live, newPlay, spentIn } from '../support/peers/remote-play.ts';
import { type Brain, says } from '../support/world.ts';

const usage = { inputTokens: 30, outputTokens: 4 };
const failing: Brain = () => ({ kind: 'failed', error: { kind: 'refused', message: 'There is no such city.' } });

async function counted(kept: Kept) {
  const events = await eventsOf(kept);
  const { inputTokens, outputTokens, uncountedCalls, nanoUsd } = events.reduce(foldCosts, initialCosts()).total;
  const settled = events.flatMap((event) => (event.event_type === 'budget.settled' ? [event.payload.spent] : []));
  return { inputTokens, outputTokens, uncountedCalls, nanoUsd, settled, ...spentIn(events) };
}

const ends = [
  { how: 'done', brain: (() => says('Sun.')) satisfies Brain, status: 'completed' },
  { how: 'failed', brain: failing, status: 'failed' },
  { how: 'cancelled for want of time', brain: never, status: 'budget_exhausted' },
];

it.each(ends)('what a task took that was $how', async ({ brain, status }) => {
  const agents = [remote('weather', { budget: { tokens: 1_000, wall: 20, allowUnknownPrices: true } })];
  const kept = newPlay({ agents, brain, habits: { usage } });
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status } });
  expect(await counted(kept)).toEqual({
    ...usage,
    ...{ uncountedCalls: 0, nanoUsd: 0 },
    ...{ calls: 1, unknownCalls: 1, models: ['a2a:weather.test'] },
    settled: [{ calls: 1, tokens: 34 }],
  });
});

it.each(ends)('what a task cost that was $how is what it says, in dollars of a budget too', async ({ brain, status }) => {
  const budget = { usd: 1, wall: 20, allowUnknownPrices: true };
  const kept = newPlay({ agents: [remote('weather', { budget })], brain, habits: { nanoUsd: 250_000_000 } });
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status } });
  expect(await counted(kept)).toMatchObject({
    ...{ calls: 1, unknownCalls: 0, nanoUsd: 250_000_000, inputTokens: 0, outputTokens: 0, uncountedCalls: 1 },
    settled: [{ calls: 1, nanoUsd: 250_000_000 }],
  });
});

it.each(ends)('of a task that was $how and says nothing neither tokens nor dollars are known', async ({ brain, status }) => {
  const kept = newPlay({ agents: [remote('weather', { budget: { calls: 5, wall: 20 } })], brain });
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status } });
  expect(await counted(kept)).toMatchObject({ calls: 1, unknownCalls: 1, uncountedCalls: 1, nanoUsd: 0 });
});

it('what a task took that was cancelled when it waited for an answer has been counted with its question', async () => {
  const kept = newPlay({ ...alone, agents: [remote('weather', { budget: { calls: 1 } })], habits: { usage } });
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
  expect(await counted(kept)).toMatchObject({ ...usage, calls: 1, settled: [{ calls: 1, tokens: 34 }] });
});

/** What it took, and nobody knows what came of it. */
const garbled = { kind: 'bad_response', message: 'Its answer cannot be read' } as const;
it.each([
  { said: ['leave it'], calls: 1 },
  { said: ['again', 'leave it'], calls: 2 },
])('each message that may have been taken is a call at an unknown price: $said', async ({ said, calls }) => {
  const words = [...said];
  const habits = { lists: false, garbled };
  const kept = newPlay({
    agents: [remote('weather')],
    brain: () => says('Sun.'),
    habits,
    answer: () => words.shift() ?? 'leave it',
  });
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'failed' } });
  expect(kept.memory.taken).toHaveLength(calls);
  expect(await counted(kept)).toMatchObject({ calls, unknownCalls: calls, uncountedCalls: calls, models: ['a2a:weather.test'] });
});

it('so is one whose task the agent has forgotten, and one that is asked for again and done', async () => {
  let [away, forgets]: ['lost' | undefined, boolean] = ['lost', false];
  const habits = { away: () => away, forgets: () => forgets };
  const kept = newPlay({ agents: [remote('weather')], brain: () => says('Sun.'), habits });
  expect((await live(kept)).end).toMatchObject({ kind: 'parked' });
  // It is at work there: what it took is told with its answer.
  expect(await counted(kept)).toMatchObject({ calls: 0 });
  [away, forgets] = [undefined, true];
  expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'failed' } });
  expect(await counted(kept)).toMatchObject({ calls: 1, unknownCalls: 1, uncountedCalls: 1 });
});
