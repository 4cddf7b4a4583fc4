/** Groups that work in one pass: the same to all, one after the other, planned and divided; alone and inside other patterns. */
import { expect } from 'vitest';
import { createQuietClock } from '../quiet-clock.ts';
import { reports, says } from '../world.ts';
import { acting, askedIn, breaks, type Group, type Player as GroupPlayer, type Part } from './group-on-engine.ts';
import {
  actor,
  askedOf,
  broadcasts,
  byAgent,
  eventsOf,
  fails,
  never,
  occurrences,
  type Scenario,
  type ScenarioRun,
  told,
  toolsOf,
} from './scenarios.ts';

const lead = (group: Group, changes = {}) => actor('lead', { group, ...changes });
const three = ['ana', 'ben', 'cleo'];
const pair = ['coder', 'tester'];
const crew = (changes: Partial<Group> = {}) => [
  lead({ mode: 'orchestrator', workers: pair, ...changes }),
  ...pair.map((name) => actor(name)),
];
const task = (worker: string, text: string): string => `@worker:${worker}\n${text}\n@end\n`;
const planned = (played: ScenarioRun) => eventsOf(played, 'group.planned').map((event) => event.payload);
/** What the orchestrator was asked, part by part. */
const partsOf = (played: ScenarioRun): Part[] => askedOf(played, 'lead').map((request) => askedIn(request).part);

/** The orchestrator answers by its part, the workers by their names. */
function group(parts: Partial<Record<Part, string>>, workers: Readonly<Record<string, string>> = {}) {
  const player: GroupPlayer = ({ agent, part }) => (agent === 'lead' ? parts[part] : workers[agent]);
  return acting(player, pair);
}

const bothPlanned = task('coder', 'Write it.') + task('tester', 'Test it.');

const sideBySide: readonly Scenario[] = [
  {
    name: 'the same prompt to all, side by side',
    pattern: 'groups',
    agents: [lead({ mode: 'broadcast', workers: three }), ...three.map((name) => actor(name))],
    prompt: 'Why?',
    brain: (request) => says(`${request.agent} on ${told(request)}`),
    expect: { body: '### ana\n\nana on Why?\n\n### ben\n\nben on Why?\n\n### cleo\n\ncleo on Why?', finalAgent: 'lead' },
    check: (played) => expect(askedOf(played, 'lead')).toEqual([]),
  },
  {
    name: 'one that fails is named, the others answer',
    pattern: 'groups',
    agents: [lead({ mode: 'broadcast', workers: three }), ...three.map((name) => actor(name))],
    prompt: 'Why?',
    brain: (request) => (request.agent === 'ben' ? fails('no key') : says(`by ${request.agent}`)),
    expect: { body: '### ana\n\nby ana\n\n### ben (failed)\n\nno key\n\n### cleo\n\nby cleo', finalAgent: 'lead' },
  },
  {
    name: 'all fail, and each says why',
    pattern: 'groups',
    agents: [lead({ mode: 'broadcast', workers: pair }), ...pair.map((name) => actor(name))],
    prompt: 'Why?',
    brain: (request) => fails(`no key for ${request.agent}`),
    expect: {
      status: 'failed',
      body: '### coder (failed)\n\nno key for coder\n\n### tester (failed)\n\nno key for tester',
      finalAgent: 'lead',
      error: /Every worker failed/,
    },
  },
  {
    name: 'one that is stuck is not waited for longer than it may take',
    pattern: 'groups',
    clock: createQuietClock(),
    agents: [lead({ mode: 'broadcast', workers: pair, workerTimeout: 10_000 }), ...pair.map((name) => actor(name))],
    prompt: 'Why?',
    brain: byAgent({ coder: never, tester: () => says('by tester') }),
    expect: { finalAgent: 'lead' },
    check({ result }) {
      expect(result.report.body).toContain('### coder (failed)\n\nIt was not done within 10s (workerTimeout).');
      expect(result.report.body).toContain('### tester\n\nby tester');
    },
  },
  {
    name: 'one after the other, each with what came before',
    pattern: 'groups',
    agents: [lead({ mode: 'sequential', workers: three }), ...three.map((name) => actor(name))],
    prompt: 'Why?',
    brain: (request) =>
      says(`${request.agent}, after ${three.filter((name) => told(request).includes(`by ${name}`))}. by ${request.agent}`),
    expect: { body: 'cleo, after ana,ben. by cleo', finalAgent: 'lead' },
    check(played) {
      expect(played.asked.map((request) => request.agent)).toEqual(three);
      expect(told(askedOf(played, 'ana')[0])).toBe('Why?');
      expect(told(askedOf(played, 'cleo')[0])).toMatch(/What the others have said[\s\S]*### ana[\s\S]*### ben/);
    },
  },
  {
    name: 'one after the other goes on behind one that fails, and names it',
    pattern: 'groups',
    agents: [lead({ mode: 'sequential', workers: three }), ...three.map((name) => actor(name))],
    prompt: 'Why?',
    brain: (request) => (request.agent === 'ben' ? fails('no key') : says(`by ${request.agent}`)),
    expect: { body: 'by cleo\n\nNothing came from: ben.', finalAgent: 'lead' },
    check: (played) => expect(told(askedOf(played, 'cleo')[0])).toContain('no key'),
  },
];

const divided: readonly Scenario[] = [
  {
    name: 'plan, divide, put together',
    pattern: 'groups',
    everyCut: true,
    agents: crew(),
    prompt: 'Build it.',
    brain: group({ plan: bothPlanned, synthesis: 'Built and tested.' }, { coder: 'Code.', tester: 'Green.' }),
    expect: { body: 'Built and tested.', finalAgent: 'lead' },
    check(played) {
      expect(partsOf(played)).toEqual(['plan', 'synthesis']);
      expect(planned(played)).toMatchObject([{ accepted: true, nudges: 0, unknown: [], assignments: [{}, {}] }]);
      expect(told(askedOf(played, 'coder')[0])).toMatch(/Build it\.[\s\S]*## Your Assigned Task\n\nWrite it\.$/);
      expect(told(askedOf(played, 'lead')[1])).toMatch(/### coder: done[\s\S]*Code\.[\s\S]*### tester: done[\s\S]*Green\./);
    },
  },
  {
    name: 'each with its own model, charter and context',
    pattern: 'groups',
    agents: [
      lead(
        {
          mode: 'orchestrator',
          workers: [{ agent: 'coder', name: 'The Coder', model: 'test/strong', charter: 'You love types.' }, 'tester'],
          sharedContext: { text: 'We use tabs.' },
          routingContext: { text: 'Types go to the coder.' },
        },
        { tools: ['act'] },
      ),
      actor('coder', { models: ['test/weak'] }),
      actor('tester', { description: 'Tests all. And more.', models: ['test/plain'] }),
    ],
    prompt: 'Build it.',
    brain: group({ plan: task('The Coder', 'Write it.') + task('tester', 'Test it.'), synthesis: 'Done.' }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      // It has others do the work, so it has no tools in its hands.
      for (const request of askedOf(played, 'lead')) expect(toolsOf(request)).toEqual([]);
      const plan = told(askedOf(played, 'lead')[0]);
      expect(plan).toContain('- The Coder (model test/strong): You love types.\n- tester (model test/plain): Tests all.\n');
      expect(plan).toContain('Types go to the coder.');
      expect(told(askedOf(played, 'coder')[0])).toMatch(/^You love types\.[\s\S]*We use tabs\./);
      const models = eventsOf(played, 'model.request').map(({ agent, payload }) => `${agent} ${payload.model}`);
      expect(models).toContain('coder test/strong');
      expect(models).toContain('tester test/plain');
    },
  },
  {
    name: 'an orchestrator that answers itself is nudged until it delegates',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: group({ plan: 'Here is the code.', nudge: task('coder', 'Write it.'), synthesis: 'Built.' }, { coder: 'Code.' }),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      expect(partsOf(played)).toEqual(['plan', 'nudge', 'synthesis']);
      expect(planned(played)).toMatchObject([
        { nudges: 0, assignments: [] },
        { nudges: 1, accepted: true },
      ]);
      expect(askedOf(played, 'tester')).toEqual([]);
    },
  },
  {
    name: 'an orchestrator that insists is nudged, then its own answer counts',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: group({ plan: 'Here is the code, all of it.', nudge: 'No.' }),
    expect: { body: 'Here is the code, all of it.', finalAgent: 'lead' },
    check(played) {
      expect(partsOf(played)).toEqual(['plan', 'nudge', 'nudge', 'nudge']);
      expect(planned(played).at(-1)).toMatchObject({ nudges: 3, direct: true, assignments: [] });
    },
  },
  {
    name: 'an unknown worker is reported back, what was assigned stays assigned',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: group(
      { plan: task('coder', 'Write it.') + task('ghost', 'Haunt it.'), nudge: task('tester', 'Test it.'), synthesis: 'Built.' },
      { coder: 'Code.', tester: 'Green.' },
    ),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      expect(told(askedOf(played, 'lead')[1])).toContain('There is no worker named ghost. The workers are: coder, tester.');
      expect(planned(played)).toMatchObject([{ unknown: ['ghost'] }, { unknown: [], accepted: true, assignments: [{}, {}] }]);
      expect(askedOf(played, 'coder')).toHaveLength(1);
    },
  },
  {
    name: 'tasks only for strangers, to the end',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: group({ plan: task('ghost', 'Haunt it.'), nudge: task('spectre', 'Haunt it.') }),
    expect: { status: 'failed', finalAgent: 'lead', error: /does not have: spectre/ },
    check: (played) => expect(played.asked.every((request) => request.agent === 'lead')).toBe(true),
  },
  {
    name: 'two tasks for one worker are one',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: group(
      { plan: task('coder', 'Write it.') + task('tester', 'Test it.') + task('Coder', 'Explain it.'), synthesis: 'Built.' },
      { coder: 'Code.', tester: 'Green.' },
    ),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'coder')).toHaveLength(1);
      expect(told(askedOf(played, 'coder')[0])).toMatch(/Write it\.\n\n---\n\nExplain it\.$/);
    },
  },
  {
    name: 'what is missing is named in the answer',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ agent, part }) => {
      if (agent === 'tester') return breaks();
      return part === 'synthesis' ? 'Built.' : undefined;
    }),
    expect: { body: 'Built.\n\nNothing came from: tester.', finalAgent: 'lead' },
    check: (played) => expect(told(askedOf(played, 'lead')[1])).toMatch(/### tester: failed[\s\S]*No result came from: tester/),
  },
  {
    name: 'all failed is still put together, and not taken for checked',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ agent, part }) => (agent !== 'lead' ? breaks() : part === 'synthesis' ? 'Nothing works.' : undefined)),
    expect: { status: 'completed_unverified', finalAgent: 'lead', error: /Every worker failed/ },
    check: ({ result }) => expect(result.report.body).toBe('Nothing works.\n\nNothing came from: coder, tester.'),
  },
  {
    name: 'results that cannot be put together are given as they are',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    brain: acting(({ agent, part }) => (part === 'synthesis' ? breaks() : agent === 'lead' ? bothPlanned : `by ${agent}`)),
    expect: { status: 'failed', finalAgent: 'lead', error: /no key/ },
    check: ({ result }) => expect(result.report.body).toMatch(/could not be put together[\s\S]*by coder[\s\S]*by tester/),
  },
  {
    name: 'members remember the prompts before',
    pattern: 'groups',
    agents: crew(),
    prompt: 'Build it.',
    afterwards: 'Paint it.',
    brain: acting(({ agent, part, round }) =>
      part === 'synthesis' ? `Part ${round}.` : agent === 'lead' ? bothPlanned : `${agent} ${round}`,
    ),
    expect: { body: 'Part 2.', finalAgent: 'lead' },
    check(played) {
      for (const worker of pair) {
        expect(told(askedOf(played, worker)[1])).toMatch(/Build it\.[\s\S]*Paint it\./);
        expect(occurrences(told(askedOf(played, worker)[1]), '## Your Assigned Task')).toBe(2);
      }
      expect(told(askedOf(played, 'lead')[2])).toMatch(/Build it\.[\s\S]*The workers have answered[\s\S]*Paint it\./);
    },
  },
];

const composed: readonly Scenario[] = [
  {
    name: 'a worker with a handoff answers as its last agent',
    pattern: 'groups',
    agents: [
      lead({ mode: 'orchestrator', workers: pair }),
      actor('coder', { handoff: { to: 'editor', include: 'report' } }),
      actor('tester'),
      actor('editor'),
    ],
    prompt: 'Build it.',
    brain: group({ plan: bothPlanned, synthesis: 'Built.' }, { coder: 'Code.', editor: 'Tidy code.', tester: 'Green.' }),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      expect(told(askedOf(played, 'editor')[0])).toBe('Code.');
      expect(told(askedOf(played, 'lead')[1])).toContain('Tidy code.');
    },
  },
  {
    name: 'a group that hands its answer over',
    pattern: 'groups',
    agents: [
      lead({ mode: 'broadcast', workers: pair }, { handoff: { to: 'editor', include: 'report' } }),
      ...[...pair, 'editor'].map((name) => actor(name)),
    ],
    prompt: 'Why?',
    brain: byAgent({
      coder: () => says('C.'),
      tester: () => says('T.'),
      editor: (request) => says(told(request).replaceAll('\n', ' ')),
    }),
    expect: { body: '### coder  C.  ### tester  T.', finalAgent: 'editor' },
  },
  {
    name: 'a group inside a team speaks with one voice',
    pattern: 'groups',
    agents: [
      actor('room', { team: { members: ['panel', 'ben'], supervisor: 'boss' } }),
      actor('panel', { group: { mode: 'broadcast', workers: pair } }),
      ...[...pair, 'ben', 'boss'].map((name) => actor(name)),
    ],
    prompt: 'Why?',
    brain: byAgent({
      coder: () => says('by coder'),
      tester: () => says('by tester'),
      ben: () => broadcasts('by ben'),
      boss: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check(played) {
      const said = eventsOf(played, 'team.broadcast').map(({ payload }) => payload);
      expect(said.map((one) => one.memberId).sort()).toEqual(['ben', 'panel']);
      const heard = told(askedOf(played, 'boss')[0]);
      for (const part of ['by coder', 'by tester', 'by ben']) expect(occurrences(heard, part), part).toBe(1);
      expect(told(askedOf(played, 'coder')[0])).toContain('Why?');
    },
  },
  {
    name: 'a team inside a group answers as one worker',
    pattern: 'groups',
    agents: [
      lead({ mode: 'orchestrator', workers: ['room', 'tester'] }),
      actor('room', { team: { members: ['ana', 'ben'], supervisor: 'boss' } }),
      ...['ana', 'ben', 'boss', 'tester'].map((name) => actor(name)),
    ],
    prompt: 'Build it.',
    brain: acting(({ agent, part }) => {
      if (agent === 'lead') return part === 'plan' ? task('room', 'Think.') + task('tester', 'Test.') : 'Built.';
      if (agent === 'boss') return reports('The team agrees.');
      return agent === 'tester' ? 'Green.' : broadcasts(`by ${agent}`);
    }),
    expect: { body: 'Built.', finalAgent: 'lead' },
    check(played) {
      expect(told(askedOf(played, 'ana')[0])).toContain('Think.');
      expect(told(askedOf(played, 'lead')[1])).toMatch(/### room: done[\s\S]*The team agrees\./);
    },
  },
];

export const groupScenarios: readonly Scenario[] = [...sideBySide, ...divided, ...composed];
