/** Team: cycles and who hears what in them, how members leave, and how the supervisor ends it. */
import { expect } from 'vitest';
import { textOf } from '../../../src/events/messages.ts';
import { calls, reports, says } from '../world.ts';
import {
  actor,
  askedOf,
  broadcasts,
  byAgent,
  eventsOf,
  fails,
  occurrences,
  type Scenario,
  type ScenarioRun,
  told,
  toolsOf,
} from './scenarios.ts';

const room = (changes = {}) => actor('room', { team: { members: ['ana', 'ben'], supervisor: 'lead', ...changes } });
const EIGHT = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8'];

const exits = (played: ScenarioRun) =>
  eventsOf(played, 'member.exited').map(({ payload }) => [payload.memberId, payload.cycle, payload.reason]);
const failures = (played: ScenarioRun) =>
  eventsOf(played, 'team.broadcast').flatMap(({ payload }) => (payload.type === 'failure' ? [payload.message] : []));
const ended = 'the team has ended';
/** What the last message from the user's side says. */
const latestTold = (request: ScenarioRun['asked'][number] | undefined) => {
  const user = request?.messages.findLast((message) => message.role === 'user' && !textOf(message.content).startsWith('## TEAM'));
  return user?.role === 'user' ? textOf(user.content) : '';
};

export const teamScenarios: readonly Scenario[] = [
  {
    name: 'two members, one cycle',
    pattern: 'team',
    everyCut: true,
    agents: [room(), actor('lead'), actor('ana', { tools: ['act'] }), actor('ben', { tools: ['look'] })],
    prompt: 'Why is it down?',
    brain: byAgent({
      ana: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'probe' } }) : broadcasts('ana saw the disk')),
      ben: (_request, turn) => (turn === 1 ? calls({ name: 'look' }) : broadcasts('ben saw the network')),
      lead: () => reports('The disk.'),
    }),
    expect: { body: 'The disk.', finalAgent: 'lead' },
    check(played) {
      const [judging] = askedOf(played, 'lead');
      expect(told(judging)).toContain('Why is it down?');
      expect(told(judging)).toMatch(/update from ana, turn 2, \d{4}-\d\d-\d\dT[^\n]*\n\n<broadcast-\w+>\nana saw the disk\n/);
      expect(toolsOf(judging)).toEqual(['team_broadcast', 'final_report']);
      expect(toolsOf(askedOf(played, 'ana')[0])).toEqual(['act', 'team_broadcast']);
      expect(eventsOf(played, 'team.broadcast').map((event) => event.payload)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'update', memberId: 'ana', message: 'ana saw the disk', turnCount: 2, cycle: 1 }),
        ]),
      );
      expect(exits(played)).toEqual([
        ['ana', 1, ended],
        ['ben', 1, ended],
      ]);
    },
  },
  {
    name: 'eight members, two cycles',
    pattern: 'team',
    agents: [actor('room', { team: { members: EIGHT, supervisor: 'lead' } }), actor('lead'), ...EIGHT.map((name) => actor(name))],
    prompt: 'Discuss.',
    brain: (request) => {
      const turn = request.messages.filter((message) => message.role === 'assistant').length + 1;
      if (request.agent === 'lead') return turn === 1 ? broadcasts('lead wants more') : reports('Agreed.');
      return broadcasts(`${request.agent} says ${turn}.`);
    },
    expect: { body: 'Agreed.', finalAgent: 'lead' },
    check(played) {
      const last = told(askedOf(played, 'lead').at(-1));
      for (const name of EIGHT) for (const turn of [1, 2]) expect(occurrences(last, `${name} says ${turn}.`)).toBe(1);
      expect(played.asked).toHaveLength(18);
    },
  },
  {
    name: 'a broadcast of the supervisor starts a second cycle',
    pattern: 'team',
    agents: [room(), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => (turn === 1 ? broadcasts('Dig deeper.') : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const [, again] = askedOf(played, 'ana');
      expect(told(again)).toContain('Why?');
      for (const heard of ['Dig deeper.', 'ben, word 1.']) expect(occurrences(told(again), heard), heard).toBe(1);
      expect(told(again)).not.toContain('ana, word');
      expect(eventsOf(played, 'team.broadcast').map(({ payload }) => payload.turnCount)).toEqual([1, 1, 1, 2, 2]);
    },
  },
  {
    name: 'three cycles, led by the agent that declares the team',
    pattern: 'team',
    agents: [actor('room', { team: { members: ['ana', 'ben'] } }), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      room: (_request, turn) => (turn < 3 ? broadcasts(`room, word ${turn}.`) : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'room' },
    check(played) {
      const lastOf = (name: string) => told(askedOf(played, name).at(-1));
      // What was heard in the first cycle is still known in the third.
      for (const heard of ['room, word 1.', 'room, word 2.', 'ben, word 1.', 'ben, word 2.'])
        expect(occurrences(lastOf('ana'), heard), heard).toBe(1);
      for (const heard of ['ana, word 1.', 'ana, word 2.', 'ana, word 3.', 'ben, word 3.'])
        expect(occurrences(lastOf('room'), heard), heard).toBe(1);
    },
  },
  {
    name: 'consensus: everybody leaves and the supervisor reports alone',
    pattern: 'team',
    agents: [room(), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Agree?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(turn === 1 ? 'ana thinks' : 'ana agrees', turn > 1),
      ben: () => broadcasts('ben agrees', true),
      lead: (request, turn) => (turn === 1 ? broadcasts('ana?') : reports(`Agreed with ${toolsOf(request).join(' ')}.`)),
    }),
    expect: { body: 'Agreed with final_report.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'ben')).toHaveLength(1);
      expect(told(askedOf(played, 'lead')[1])).toContain('No member is left');
      expect(exits(played)).toEqual([
        ['ben', 1, 'said its last word'],
        ['ana', 2, 'said its last word'],
      ]);
    },
  },
  {
    name: 'a member that runs out of turns is announced and leaves',
    pattern: 'team',
    agents: [room({ memberMaxTurns: 2 }), actor('lead'), actor('ana', { tools: ['look'] }), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => calls({ name: 'look', input: { name: String(turn) } }),
      ben: () => broadcasts('ben knows'),
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const sentence =
        'member ana failed and is no longer in the team. Reason: The agent used its 2 turns without giving an answer.';
      expect(failures(played)).toEqual([sentence]);
      expect(occurrences(told(askedOf(played, 'lead')[0]), sentence)).toBe(1);
      expect(toolsOf(askedOf(played, 'ana')[1])).toEqual(['team_broadcast']);
    },
  },
  {
    name: 'a member that has spoken with its last turn leaves too',
    pattern: 'team',
    agents: [room({ memberMaxTurns: 1 }), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => broadcasts('ana once'),
      ben: () => broadcasts('ben once'),
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(failures(played)).toHaveLength(2);
      expect(failures(played)[0]).toMatch(
        /^member ana failed and is no longer in the team\. Reason: it has used its 1 turn \(memberMaxTurns\)/,
      );
    },
  },
  {
    name: "a member's own limit of turns holds over all cycles",
    pattern: 'team',
    agents: [room({ memberMaxTurns: 5 }), actor('lead'), actor('ana', { maxTurns: 2 }), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => (turn < 4 ? broadcasts('Go on.') : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'ana')).toHaveLength(2);
      expect(askedOf(played, 'ben')).toHaveLength(4);
      expect(failures(played)).toEqual([
        'member ana failed and is no longer in the team. Reason: it has used its 2 turns (maxTurns)',
      ]);
    },
  },
  {
    name: "the last of a member's chain has its own limit of turns",
    pattern: 'team',
    agents: [
      room(),
      actor('lead'),
      actor('ana', { handoff: { to: 'ann', include: 'report' } }),
      actor('ann', { maxTurns: 2 }),
      actor('ben'),
    ],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => says('Ask ann.'),
      ann: (_request, turn) => broadcasts(`ann, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => (turn < 4 ? broadcasts('Go on.') : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check: (played) => expect(askedOf(played, 'ann')).toHaveLength(2),
  },
  {
    name: "the supervisor's own limit of turns holds over all cycles",
    pattern: 'team',
    agents: [room(), actor('lead', { maxTurns: 2 }), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (request, turn) => (toolsOf(request).includes('team_broadcast') ? broadcasts(`More, ${turn}.`) : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'lead').map(toolsOf)).toEqual([['team_broadcast', 'final_report'], ['final_report']]);
      const [, last] = askedOf(played, 'lead');
      expect(latestTold(last)).toContain('call final_report');
      expect(latestTold(last)).not.toContain('roadcast to');
      expect(latestTold(last)).not.toContain('team_broadcast');
    },
  },
  {
    name: 'a supervisor with one turn is never offered a broadcast, in words either',
    pattern: 'team',
    agents: [room({ supervisorMaxTurns: 1 }), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => broadcasts('ana knows'),
      ben: () => broadcasts('ben knows'),
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const [only] = askedOf(played, 'lead');
      expect(toolsOf(only)).toEqual(['final_report']);
      expect(told(only)).not.toContain('team_broadcast');
    },
  },
  {
    name: 'a member that leaves with its last word is gone for everybody',
    pattern: 'team',
    agents: [room(), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => broadcasts('ana is done', true),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => (turn === 1 ? broadcasts('Go on.') : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const sentence = 'member ana has left the team with this and can no longer be reached.';
      expect(occurrences(told(askedOf(played, 'ben')[1]), sentence)).toBe(1);
      expect(occurrences(told(askedOf(played, 'lead')[1]), sentence)).toBe(1);
    },
  },
  {
    name: 'a member that fails is announced to everybody',
    pattern: 'team',
    agents: [room(), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => fails('no key'),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => (turn === 1 ? broadcasts('Go on without.') : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const sentence = 'member ana failed and is no longer in the team. Reason: no key';
      expect(failures(played)).toEqual([sentence]);
      expect(occurrences(told(askedOf(played, 'ben')[1]), sentence)).toBe(1);
      expect(occurrences(told(askedOf(played, 'lead')[1]), sentence)).toBe(1);
      expect(askedOf(played, 'ana')).toHaveLength(1);
    },
  },
  {
    name: "the supervisor's last turn leaves only the report",
    pattern: 'team',
    agents: [room({ supervisorMaxTurns: 3 }), actor('lead', { tools: ['look'] }), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => {
        if (turn === 1) return broadcasts('More.');
        return turn === 2 ? calls({ name: 'look' }) : reports('Done.');
      },
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'lead').map(toolsOf)).toEqual([
        ['look', 'team_broadcast', 'final_report'],
        ['look', 'team_broadcast', 'final_report'],
        ['final_report'],
      ]);
    },
  },
  {
    name: 'a supervisor that never reports ends the team in a clear failure',
    pattern: 'team',
    agents: [room({ supervisorMaxTurns: 2 }), actor('lead'), actor('ana'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben: (_request, turn) => broadcasts(`ben, word ${turn}.`),
      lead: (_request, turn) => broadcasts(`lead, word ${turn}.`),
    }),
    expect: {
      status: 'failed',
      finalAgent: 'lead',
      error: /^At the supervisor lead in cycle 2: The agent used its 2 turns without/,
    },
    check: (played) => expect(askedOf(played, 'lead')).toHaveLength(2),
  },
  {
    name: 'a member hears another one before its next turn in the same cycle',
    pattern: 'team',
    agents: [room(), actor('lead'), actor('ana'), actor('ben', { tools: ['look'], maxTurns: 50 })],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => broadcasts('ana found it'),
      // Looks on until it has heard.
      ben: (request, turn) =>
        told(request).includes('ana found it')
          ? broadcasts('ben heard ana', true)
          : calls({ name: 'look', input: { name: String(turn) } }),
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(occurrences(told(askedOf(played, 'ben').at(-1)), 'ana found it')).toBe(1);
      expect(eventsOf(played, 'team.broadcast').every(({ payload }) => payload.cycle === 1)).toBe(true);
    },
  },
  {
    name: 'broadcasts that do not fit are replaced and the supervisor must end',
    pattern: 'team',
    everyCut: true,
    agents: [
      room({ members: ['ana', 'ben', 'cem'] }),
      actor('lead', { contextWindow: 3_000, maxOutputTokens: 500 }),
      actor('ana'),
      actor('ben'),
      actor('cem'),
    ],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => broadcasts('ana is brief'),
      ben: () => broadcasts(`ben goes on ${'and on '.repeat(4_000)}`),
      cem: () => broadcasts(`cem goes on ${'and on '.repeat(5_000)}`),
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const [only, ...more] = askedOf(played, 'lead');
      expect(more).toEqual([]);
      expect(toolsOf(only)).toEqual(['final_report']);
      expect(occurrences(told(only), 'ana is brief')).toBe(1);
      expect(told(only)).not.toContain('and on and on');
      for (const name of ['ben', 'cem']) expect(occurrences(told(only), `A broadcast of ${name} (`), name).toBe(1);
    },
  },
];
