/** What is kept of a loop in a runner is what its conversation still holds, however long it lasts. */
import { afterAll, expect, it } from 'vitest';
import { followed } from '../../../test/support/collected.ts';
import { scriptedPorts, testLimits, watchProcesses } from '../../../test/support/runner/scripted-ports.ts';
import { systemClock } from '../../base/clock.ts';
import { createLoopHost } from './host.ts';

const TURNS = 120;
const host = createLoopHost({ clock: systemClock, settings: { warm: 1 } });
afterAll(() => host.close());

it('lets go of answers and results that were condensed away', async () => {
  const results = followed();
  const answers = followed();
  const held: { readonly results: number; readonly answers: number }[] = [];
  const { input, ports, protocol } = scriptedPorts({
    replies: (turn) => (turn < TURNS ? [{ input: { turn } }] : 'Done.'),
    result: (_call, turn) => `${turn} `.padEnd(4_000, 'lorem ipsum '),
    input: { limits: { ...testLimits, maxTurns: TURNS, contextWindow: 16_000 } },
    during: async (key) => {
      if (key === `model/${TURNS}`) held.push({ results: await results.held(), answers: await answers.held() });
    },
  });
  const { model, tools } = ports;
  const watched = {
    ...ports,
    model: {
      ...model,
      async ask(...asked: Parameters<typeof model.ask>) {
        const outcome = await model.ask(...asked);
        if (outcome.kind === 'answer') answers.follow(outcome.answer.message);
        return outcome;
      },
    },
    tools: {
      ...tools,
      async call(...asked: Parameters<typeof tools.call>) {
        const result = await tools.call(...asked);
        results.follow(result);
        return result;
      },
    },
  };
  expect(await host.run(input, watched, watchProcesses().hosted)).toMatchObject({ status: 'completed' });
  expect(results.count()).toBe(TURNS - 1);
  const condensed = protocol.filter((line) => line.startsWith('condense/')).length;
  expect(condensed).toBeGreaterThan(3);
  // A window of 16,000 tokens has room for no more than sixteen of them.
  expect(held).toHaveLength(1);
  expect(held[0]?.results).toBeLessThan(20);
  expect(held[0]?.results).toBeGreaterThan(0);
  expect(held[0]?.answers).toBeLessThan(20);
});
