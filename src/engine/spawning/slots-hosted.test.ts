/** Slots in a driven session: whoever asks another agent, the first time or again, does not hold the slot that it needs. */
import { describe, expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { agent, type Brain, calls, createWorld, reports, turnOf } from '../../../test/support/world.ts';
import { runLoop } from '../../loop/loop.ts';
import type { LoopHost } from '../../runner/port.ts';

const kept = closedAfterwards();

/** Sessions are counted as hosted ones are, and run here. */
const host: LoopHost = {
  run: (input, ports) => runLoop(input, ports),
  warm: () => undefined,
  close: async () => undefined,
};

describe('with one slot', () => {
  it('an agent that asks another one for a clarification comes to its end', async () => {
    const brain: Brain = (asked) => {
      if (asked.agent === 'helper') return reports('As I said.');
      if (turnOf(asked) === 1) return calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } });
      if (turnOf(asked) > 2) return reports('Done.');
      return calls({ name: 'ask_clarification', input: { id: 'helper-1.0', question: 'What?' } });
    };
    const agents = [
      agent({ agents: ['helper'], isolation: 'process' }),
      agent({ name: 'helper', chat: true, isolation: 'process', maxTurns: 5 }),
    ];
    const world = kept(createWorld({ brain, agents, engineOptions: { host, assistants: { active: 1 } } }));
    expect(await resultOf(await start(world))).toMatchObject({ report: { body: 'Done.' } });
    expect(world.outside.modelCalls).toHaveLength(5);
  });
});
