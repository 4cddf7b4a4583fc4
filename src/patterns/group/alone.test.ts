/** An agent that reviews its own work: `group: {mode: reflect}` without workers. */
import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import {
  fastClock,
  type GroupRunOptions,
  judges,
  type Player,
  payloads,
  runGroup,
} from '../../../test/support/patterns/group-on-engine.ts';
import { agent, calls, reports, says, turnOf, worldTools } from '../../../test/support/world.ts';

const kept = closedAfterwards();

async function play(player: Player, group: Partial<GroupRunOptions['group']> = {}, more: Partial<GroupRunOptions> = {}) {
  const told = await runGroup({ group: { mode: 'reflect', ...group }, player, ...more });
  kept(told.world);
  return { ...told, ending: payloads(told.events, 'group.ended')[0] };
}

/** Round by round, from the first. */
const saying =
  (...answers: readonly string[]): Player =>
  ({ request, part }) =>
    part === 'evaluate' ? undefined : says(answers[Math.min(turnOf(request), answers.length) - 1] ?? '');

describe('a loop of one', () => {
  it('goes on until it says on a line of its own that it is done', async () => {
    const { result, ending, asked } = await play(saying('Draft.', 'Better.', 'Best.\n[[REFLECTION_COMPLETE]]'));
    expect(result).toMatchObject({ status: 'completed', report: { body: 'Best.' }, finalAgent: 'lead' });
    expect(ending).toMatchObject({ reason: 'goal_met', iterations: 3, outcome: 'met' });
    expect(asked[0]?.text).toContain('Build it.');
    expect(asked[1]?.text).toMatch(/^Look at your answer again/);
    // It sees what it had said.
    expect(asked[2]?.request.messages.map((message) => message.role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('keeps the answer when the last word is only the sentinel', async () => {
    const { result, ending } = await play(saying('The answer.', '[[REFLECTION_COMPLETE]]'));
    expect(result.report.body).toBe('The answer.');
    expect(ending).toMatchObject({ reason: 'goal_met', iterations: 2 });
  });

  it('does not take the word in a sentence for the end', async () => {
    const { ending, result } = await play(
      saying('I will say [[REFLECTION_COMPLETE]] later.', 'Is `[[REFLECTION_COMPLETE]]` a word?', 'x [[REFLECTION_COMPLETE]]'),
      { maxIterations: 3 },
    );
    expect(ending).toMatchObject({ reason: 'max_iterations', iterations: 3, outcome: 'missed' });
    expect(result).toMatchObject({ status: 'completed_unverified', error: { code: 'max_iterations' } });
  });

  it('stops when it says the same again', async () => {
    const { ending } = await play(saying('The same.'));
    expect(ending).toMatchObject({ reason: 'stalled', iterations: 3, outcome: 'missed' });
  });

  it('leaves it to the evaluator, if there is one', async () => {
    const player: Player = ({ part, round, request }) =>
      part === 'evaluate'
        ? judges(round === 3 ? 0.95 : 0.4, `lacks ${round}`)
        : says(`Version ${turnOf(request)}.\n[[REFLECTION_COMPLETE]]`);
    const { ending, asked, result } = await play(player, { evaluator: 'judge' });
    expect(ending).toMatchObject({ reason: 'goal_met', iterations: 3 });
    expect(result.report.body).toBe('Version 3.');
    expect(asked.find((one) => one.text.startsWith('Look at your answer'))?.text).toContain('lacks 1');
    expect(asked[0]?.text).not.toContain('REFLECTION_COMPLETE');
  });

  it('works with its own tools, which a planner would not have', async () => {
    const outside = { modelCalls: [], effects: [] as string[] };
    const player: Player = ({ request }) => {
      const last = request.messages.at(-1);
      if (last?.role !== 'tool') return calls({ name: 'act', input: { name: `${turnOf(request)}` } });
      return reports(turnOf(request) > 3 ? 'Done.\n[[REFLECTION_COMPLETE]]' : 'Half.');
    };
    const agents = [agent({ name: 'lead', tools: ['act'], group: { mode: 'reflect' } })];
    const { result, ending } = await play(player, {}, { agents, outside, tools: worldTools(outside) });
    expect(result).toMatchObject({ status: 'completed', report: { body: 'Done.' } });
    expect(ending?.iterations).toBe(2);
    expect(outside.effects).toHaveLength(2);
  });

  it('tries again after an error, in the same iteration', async () => {
    let failures = 0;
    const player: Player = (asked) =>
      asked.text.startsWith('Look') && ++failures <= 2
        ? { kind: 'failed', error: { kind: 'auth', message: 'no key' } }
        : saying('Draft.', 'Better.\n[[REFLECTION_COMPLETE]]')(asked);
    const { ending } = await play(player, {}, { clock: fastClock });
    expect(ending).toMatchObject({ reason: 'goal_met', iterations: 2 });
  });

  it('judges an answer in JSON in a question of its own', async () => {
    const player: Player = ({ request, text }) => {
      if (text.startsWith('Is your last answer')) return says(turnOf(request) > 3 ? '[[REFLECTION_COMPLETE]]' : 'Too short.');
      return says(`{"n":${turnOf(request)}}`);
    };
    const { result, ending } = await play(player, {}, { lead: { output: { format: 'json' } } });
    expect(ending).toMatchObject({ reason: 'goal_met', iterations: 3 });
    expect(JSON.parse(result.report.body)).toEqual({ n: 3 });
  });
});
