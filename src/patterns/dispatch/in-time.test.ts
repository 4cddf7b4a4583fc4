/** How long an agent took is what all its attempts took together. */
import { expect, it } from 'vitest';
import { createQuietClock } from '../../../test/support/quiet-clock.ts';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import { sleep } from '../../base/clock.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { userText } from '../../events/messages.ts';
import { foldTimeline, initialTimeline } from '../../projections/timeline.ts';

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

it('says what the provider said last, and never that it was cancelled', async () => {
  const dispatch = { agents: ['slow'], timeout: TIMEOUT, retries: 0 };
  const world = createWorld({
    clock: createQuietClock(),
    agents: [agent({ name: 'house', tools: [], dispatch }), agent({ name: 'slow', tools: [], maxRetries: 50 })],
    brain: ({ agent: name }) => {
      if (name === 'house') return says(JSON.stringify({ agentId: 'slow', confidence: 1 }));
      return { kind: 'failed', error: { kind: 'overloaded', message: 'HTTP 529: busy.' } };
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  const told = events.flatMap((event) => (event.event_type === 'dispatch.responded' ? [event.payload] : []));
  const late = 'timed out after 20ms (dispatch.timeout) before it was done';
  expect(told).toMatchObject([{ errorMessage: `${late}: the last try failed: HTTP 529: busy.` }]);
  const tries = events.flatMap((event) => (event.event_type === 'model.failed' ? [event.payload] : []));
  expect(tries.at(-1)).toMatchObject({ final: true, error: { message: 'It was not done within 20ms (dispatch.timeout).' } });
  const lines = events.reduce(foldTimeline, initialTimeline()).lines.map(({ text }) => text);
  expect(lines.join('\n')).toContain('was stopped (attempt 2): It was not done within 20ms');
  expect(lines.join('\n')).not.toContain('cancel');
  await world.close();
});

it('the pause before another attempt holds up nobody else, and is no work', async () => {
  const DELAY = 500;
  const clock = createQuietClock();
  const choice = {
    ...{ agentId: 'failing', confidence: 1, additionalAgents: ['steady'] },
    agentInstructions: ['failing', 'steady'].map((agentId) => ({ agentId, instruction: 'Do it.' })),
  };
  let tries = 0;
  const world = createWorld({
    clock,
    agents: [
      agent({ name: 'house', tools: [], dispatch: { agents: ['failing', 'steady'], retries: 1, retryDelay: DELAY } }),
      agent({ name: 'failing', tools: [], maxRetries: 0 }),
      agent({ name: 'steady', tools: [] }),
    ],
    brain: async ({ agent: name }) => {
      if (name === 'house') return says(JSON.stringify(choice));
      // It ends in the middle of the pause of the other.
      if (name === 'steady') await sleep(clock, DELAY / 2);
      if (name === 'steady') return says('Done.');
      tries += 1;
      return tries === 2 ? says('At last.') : { kind: 'failed', error: { kind: 'overloaded', message: 'HTTP 529: busy.' } };
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  const responded = events.filter((event) => event.event_type === 'dispatch.responded');
  const [first, second] = events.filter((one) => one.event_type === 'run.started' && one.payload.agent === 'failing');
  expect(responded.map(({ payload }) => payload)).toMatchObject([
    { agentId: 'steady', executionTimeMs: DELAY / 2 },
    { agentId: 'failing', attempts: 2, executionTimeMs: 0 },
  ]);
  expect(responded[0]?.position).toBeLessThan(second?.position ?? 0);
  expect(Date.parse(second?.timestamp ?? '') - Date.parse(first?.timestamp ?? '')).toBe(DELAY);
  await world.close();
});

it("what one of them throws is its failure, and nobody else's", async () => {
  const choice = {
    ...{ agentId: 'broken', confidence: 1, additionalAgents: ['steady'] },
    agentInstructions: ['broken', 'steady'].map((agentId) => ({ agentId, instruction: 'Do it.' })),
  };
  const world = createWorld({
    agents: [
      agent({ name: 'house', tools: [], dispatch: { agents: ['broken', 'steady'], retries: 0 } }),
      ...['broken', 'steady'].map((name) => agent({ name, tools: [] })),
    ],
    brain: ({ agent: name }) => {
      if (name === 'broken') throw new Error('No such record.');
      return says(name === 'house' ? JSON.stringify(choice) : 'Done.');
    },
  });
  const started = await world.engine.start({ agent: 'house', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  expect(end.result.status).toBe('completed');
  expect(end.result.report.body).toMatch(/^Done\. However, Broken could not do its part: .*No such record/);
  await world.close();
});
