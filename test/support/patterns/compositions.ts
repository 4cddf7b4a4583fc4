/** Patterns inside patterns: chains, routers and teams as members of a team, and several patterns in one agent. */
import { expect } from 'vitest';
import { calls, reports, says } from '../world.ts';
import { actor, askedOf, broadcasts, byAgent, eventsOf, occurrences, type Scenario, told, toolsOf } from './scenarios.ts';

const to = (name: string) => ({ handoff: { to: name, include: 'report' as const } });
const room = (changes = {}) => actor('room', { team: { members: ['ana', 'ben'], supervisor: 'lead' }, ...changes });
const twoCycles = (_request: unknown, turn: number) => (turn === 1 ? broadcasts('lead wants more') : reports('Done.'));
const ben = (_request: unknown, turn: number) => broadcasts(`ben, word ${turn}.`);

export const compositionScenarios: readonly Scenario[] = [
  {
    name: 'advisors, then the agent, then its handoff',
    pattern: 'compositions',
    agents: [actor('chief', { advisors: ['risk'], ...to('editor') }), actor('risk'), actor('editor')],
    prompt: 'Shall we?',
    brain: byAgent({
      risk: () => says('Risky.'),
      chief: (request) => says(told(request).includes('Risky.') ? 'no' : 'yes'),
      editor: (request) => says(`Sir: ${told(request)}`),
    }),
    expect: { body: 'Sir: no', finalAgent: 'editor' },
  },
  {
    name: 'a member with a handoff chain takes part as its last agent',
    pattern: 'compositions',
    everyCut: true,
    agents: [room(), actor('lead'), actor('ana', to('aide')), actor('aide', to('expert')), actor('expert'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => says('from ana'),
      aide: (request) => says(`${told(request)}, from aide`),
      expert: (_request, turn) => broadcasts(`expert, word ${turn}.`),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'ana')).toHaveLength(1);
      const [first, second] = askedOf(played, 'expert');
      expect(toolsOf(first)).toEqual(['team_broadcast']);
      expect(told(first)).toContain('from ana, from aide');
      for (const heard of ['ben, word 1.', 'lead wants more']) expect(occurrences(told(second), heard), heard).toBe(1);
      const said = eventsOf(played, 'team.broadcast').flatMap(({ payload }) =>
        payload.memberId === 'ana' ? [payload.message] : [],
      );
      expect(said).toEqual(['expert, word 1.', 'expert, word 2.']);
    },
  },
  {
    name: 'the turns of a member are those of its last agent, also in the first cycle',
    pattern: 'compositions',
    agents: [
      actor('room', { team: { members: ['ana', 'ben'], supervisor: 'lead', memberMaxTurns: 2 } }),
      actor('lead'),
      actor('ana', to('expert')),
      actor('expert', { tools: ['look'] }),
      actor('ben'),
    ],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => says('from ana'),
      expert: (_request, turn) => calls({ name: 'look', input: { name: String(turn) } }),
      ben,
      lead: () => reports('Done.'),
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check: (played) => expect(askedOf(played, 'expert')).toHaveLength(2),
  },
  {
    name: 'a team inside a team, led by its own agent',
    pattern: 'compositions',
    agents: [room(), actor('lead'), actor('ana', { team: { members: ['x', 'y'] } }), actor('x'), actor('y'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      x: () => broadcasts('x inside'),
      y: () => broadcasts('y inside'),
      ana: (_request, turn) => (turn === 1 ? reports('ana sums up x and y') : broadcasts('ana again')),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      const judged = told(askedOf(played, 'lead').at(-1));
      expect(occurrences(judged, 'ana sums up x and y')).toBe(1);
      expect(occurrences(judged, 'ana again')).toBe(1);
      expect(judged).not.toContain('x inside');
      const again = told(askedOf(played, 'ana')[1]);
      for (const heard of ['x inside', 'y inside', 'ben, word 1.', 'lead wants more'])
        expect(occurrences(again, heard), heard).toBe(1);
      expect(askedOf(played, 'x')).toHaveLength(1);
    },
  },
  {
    name: 'a team inside a team, with a supervisor and a handoff of its own',
    pattern: 'compositions',
    agents: [
      room(),
      actor('lead'),
      actor('ana', { team: { members: ['x'], supervisor: 'boss' }, ...to('editor') }),
      actor('x'),
      actor('boss'),
      actor('editor'),
      actor('ben'),
    ],
    prompt: 'Why?',
    brain: byAgent({
      x: () => broadcasts('x inside', true),
      boss: () => reports('boss decides'),
      editor: (_request, turn) => broadcasts(`editor, word ${turn}.`),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(told(askedOf(played, 'editor')[0])).toContain('boss decides');
      expect(occurrences(told(askedOf(played, 'lead').at(-1)), 'editor, word 2.')).toBe(1);
      expect(askedOf(played, 'boss')).toHaveLength(1);
    },
  },
  {
    name: 'a router as a member: its destination takes the seat',
    pattern: 'compositions',
    agents: [room(), actor('lead'), actor('ana', { router: { destinations: ['expert'] } }), actor('expert'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: () => calls({ name: 'handoff-to', input: { agent: 'expert' }, id: 'route' }),
      expert: (_request, turn) => broadcasts(`expert, word ${turn}.`),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'ana')).toHaveLength(1);
      expect(occurrences(told(askedOf(played, 'lead').at(-1)), 'expert, word 1.')).toBe(1);
    },
  },
  {
    name: 'a router as a member that answers itself keeps the seat',
    pattern: 'compositions',
    agents: [room(), actor('lead'), actor('ana', { router: { destinations: ['expert'] } }), actor('expert'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      ana: (_request, turn) => (turn === 1 ? reports('ana knows') : broadcasts('ana still knows')),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'expert')).toEqual([]);
      expect(occurrences(told(askedOf(played, 'lead').at(-1)), 'ana knows')).toBe(1);
      expect(toolsOf(askedOf(played, 'ana')[1])).toEqual(['team_broadcast']);
    },
  },
  {
    name: 'a member with advisors asks them once, not in every cycle',
    pattern: 'compositions',
    agents: [room(), actor('lead'), actor('ana', { advisors: ['risk'] }), actor('risk'), actor('ben')],
    prompt: 'Why?',
    brain: byAgent({
      risk: () => says('risk is low'),
      ana: (_request, turn) => broadcasts(`ana, word ${turn}.`),
      ben,
      lead: twoCycles,
    }),
    expect: { body: 'Done.', finalAgent: 'lead' },
    check(played) {
      expect(askedOf(played, 'risk')).toHaveLength(1);
      expect(occurrences(told(askedOf(played, 'ana')[1]), 'risk is low')).toBe(1);
    },
  },
  {
    name: 'a router to a team that hands over',
    pattern: 'compositions',
    agents: [
      actor('desk', { router: { destinations: ['room'] }, advisors: ['risk'] }),
      actor('risk'),
      room({ team: { members: ['ana', 'ben'] }, ...to('editor') }),
      actor('ana'),
      actor('ben'),
      actor('editor'),
    ],
    prompt: 'Why?',
    brain: byAgent({
      risk: () => says('risk is low'),
      desk: () => calls({ name: 'handoff-to', input: { agent: 'room', message: 'Take it.' }, id: 'route' }),
      ana: () => broadcasts('ana speaks', true),
      ben: () => broadcasts('ben speaks'),
      room: () => reports('the room agrees'),
      editor: (request) => says(`Sir: ${told(request)}`),
    }),
    expect: { body: 'Sir: the room agrees', finalAgent: 'editor' },
    check: (played) => expect(told(askedOf(played, 'ana')[0])).toContain('Take it.'),
  },
];
