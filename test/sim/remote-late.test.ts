/** An agent that lives elsewhere and is not done in time: whoever waited for it is told what was known of it last. */
import { expect, it } from 'vitest';
import { never } from '../support/patterns/scenarios.ts';
import { type PeerHabits, remote } from '../support/peers/brain-peers.ts';
import { bodyOf, eventsOf, type Kept, live, newPlay } from '../support/peers/remote-play.ts';
import { agent, type Brain, says } from '../support/world.ts';

const TIMEOUT = 20;
const LATE = `timed out after ${TIMEOUT}ms (dispatch.timeout) before it was done`;

/** A house that sends everything to one agent elsewhere, which is late. */
function lateHouse(brain: Brain, habits: PeerHabits = {}, retries = 0): Kept {
  const dispatch = { agents: ['far'], timeout: TIMEOUT, retries, retryDelay: 1 };
  return newPlay({
    agents: [agent({ name: 'house', tools: [], dispatch }), remote('far')],
    brain: (request, call) =>
      request.agent === 'house' ? says(JSON.stringify({ agentId: 'far', confidence: 1 })) : brain(request, call),
    habits,
  });
}

async function responses(kept: Kept): Promise<readonly (string | null)[]> {
  return (await eventsOf(kept)).flatMap((event) =>
    event.event_type === 'dispatch.responded' ? [event.payload.errorMessage] : [],
  );
}

it.each([
  { name: 'at work', habits: {}, last: 'far was at it' },
  { name: 'not to be reached', habits: { away: () => 'unsent' as const }, last: 'the last try failed: nobody is there' },
  { name: 'without a card', habits: { away: () => 'closed' as const }, last: 'the last try failed: there is no card' },
])('a dispatch says of one that was late what it was last: $name', async ({ habits, last }) => {
  const kept = lateHouse(never, habits);
  await live(kept);
  expect(await responses(kept)).toEqual([`${LATE}: ${last}`]);
});

it('and so does the end of the run whose time was over', async () => {
  const kept = newPlay({ agents: [remote('far', { budget: { wall: TIMEOUT } })], brain: never });
  const { end } = await live(kept);
  const message = `It was not done within ${TIMEOUT}ms (budget.wall): far was at it.`;
  expect(end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted', error: { message, last: 'far was at it' } } });
  expect(bodyOf(end)).toContain(message);
});

it('says what the ledger has when the process died in between', async () => {
  const whole = lateHouse(never);
  const { appends } = await live(whole);
  const cancelled = appends.findIndex((kinds) => kinds.includes('peer.cancelled'));
  expect(cancelled).toBeGreaterThan(0);
  const kept = lateHouse(never);
  await live(kept, cancelled + 1);
  await live(kept);
  expect(await responses(kept)).toEqual([`${LATE}: it was still at work`]);
});

it.each([
  { name: 'ends for us when it is late is tried again', habits: {}, times: 2 },
  { name: 'works on is not tried again: it would be done twice', habits: { endures: true }, times: 1 },
  { name: 'cannot be reached any more is not either', habits: { away: () => 'lost' as const }, times: 1 },
])('a task that $name', async ({ habits, times }) => {
  const kept = lateHouse(never, habits, 1);
  await live(kept);
  expect(kept.memory.taken).toHaveLength(times);
  expect(await responses(kept)).toHaveLength(1);
});

it('and not either by another process that finds it so', async () => {
  const { appends } = await live(lateHouse(never, { endures: true }, 1));
  const cancelled = appends.findIndex((kinds) => kinds.includes('peer.cancelled'));
  const kept = lateHouse(never, { endures: true }, 1);
  await live(kept, cancelled + 1);
  await live(kept);
  expect(kept.memory.taken).toHaveLength(1);
});
