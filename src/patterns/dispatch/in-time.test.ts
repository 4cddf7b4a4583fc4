/** How long an agent took is what all its attempts took together. */
import { expect, it } from 'vitest';
import { createQuietClock } from '../../../test/support/quiet-clock.ts';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { userText } from '../../events/messages.ts';

const TIMEOUT = 20;

it('every attempt has its own time, and all of them are told as one', async () => {
  const dispatch = { agents: ['slow'], timeout: TIMEOUT, retries: 2, retryDelay: 5 };
  const world = createWorld({
    clock: createQuietClock(),
    agents: [agent({ name: 'house', tools: [], dispatch }), agent({ name: 'slow', tools: [] })],
    brain: async ({ agent: name, signal }) => {
      if (name === 'house') return says(JSON.stringify({ agentId: 'slow', confidence: 1 }));
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      return says('Late.');
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  const told = events.flatMap((event) => (event.event_type === 'dispatch.responded' ? [event.payload] : []));
  expect(told).toMatchObject([{ agentId: 'slow', success: false, attempts: 3 }]);
  expect(told[0]?.executionTimeMs).toBeGreaterThanOrEqual(3 * TIMEOUT);
  await world.close();
});
