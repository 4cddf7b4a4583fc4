/** The loop: every way out of it, how it judges, and what becomes of trouble on the way. */

import { describe, expect, it } from 'vitest';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import {
  breaks,
  fastClock,
  type Group,
  type GroupRun,
  type GroupRunOptions,
  HELD_RUN,
  hangs,
  holdLoop,
  judges,
  type Player,
  payloads,
  runGroup,
  runsOf,
  sendTo,
} from '../../../test/support/patterns/group-on-engine.ts';
import { says, type World } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { roleInTree } from '../../events/run-origin.ts';

const kept = closedAfterwards();

const workers = ['coder', 'tester'];

async function play(group: Partial<Group>, player?: Player, more: Partial<GroupRunOptions> = {}): Promise<GroupRun> {
  const told = await runGroup({
    group: { mode: 'reflect', workers, ...group },
    ...present({ player }),
    ...more,
  });
  kept(told.world);
  return told;
}

const CUT_OFF: readonly string[] = ['cancelled', 'budget_exhausted'];
const ending = ({ events }: Pick<GroupRun, 'events'>) => payloads(events, 'group.ended')[0];
const SAME = 'the same words again and again\n[[NEEDS_ITERATION]]';

describe('ways out of a reflect loop', () => {
  const stays: Player = ({ part }) => (part === 'synthesis' ? SAME : undefined);
  const rows: readonly (readonly [string, Partial<Group>, Player | undefined, string, number, string])[] = [
    [
      'the sentinel',
      {},
      ({ part }) => (part === 'synthesis' ? 'Done.\n[[GROUP_REFLECT_COMPLETE]]' : undefined),
      'goal_met',
      1,
      'completed',
    ],
    [
      'a score of 0.9',
      { evaluator: 'judge' },
      ({ part, round }) => (part === 'evaluate' ? judges(round < 3 ? 0.89 : 0.9) : undefined),
      'goal_met',
      3,
      'completed',
    ],
    [
      'nothing left to assign',
      {},
      ({ part }) => (part === 'replan' ? 'All is done.' : undefined),
      'nothing_left',
      2,
      'completed',
    ],
    [
      'nothing left to do, found wanting by the judge',
      { evaluator: 'judge' },
      ({ part }) => (part === 'replan' ? 'Nothing left.' : part === 'evaluate' ? judges(0.1) : undefined),
      'nothing_left',
      2,
      'completed_unverified',
    ],
    ['the limit', { maxIterations: 2 }, undefined, 'max_iterations', 2, 'completed_unverified'],
    ['the limit of the system', {}, undefined, 'max_iterations', 5, 'completed_unverified'],
    ['a stall', {}, stays, 'stalled', 3, 'completed_unverified'],
    [
      'errors in a row',
      {},
      ({ part, round }) => (part === 'synthesis' && round === 2 ? breaks() : undefined),
      'error_budget',
      2,
      'completed_unverified',
    ],
    ['errors from the start', {}, ({ part }) => (part === 'plan' ? breaks() : undefined), 'error_budget', 1, 'failed'],
    [
      'nothing assigned at first',
      {},
      ({ part }) => (part === 'plan' || part === 'nudge' ? 'I did it all by myself.' : undefined),
      'no_assignments',
      1,
      'failed',
    ],
    [
      'only strangers assigned',
      {},
      ({ part }) => (part === 'plan' || part === 'nudge' ? '@worker:stranger Go.' : undefined),
      'no_assignments',
      1,
      'failed',
    ],
    [
      'a friendly judge after everybody failed',
      { evaluator: 'judge' },
      ({ part }) => (part === 'work' ? breaks('out of order') : part === 'evaluate' ? judges(1) : undefined),
      'all_failed',
      1,
      'completed_unverified',
    ],
    [
      'nothing left to do, after everybody failed',
      {},
      ({ part }) => (part === 'work' ? breaks('out of order') : part === 'replan' ? '[[GROUP_REFLECT_COMPLETE]]' : undefined),
      'all_failed',
      2,
      'completed_unverified',
    ],
    [
      'only strangers assigned later',
      {},
      ({ part }) => (part === 'replan' || part === 'nudge' ? '@worker:stranger Go.' : undefined),
      'no_assignments',
      2,
      'completed_unverified',
    ],
  ];

  it.each(rows)('%s', async (_name, group, player, reason, iterations, status) => {
    const told = await play(group, player);
    const goalMet = status === 'completed';
    expect(payloads(told.events, 'group.ended')).toHaveLength(1);
    expect(ending(told)).toMatchObject({
      reason,
      iterations,
      outcome: goalMet ? 'met' : CUT_OFF.includes(status) ? 'cut_off' : 'missed',
    });
    expect(told.result.status).toBe(status);
    expect(told.result.finalAgent).toBe('lead');
    expect(told.result.report.body).not.toContain('[[');
    // The summary names the rule, and whoever reads only the result sees it too.
    expect(ending(told)?.summary).toMatch(/^Ended after \d+ of at most \d+ iterations: .+\./);
    expect(told.result.error).toEqual(goalMet ? undefined : { code: reason, message: ending(told)?.summary });
  });

  it('says another rule for each', async () => {
    const summaries = new Set<string>();
    for (const [, group, player] of rows.filter(([name]) => !/score|system|start|later|strangers|left to do/.test(name)))
      summaries.add(ending(await play(group, player))?.summary.replace(/^.*?: /, '') ?? '');
    expect(summaries.size).toBe(7);
  });

  it('gives the last score and its reason where a judge was not content', async () => {
    const told = await play({ evaluator: 'judge' }, ({ part, round }) =>
      part === 'replan' && round > 2
        ? 'Nothing left.'
        : part === 'evaluate'
          ? judges(round / 10, 'The tests are missing.')
          : undefined,
    );
    const why = /nothing left to do\. judge gave it 0\.2 of the 0\.9 that it takes: The tests are missing\./;
    expect(ending(told)?.summary).toMatch(why);
    expect(told.result.verification).toMatchObject({ state: 'unverified', reasons: [expect.stringMatching(why)] });
  });

  it('keeps what the orchestrator said when it never delegated', async () => {
    const { result, events } = await play({}, ({ part }) =>
      part === 'plan' ? 'A long answer of my own.' : part === 'nudge' ? 'No.' : undefined,
    );
    expect(result.report.body).toContain('A long answer of my own.');
    expect(payloads(events, 'group.planned')).toMatchObject([0, 1, 2, 3].map((nudges) => ({ nudges, assignments: [] })));
    expect(payloads(events, 'group.planned').some((one) => one.direct === true || one.accepted === true)).toBe(false);
  });

  it.each([
    ['while planning', 'plan', 'cancelled', 1],
    ['while workers work', 'work', 'cancelled', 1],
    ['while it is put together', 'synthesis', 'cancelled', 1],
    ['while it is judged', 'evaluate', 'cancelled', 1],
  ] as const)('cancelled %s', async (_name, stopAt, reason, iterations) => {
    let world: World | undefined;
    let stopped = false;
    const player: Player = async (asked) => {
      if (asked.part !== stopAt || stopped) return undefined;
      stopped = true;
      await world?.engine.cancel(HELD_RUN, 'enough');
      return await hangs(asked);
    };
    const told = await holdLoop({ evaluator: 'judge' }, player, (made) => {
      world = made;
    });
    expect(told.end).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    expect(payloads(told.events, 'group.ended')).toMatchObject([
      { reason, iterations, outcome: CUT_OFF.includes(reason) ? 'cut_off' : 'missed' },
    ]);
    const starts = told.events.filter((event) => event.event_type === 'run.started').length;
    expect(told.events.filter((event) => event.event_type === 'run.ended')).toHaveLength(starts);
  });
});

describe('judging an iteration', () => {
  it('notes score, trend, dimensions, judge and advice', async () => {
    const scores = [0.5, 0.7, 0.4, 0.45, 0.95];
    const { events } = await play({ evaluator: 'judge' }, ({ part, round, agent }) => {
      if (part === 'evaluate') return judges(scores[round - 1] ?? 0, `reason ${round}`);
      return part === 'work' && agent === 'tester' && round === 2 ? breaks('the disk is full') : undefined;
    });
    expect(payloads(events, 'group.evaluated')).toMatchObject([
      { iteration: 1, score: 0.5, trend: 'stable', rationale: 'reason 1', evaluator: 'judge', goalMet: false },
      { iteration: 2, score: 0.7, trend: 'improving', advice: [expect.stringContaining('tester failed')] },
      { iteration: 3, score: 0.4, trend: 'degrading', advice: [expect.stringContaining('change the models')] },
      { iteration: 4, score: 0.45, trend: 'stable' },
      { iteration: 5, score: 0.95, trend: 'improving', goalMet: true },
    ]);
  });

  it('tells the orchestrator what was found wanting, and the advice', async () => {
    const { asked } = await play({ evaluator: 'judge', maxIterations: 2 }, ({ part, agent }) =>
      part === 'evaluate' ? judges(0.5, 'Tests are missing.') : part === 'work' && agent === 'tester' ? breaks() : undefined,
    );
    const again = asked.find((one) => one.part === 'replan')?.text;
    expect(again).toContain('Tests are missing.');
    expect(again).toContain('tester failed: give its task to somebody else');
  });

  it('leaves it to the judge, whatever the orchestrator says', async () => {
    const told = await play({ evaluator: 'judge', maxIterations: 2 }, ({ part, round }) =>
      part === 'synthesis' ? `Perfect ${'again '.repeat(round * 3)}\n[[GROUP_REFLECT_COMPLETE]]` : undefined,
    );
    expect(ending(told)?.reason).toBe('max_iterations');
    expect(told.asked.find((one) => one.part === 'evaluate')?.text).not.toContain('[[GROUP_REFLECT_COMPLETE]]');
  });

  it('asks the judge again in the same iteration when it gave no score, and does not repeat the work', async () => {
    let refused = 0;
    const told = await play({ evaluator: 'judge' }, ({ part }) => {
      if (part !== 'evaluate') return part === 'other' && refused < 3 ? says(`I like it ${++refused}.`) : undefined;
      return refused === 0 ? says('I like it.') : judges(0.9);
    });
    expect(ending(told)).toMatchObject({ reason: 'goal_met', iterations: 1 });
    expect(runsOf(told.events, 'coder')).toHaveLength(1);
  });

  it('does not ask a judge for ever that never gives a score', async () => {
    const told = await play({ evaluator: 'judge' }, ({ part }) => (part === 'evaluate' ? says('I like it.') : undefined));
    const asked = told.asked.filter(({ agent }) => agent === 'judge');
    expect(asked).toHaveLength(limits.reflectErrors * limits.evaluationTurns);
    expect(told.result).toMatchObject({ status: 'completed_unverified', error: { code: 'error_budget' } });
  });

  it('judges its own answer in a question of its own when the answer is JSON', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const told = await play(
      {},
      ({ part, round }) => {
        if (part === 'synthesis') return `{"answer":"number ${round}"}`;
        return part === 'verdict' ? (round === 1 ? 'Not yet.\n[[NEEDS_ITERATION]]' : '[[GROUP_REFLECT_COMPLETE]]') : undefined;
      },
      { lead: { output: { format: 'json', schema } } },
    );
    expect(ending(told)).toMatchObject({ reason: 'goal_met', iterations: 2 });
    expect(told.result.report).toEqual({ format: 'json', body: '{"answer":"number 2"}' });
  });
});

describe('errors in a reflect loop', () => {
  it('tries the same iteration again after a pause, and goes on where it failed', async () => {
    let failures = 0;
    const waits: number[] = [];
    const clock = {
      ...fastClock,
      after: (delayMs: number, callback: () => void, hold?: 'hold') => {
        if (hold === 'hold') waits.push(delayMs);
        return fastClock.after(delayMs, callback, hold);
      },
    };
    const told = await play(
      { maxIterations: 2 },
      ({ part, round }) => (part === 'synthesis' && round === 2 && ++failures <= 2 ? breaks('a hiccup') : undefined),
      { clock },
    );
    expect(ending(told)).toMatchObject({ reason: 'max_iterations', iterations: 2 });
    // Two plans, two tasks each: what was done before the error was not done again.
    expect(payloads(told.events, 'group.planned')).toHaveLength(2);
    expect(runsOf(told.events, 'coder')).toHaveLength(2);
    // What is left of a pause when it is begun: on a slow machine some of it has gone by.
    const backOffs = waits.filter((delay) => delay > 1_000).map((delay) => Math.ceil(delay / 1_000) * 1_000);
    expect(backOffs).toEqual([2_000, 4_000]);
  });

  it('counts only errors in a row', async () => {
    const failed = new Set<string>();
    const told = await play({ maxIterations: 4 }, ({ part, round, request }) => {
      const key = `${round} ${part}`;
      // Twice in every iteration, and never a third time.
      if (part !== 'synthesis' || failed.has(`${key} twice`)) return undefined;
      failed.add(failed.has(key) ? `${key} twice` : key);
      return request.messages.length > 0 ? breaks('a hiccup') : undefined;
    });
    expect(ending(told)).toMatchObject({ reason: 'max_iterations', iterations: 4 });
  });

  it('names the last error when it gives up', async () => {
    const { result } = await play({}, ({ part }) => (part === 'plan' ? breaks('the key is wrong') : undefined));
    expect(result.error?.message).toMatch(/3 errors in a row\. The last one: .*the key is wrong/);
  });
});

describe('completion of a reflect loop', () => {
  it('does not come from a worker’s words', async () => {
    const told = await play({ maxIterations: 2 }, ({ part }) =>
      part === 'work' ? 'Done.\n[[GROUP_REFLECT_COMPLETE]]' : undefined,
    );
    expect(ending(told)?.reason).toBe('max_iterations');
    const shown = told.asked.find((one) => one.part === 'synthesis')?.text;
    expect(shown).toContain('[WORKER_APPROVED]');
    expect(shown?.split('Put these results together')[0]).not.toContain('[[');
  });

  it('does not come before every assigned worker was attempted, and does when one of them failed', async () => {
    const told = await play({}, ({ part, agent }) => {
      if (part === 'work' && agent === 'tester') return breaks();
      return part === 'synthesis' ? 'Done.\n[[GROUP_REFLECT_COMPLETE]]' : undefined;
    });
    expect(ending(told)).toMatchObject({ reason: 'goal_met', iterations: 1 });
    const [plan] = payloads(told.events, 'group.planned');
    const judgedAt = told.events.findIndex((event) => event.event_type === 'group.evaluated');
    for (const { worker } of plan?.assignments ?? []) {
      const ended = told.events.findIndex(
        (event) => event.event_type === 'run.ended' && runsOf(told.events, worker).includes(event.run_id as RunId),
      );
      expect(ended).toBeGreaterThan(-1);
      expect(ended).toBeLessThan(judgedAt);
    }
    expect(told.result.report.body).toBe('Done.\n\nNothing came from: tester.');
  });

  it('keeps what was assigned properly while it asks for the rest', async () => {
    const told = await play({ maxIterations: 1 }, ({ part, text }) => {
      if (part === 'plan') return '@worker:coder Write it.\n@worker:stranger Do it.';
      if (part !== 'nudge') return undefined;
      expect(text).toContain('no worker named stranger');
      expect(text).toContain('The tasks for coder are taken');
      return '@worker:tester Test it.';
    });
    expect(payloads(told.events, 'group.planned')).toMatchObject([
      { assignments: [{ worker: 'coder' }], unknown: ['stranger'] },
      {
        assignments: [
          { worker: 'coder', task: 'Write it.' },
          { worker: 'tester', task: 'Test it.' },
        ],
        unknown: [],
        accepted: true,
      },
    ]);
    expect([runsOf(told.events, 'coder').length, runsOf(told.events, 'tester').length]).toEqual([1, 1]);
  });
});

describe('conversations', () => {
  it('go on from iteration to iteration and from prompt to prompt, the orchestrator’s too', async () => {
    const told = await play({ maxIterations: 2 });
    const next = await sendTo(told.world, 'Now in blue.', told.session);
    const lead = next.events.flatMap((event) =>
      event.event_type === 'run.started' && roleInTree(event.payload) === 'orchestrator' ? [event.payload.continues] : [],
    );
    expect(lead[0]).toBeUndefined();
    expect(lead.slice(1).every((continues) => continues !== undefined)).toBe(true);
    const last = told.asked.filter((one) => one.agent === 'coder').at(-1);
    expect(last?.round).toBe(4);
  });
});
