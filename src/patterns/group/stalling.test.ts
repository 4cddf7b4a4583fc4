/** A loop that stands still is stopped; one that was paused goes on, and what the runtime saw counts more than words. */
import { describe, expect, it } from 'vitest';
import {
  fastClock,
  type GroupRun,
  HELD_RUN,
  holdLoop,
  type Player,
  payloads,
  runsOf,
} from '../../../test/support/patterns/group-on-engine.ts';
import { calls, reports, type World } from '../../../test/support/world.ts';
import { sleep } from '../../base/clock.ts';
import { type Tool, textResult } from '../../tools/port.ts';

const ending = ({ events }: Pick<GroupRun, 'events'>) => payloads(events, 'group.ended')[0];
const SAME = 'the same words again and again\n[[NEEDS_ITERATION]]';

describe('a group that stands still', () => {
  const stays: Player = ({ part }) => (part === 'synthesis' ? SAME : undefined);

  it('warns once, then stops', async () => {
    const { events } = await holdLoop({}, stays, () => undefined);
    expect(payloads(events, 'group.stalled')).toMatchObject([
      { iteration: 2, consecutive: 1, stops: false, similarity: 1 },
      { iteration: 3, consecutive: 2, stops: true, similarity: 1 },
    ]);
    const [first, second] = payloads(events, 'group.evaluated');
    expect(first?.advice).toBeUndefined();
    expect(second?.advice).toEqual(['The answer is almost the same as before: try something different.']);
  });

  it('begins to count anew after a pause', async () => {
    let world: World | undefined;
    let paused = false;
    const player: Player = async (asked) => {
      if (asked.part === 'replan' && asked.round === 3 && !paused) {
        paused = true;
        await world?.engine.pause(HELD_RUN, 'let me see');
      }
      return stays(asked);
    };
    const told = await holdLoop({ maxIterations: 10 }, player, (made) => {
      world = made;
    });
    expect(payloads(told.events, 'run.paused')).toHaveLength(1);
    // Without the pause it would have ended in the third iteration.
    expect(payloads(told.events, 'group.stalled').map(({ iteration, consecutive }) => [iteration, consecutive])).toEqual([
      [2, 1],
      [4, 1],
      [5, 2],
    ]);
    expect(ending(told)).toMatchObject({ reason: 'stalled', iterations: 5 });
  });

  it.each([
    [
      'a new change of a file',
      (round: number) => ({ path: 'a.ts', after: `content ${round}`, passed: true }),
      'max_iterations',
      6,
    ],
    ['another file each time', (round: number) => ({ path: `a${round}.ts`, after: 'x', passed: true }), 'max_iterations', 6],
    ['a test that ends otherwise', (round: number) => ({ path: 'a.ts', after: 'x', passed: round === 2 }), 'stalled', 5],
    ['the same change again', () => ({ path: 'a.ts', after: 'x', passed: true }), 'stalled', 3],
    ['back and forth', (round: number) => ({ path: 'a.ts', after: `content ${round % 2}`, passed: true }), 'stalled', 4],
  ] as const)('what the runtime saw outranks the words: %s', async (_name, made, reason, iterations) => {
    let round = 0;
    const build: Tool = {
      name: 'build',
      description: 'Builds.',
      inputSchema: { type: 'object' },
      replay: 'safe',
      async run() {
        round += 1;
        const { path, after, passed } = made(round);
        return {
          ...textResult('built'),
          evidence: [
            { type: 'file.diff', payload: { path, before: null, after, addedLines: 1, removedLines: 0, diff: '' } },
            { type: 'test.report', payload: { command: 'npm test', exitCode: passed ? 0 : 1, passed } },
          ],
        };
      },
    };
    const player: Player = ({ agent, part, text, request }) => {
      if (part === 'synthesis') return SAME;
      const worked = request.messages.at(-1)?.role === 'tool';
      if (agent === 'coder') return worked ? reports(`built ${text.length}`) : calls({ name: 'build', input: {} });
      return undefined;
    };
    const told = await holdLoop({ maxIterations: 6 }, player, () => undefined, [build]);
    expect(ending(told)).toMatchObject({ reason, iterations });
  });
});

describe('pausing', () => {
  it('stops before the next step and goes on from there', async () => {
    let world: World | undefined;
    let paused = false;
    const player: Player = async (asked) => {
      if (asked.part === 'work' && !paused) {
        paused = true;
        await world?.engine.pause(HELD_RUN, 'lunch');
        await sleep(fastClock, 2_000);
      }
      return undefined;
    };
    const told = await holdLoop({ maxIterations: 2 }, player, (made) => {
      world = made;
    });
    expect(payloads(told.events, 'run.paused')).toEqual([{ reason: 'lunch' }]);
    expect(ending(told)).toMatchObject({ reason: 'max_iterations', iterations: 2 });
    // No task was given out twice.
    expect([runsOf(told.events, 'coder').length, runsOf(told.events, 'tester').length]).toEqual([2, 2]);
  });
});
