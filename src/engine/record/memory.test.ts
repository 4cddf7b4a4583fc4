/** What a live run keeps is what its conversation still holds: no chain of causes leads from its newest event to all before. */
import { expect, it } from 'vitest';
import { followed } from '../../../test/support/collected.ts';
import { agent, calls, createWorld, says } from '../../../test/support/world.ts';
import { userText } from '../../events/messages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Tool } from '../../tools/port.ts';

const TURNS = 120;

it('a run holds few of its events, and of their payloads, however many there were', async () => {
  const told = followed();
  const payloads = followed();
  const written = followed();
  const watched = (ledger: Ledger): Ledger => ({
    ...ledger,
    async append(request) {
      for (const event of request.events) {
        told.follow(event);
        payloads.follow(event.payload);
      }
      const outcome = await ledger.append(request);
      if (outcome.kind === 'appended') for (const event of outcome.events) written.follow(event);
      return outcome;
    },
  });
  const look: Tool = {
    name: 'look',
    description: 'look',
    inputSchema: { type: 'object' },
    replay: 'safe',
    async run(input) {
      const text = `${JSON.stringify(input)} `.padEnd(4_000, 'lorem ipsum ');
      const payload = { path: 'a.ts', before: null, after: text.slice(0, 20), addedLines: 1, removedLines: 0, diff: '' };
      return { kind: 'ok', content: [{ type: 'text', text }], evidence: [{ type: 'file.diff', payload, attachment: text }] };
    },
  };
  const held: Record<string, number>[] = [];
  let turn = 0;
  const world = createWorld({
    agents: [agent({ tools: ['look'], maxTurns: TURNS, contextWindow: 16_000 })],
    tools: [look],
    wrapLedger: watched,
    brain: async () => {
      turn += 1;
      if (turn === TURNS) held.push({ told: await told.held(), payloads: await payloads.held(), written: await written.held() });
      const outcome = turn < TURNS ? calls({ name: 'look', input: { turn } }) : says('Done.');
      return outcome.kind === 'answer' ? { ...outcome, answer: { ...outcome.answer, usage: {} } } : outcome;
    },
  });
  const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', turns: TURNS } });
  await world.close();
  expect(told.count()).toBeGreaterThan(5 * TURNS);
  expect(written.count()).toBe(told.count());
  // What is held is of the last few turns.
  expect(held).toHaveLength(1);
  for (const count of Object.values(held[0] ?? {})) expect(count).toBeLessThan(TURNS / 4);
});
