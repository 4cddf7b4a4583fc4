/** Groups that work in a loop: every rule that ends it, what is tried again, and an agent that reviews its own work. */
import { expect } from 'vitest';
import type { Payloads } from '../../../src/events/catalogue.ts';
import { calls, reports, turnOf } from '../world.ts';
import { type Asked, acting, breaks, fastClock, type Group, judges, type Player } from './group-on-engine.ts';
import { actor, askedOf, eventsOf, occurrences, type Scenario, type ScenarioRun, told } from './scenarios.ts';

const pair = ['coder', 'tester'];
const crew = (changes: Partial<Group> = {}) => [
  actor('lead', { group: { mode: 'reflect', workers: pair, ...changes } }),
  ...[...pair, 'judge'].map((name) => actor(name)),
];
const solo = (changes: Partial<Group> = {}, own = {}) => [
  actor('solo', { group: { mode: 'reflect', ...changes }, ...own }),
  actor('judge'),
];

/** Every loop ends once, by one rule; only one that was ended from outside is marked as cut off. */
function ends(played: ScenarioRun, reason: Payloads['group.ended']['reason'], iterations: number, judged = false): void {
  const ended = eventsOf(played, 'group.ended').map((event) => event.payload);
  const goalMet = reason === 'goal_met' || (reason === 'nothing_left' && !judged);
  const cutOff = reason === 'cancelled' || reason === 'budget_exhausted';
  expect(ended).toMatchObject([{ reason, iterations, outcome: goalMet ? 'met' : cutOff ? 'cut_off' : 'missed' }]);
}

const scores = (played: ScenarioRun): number[] => eventsOf(played, 'group.evaluated').map(({ payload }) => payload.score);

/** Where the loop waited before it tried again. */
const backOffs = (played: ScenarioRun): string[] =>
  eventsOf(played, 'step.recorded').flatMap(({ step }) => (step.endsWith('/back-off') ? [step] : []));

/** Rounds of an agent that works alone, from the first; the last one is repeated. */
const saying =
  (...answers: readonly string[]): Player =>
  ({ request }) =>
    answers[Math.min(turnOf(request), answers.length) - 1] ?? '';

const loops: readonly Scenario[] = [
  {
    name: 'the goal is met when the evaluator says so',
    pattern: 'groups',
    agents: crew({ evaluator: 'judge' }),
    prompt: 'Build it.',
    brain: acting(({ part, round }) => {
      if (part === 'evaluate') return judges(round === 3 ? 0.95 : 0.3 * round, `lacks ${round}`);
      return part === 'synthesis' ? `Version ${round}, ${'new '.repeat(round)}${round * 7}.` : undefined;
    }),
    expect: { body: 'Version 3, new new new 21.', finalAgent: 'lead' },
    check(played) {
      ends(played, 'goal_met', 3);
      expect(scores(played)).toEqual([0.3, 0.6, 0.95]);
      expect(eventsOf(played, 'group.evaluated').map(({ payload }) => payload.trend)).toEqual([
        'stable',
        'improving',
        'improving',
      ]);
      expect(told(askedOf(played, 'lead')[2])).toMatch(/The goal is not reached yet[\s\S]*lacks 1/);
      // The judge sees each result afresh, the workers remember.
      for (const request of askedOf(played, 'judge')) expect(request.messages).toHaveLength(1);
      expect(occurrences(told(askedOf(played, 'coder')[2]), '## Your Assigned Task')).toBe(3);
    },
  },
  {
    name: 'the goal is met when the orchestrator says so on a line of its own',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ part, round }) =>
      part === 'synthesis' && round === 2 ? 'All is there.\n[[GROUP_REFLECT_COMPLETE]]' : undefined,
    ),
    expect: { body: 'All is there.', finalAgent: 'lead' },
    check(played) {
      ends(played, 'goal_met', 2);
      expect(scores(played)).toEqual([0.4, 1]);
    },
  },
  {
    name: 'a worker cannot end the loop, nor can the word in a sentence',
    pattern: 'groups',
    agents: crew({ maxIterations: 2 }),
    prompt: 'Build it.',
    brain: acting(({ agent, part, round }) => {
      if (agent === 'coder') return 'Done.\n[[GROUP_REFLECT_COMPLETE]]';
      return part === 'synthesis' ? `I would not say [[GROUP_REFLECT_COMPLETE]] for ${'x'.repeat(round)}.` : undefined;
    }),
    expect: { status: 'completed_unverified', finalAgent: 'lead', error: /limit of iterations/ },
    check(played) {
      ends(played, 'max_iterations', 2);
      expect(told(askedOf(played, 'lead')[1])).toContain('[WORKER_APPROVED]');
    },
  },
  {
    name: 'the limit of iterations ends it with what there is',
    pattern: 'groups',
    agents: crew({ evaluator: 'judge', maxIterations: 2 }),
    prompt: 'Build it.',
    brain: acting(() => undefined),
    expect: { status: 'completed_unverified', finalAgent: 'lead', error: /^Ended after 2 of at most 2 iterations: the limit/ },
    check(played) {
      ends(played, 'max_iterations', 2);
      expect(played.result.report.body).toMatch(/^Synthesis 2/);
      expect(told(askedOf(played, 'judge')[1])).toContain('This is the last iteration');
    },
  },
  {
    name: 'the same answer again warns, and again ends it',
    pattern: 'groups',
    agents: crew({ evaluator: 'judge' }),
    prompt: 'Build it.',
    brain: acting(({ part }) => (part === 'synthesis' ? 'Always the same.' : undefined)),
    expect: { status: 'completed_unverified', body: 'Always the same.', finalAgent: 'lead', error: /stopped changing/ },
    check(played) {
      ends(played, 'stalled', 3);
      const stalls = eventsOf(played, 'group.stalled').map(({ payload }) => payload);
      expect(stalls).toMatchObject([
        { iteration: 2, consecutive: 1, stops: false },
        { iteration: 3, consecutive: 2, stops: true },
      ]);
      expect(told(askedOf(played, 'lead').at(-1))).toContain('try something different');
    },
  },
  {
    name: 'nothing left to do is a goal that is met, where nobody judges',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ part }) => (part === 'replan' ? 'Nothing is left.' : part === 'synthesis' ? 'Built.' : undefined)),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check: (played) => ends(played, 'nothing_left', 2),
  },
  {
    name: 'nothing left to do is a goal that was missed, where a judge was not content',
    pattern: 'groups',
    agents: crew({ evaluator: 'judge' }),
    prompt: 'Build it.',
    brain: acting(({ part }) => (part === 'replan' ? 'Nothing is left.' : part === 'synthesis' ? 'Built.' : undefined)),
    expect: { status: 'completed_unverified', body: 'Built.', finalAgent: 'lead', error: /judge gave it/ },
    check: (played) => ends(played, 'nothing_left', 2, true),
  },
  {
    name: 'an orchestrator that never delegates ends it, and its words are kept',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ part }) => (part === 'plan' ? 'I did it all myself.' : 'No.')),
    expect: { status: 'failed', finalAgent: 'lead', error: /assigned nothing/ },
    check(played) {
      ends(played, 'no_assignments', 1);
      expect(played.result.report.body).toContain('I did it all myself.');
      expect(askedOf(played, 'lead')).toHaveLength(4);
    },
  },
  {
    name: 'three errors in a row end it, with what the workers did',
    pattern: 'groups',
    clock: fastClock,
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ part }) => (part === 'synthesis' ? breaks() : undefined)),
    expect: { status: 'failed', finalAgent: 'lead', error: /3 errors in a row\. The last one: no key/ },
    check(played) {
      ends(played, 'error_budget', 1);
      expect(backOffs(played)).toEqual(['iteration/1/back-off', 'iteration/1/again/1/back-off']);
      expect(played.result.report.body).toMatch(/### coder\n\ncoder has done[\s\S]*### tester/);
      // The work was done, so only what failed is tried again.
      expect([askedOf(played, 'coder').length, askedOf(played, 'lead').length]).toEqual([1, 4]);
    },
  },
  {
    name: 'a plan that fails is tried again in the same iteration',
    pattern: 'groups',
    clock: fastClock,
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ part, round }) => {
      // The question is heard again, so the conversation tells the first try from the next ones.
      if (part === 'plan' && round < 3) return breaks();
      return part === 'synthesis' ? 'Built.\n[[GROUP_REFLECT_COMPLETE]]' : undefined;
    }),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      ends(played, 'goal_met', 1);
      expect(backOffs(played)).toEqual(['iteration/1/back-off', 'iteration/1/again/1/back-off']);
      expect(askedOf(played, 'lead')).toHaveLength(4);
    },
  },
  {
    name: 'one that fails each time never holds up the loop',
    pattern: 'groups',
    agents: crew({ evaluator: 'judge' }),
    prompt: 'Build it.',
    brain: acting(({ agent, part, round }) => {
      if (agent === 'tester') return breaks();
      if (part === 'evaluate') return judges(round === 2 ? 0.9 : 0.5);
      return part === 'synthesis' ? `Built ${'well '.repeat(round)}.` : undefined;
    }),
    expect: { body: 'Built well well .\n\nNothing came from: tester.', finalAgent: 'lead' },
    check(played) {
      ends(played, 'goal_met', 2);
      expect(eventsOf(played, 'group.evaluated')[0]?.payload.advice?.[0]).toMatch(/^tester failed/);
    },
  },
];

const innerOf = ({ part, round, agent }: Asked) => {
  if (agent === 'panel') return part === 'synthesis' ? `Panel ${round}.` : '@worker:coder\nOnce more.\n@end';
  if (agent === 'coder') return `Code ${round}.`;
  return undefined;
};

const nested: readonly Scenario[] = [
  {
    name: 'a group inside a group keeps its own members, also of the same name',
    pattern: 'groups',
    agents: [
      actor('lead', { group: { mode: 'reflect', workers: ['panel', 'coder'] } }),
      actor('panel', { group: { mode: 'orchestrator', workers: ['coder'] } }),
      actor('coder'),
    ],
    prompt: 'Build it.',
    brain: acting(
      (asked) => {
        if (asked.part === 'synthesis' && asked.agent === 'lead' && asked.round === 2) return 'Both.\n[[GROUP_REFLECT_COMPLETE]]';
        return innerOf(asked);
      },
      ['panel', 'coder'],
    ),
    expect: { body: 'Both.', finalAgent: 'lead' },
    check(played) {
      ends(played, 'goal_met', 2);
      const tasks = askedOf(played, 'coder').map((request) => told(request));
      const heard = tasks.map((text) => `${occurrences(text, 'Once more.')} and ${occurrences(text, 'of coder.')}`);
      // Each remembers its own tasks, and nobody has heard those of its namesake.
      expect(heard.sort()).toEqual(['0 and 1', '0 and 2', '1 and 0', '2 and 0']);
    },
  },
];

const alone: readonly Scenario[] = [
  {
    name: 'alone, until it says that it is done',
    pattern: 'groups',
    agents: solo(),
    prompt: 'Write it.',
    brain: acting(saying('Draft.', 'Better.', 'Best.\n[[REFLECTION_COMPLETE]]')),
    expect: { body: 'Best.', finalAgent: 'solo' },
    check(played) {
      ends(played, 'goal_met', 3);
      expect(
        askedOf(played, 'solo')[2]
          ?.messages.map((message) => message.role)
          .join(' '),
      ).toBe('user assistant user assistant user');
    },
  },
  {
    name: 'alone, judged by somebody else',
    pattern: 'groups',
    agents: solo({ evaluator: 'judge' }),
    prompt: 'Write it.',
    brain: acting((asked) => {
      if (asked.part === 'evaluate') return judges(asked.round === 2 ? 0.92 : 0.2, `lacks ${asked.round}`);
      return saying('Draft.\n[[REFLECTION_COMPLETE]]', 'Better.')(asked);
    }),
    expect: { body: 'Better.', finalAgent: 'solo' },
    check(played) {
      ends(played, 'goal_met', 2);
      expect(told(askedOf(played, 'solo')[1])).toContain('lacks 1');
    },
  },
  {
    name: 'alone, saying the same again and again',
    pattern: 'groups',
    agents: solo(),
    prompt: 'Write it.',
    brain: acting(saying('The same.')),
    expect: { status: 'completed_unverified', body: 'The same.', finalAgent: 'solo', error: /stopped changing/ },
    check: (played) => ends(played, 'stalled', 3),
  },
  {
    name: 'alone, with its own tools',
    pattern: 'groups',
    agents: solo({}, { tools: ['look'] }),
    prompt: 'Write it.',
    brain: acting(({ request }) => {
      if (request.messages.at(-1)?.role !== 'tool') return calls({ name: 'look', input: { name: `${turnOf(request)}` } });
      return reports(turnOf(request) > 3 ? 'Checked.\n[[REFLECTION_COMPLETE]]' : 'Unchecked.');
    }),
    expect: { body: 'Checked.', finalAgent: 'solo' },
    check: (played) => ends(played, 'goal_met', 2),
  },
];

export const reflectScenarios: readonly Scenario[] = [...loops, ...nested, ...alone];
