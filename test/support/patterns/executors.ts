/** Agents that executors work for, in each place where an agent can stand: whoever uses one cannot tell. */
import { expect } from 'vitest';
import { diligent, executing } from '../executors/brain-executors.ts';
import { calls, reports, says } from '../world.ts';
import { chief, delegates, inTurn, judges, openIn, payloads, task } from './architect-play.ts';
import { actor, askedOf, broadcasts, byAgent, eventsOf, fails, type Scenario, told } from './scenarios.ts';

const engineOnly = 'sub-agents are tool calls, and those are made by the engine, not through the steps port';
const hand = executing('hand', { executor: { name: 'hand' }, description: 'Works with files' });
const asksHand = (prompt: string) => calls({ name: 'hand', input: { prompt, reason: 'it can' }, id: `hand-${prompt}` });

const row = (place: string, scenario: Omit<Scenario, 'name' | 'pattern'>): Scenario => ({
  name: `an executor: ${place}`,
  pattern: 'executors',
  ...scenario,
});

export const executorScenarios: readonly Scenario[] = [
  row('alone', {
    everyCut: true,
    agents: [hand],
    prompt: 'Mend it.',
    brain: (request) => says(`I was told: ${told(request).split('\n').at(-1)}`),
    expect: { body: 'I was told: Mend it.', finalAgent: 'hand' },
  }),
  row('alone, and asked again: it remembers what was said itself', {
    agents: [hand],
    prompt: 'One.',
    afterwards: 'Two.',
    engineOnly: 'what it remembers is in no conversation of ours',
    brain: byAgent({ hand: (request) => says(`heard ${told(request).replaceAll(/\s+/g, ' ')}`) }),
    expect: { body: 'heard One. Two.', finalAgent: 'hand' },
  }),
  row('two at once, at tasks of an architect', {
    everyCut: true,
    engineOnly: 'what an executor does by itself is no call of ours',
    agents: [chief({ parallel: 2 }), { ...hand, permissions: { shell: 'allow' } }],
    prompt: 'Add a greeting.',
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave', { acceptance: ['`check leave` passes'] })),
        (request) => judges(request, 'accepted', {}, openIn(request)),
        () => reports('Both.'),
      ),
      hand: (request) => diligent(['silent', `touch ${/task_id: (\S+)/.exec(told(request))?.[1]}`])(request),
    }),
    expect: { body: 'Both.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const own = played.events.flatMap(({ type, agent }) => (agent === 'hand' ? [type] : []));
      expect(own.slice(0, own.indexOf('run.ended')).filter((type) => type === 'run.started')).toHaveLength(2);
      expect(own.filter((type) => type === 'executor.prompted').length).toBeGreaterThanOrEqual(2);
      expect(payloads(played, 'task.merged')).toMatchObject([{ files: 2, conflicts: [] }]);
    },
  }),
  row('as a sub-agent that can be asked again', {
    engineOnly,
    agents: [actor('boss', { agents: ['hand'] }), { ...hand, chat: true }],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return asksHand('Look.');
        return turn === 2
          ? calls({ name: 'ask_clarification', input: { id: 'hand-1.0', question: 'Why?' } })
          : reports('Now I see.');
      },
      hand: () => says('so it is'),
    }),
    expect: { body: 'Now I see.', finalAgent: 'boss' },
    check(played) {
      expect(told(askedOf(played, 'boss')[1])).toContain('so it is');
      expect(told(askedOf(played, 'hand').at(-1))).toContain('## CLARIFICATION REQUEST FROM boss\n\nWhy?');
    },
  }),
  row('as a sub-agent that fails', {
    engineOnly,
    agents: [actor('boss', { agents: ['hand'] }), hand],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => (turn === 1 ? asksHand('Look.') : reports('Without it.')),
      hand: () => fails('no such file'),
    }),
    expect: { body: 'Without it.', finalAgent: 'boss' },
    check: (played) =>
      expect(told(askedOf(played, 'boss')[1])).toMatch(/hand did not succeed \(failed\): hand: it refused\. no such file/),
  }),
  row('as an advisor', {
    agents: [actor('chief', { advisors: ['hand'] }), hand],
    prompt: 'Shall we?',
    brain: byAgent({ chief: () => says('Yes.'), hand: () => says('Risky.') }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check: (played) =>
      expect(told(askedOf(played, 'chief')[0])).toMatch(/### From hand\n\n[^\n]*\n\n<analysis-(\w+)>\nRisky\.\n/),
  }),
  row('with advisors of its own: what they say is in its prompt', {
    agents: [{ ...hand, advisors: ['near'] }, actor('near')],
    prompt: 'Mend it.',
    brain: byAgent({ near: () => says('Mind the tests.'), hand: () => says('Mended.') }),
    expect: { body: 'Mended.', finalAgent: 'hand' },
    check: (played) => expect(told(askedOf(played, 'hand')[0])).toContain('Mind the tests.'),
  }),
  row('as a member of a team: what it says, it has said to all', {
    agents: [actor('room', { team: { members: ['hand', 'near'], supervisor: 'lead' } }), actor('lead'), hand, actor('near')],
    prompt: 'Why is it down?',
    brain: byAgent({
      hand: () => says('hand saw the disk'),
      near: () => broadcasts('near saw the network'),
      lead: () => reports('The disk.'),
    }),
    expect: { body: 'The disk.', finalAgent: 'lead' },
    check: (played) => expect(told(askedOf(played, 'lead')[0])).toMatch(/<broadcast-\w+>\nhand saw the disk\n/),
  }),
  row('as a worker of a group', {
    agents: [actor('lead', { group: { mode: 'broadcast', workers: ['hand', 'near'] } }), hand, actor('near')],
    prompt: 'Why?',
    brain: (request) => says(`${request.agent} on ${told(request).split('\n').at(-1)}`),
    expect: { body: '### hand\n\nhand on Why?\n\n### near\n\nnear on Why?', finalAgent: 'lead' },
  }),
  row('as a destination', {
    agents: [actor('desk', { router: { destinations: ['hand', 'near'] } }), hand, actor('near')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: () => calls({ name: 'handoff-to', input: { agent: 'hand' }, id: 'route' }),
      hand: () => says('Refunded.'),
    }),
    expect: { body: 'Refunded.', finalAgent: 'hand' },
    check: (played) => expect(told(askedOf(played, 'hand')[0])).toContain('My bill is wrong.'),
  }),
  row('as the one that is handed over to, and as the one that hands over', {
    agents: [
      actor('near', { handoff: { to: 'hand', include: 'report' } }),
      { ...hand, handoff: { to: 'last', include: 'report' } },
      actor('last'),
    ],
    prompt: 'Go.',
    brain: byAgent({
      near: () => says('Half done.'),
      hand: (request) => says(told(request).includes('Half done.') ? 'Nearly done.' : 'What?'),
      last: (request) => says(told(request).includes('Nearly done.') ? 'Done.' : 'What?'),
    }),
    expect: { body: 'Done.', finalAgent: 'last' },
  }),
  row('as one that is dispatched to', {
    agents: [actor('house', { dispatch: { agents: ['hand', 'near'] } }), hand, actor('near')],
    prompt: 'Lights, please.',
    brain: byAgent({
      house: () => says(JSON.stringify({ agentId: 'hand', confidence: 0.9, reasoning: 'It fits.' })),
      hand: () => says('The lights are on.'),
    }),
    expect: { body: 'The lights are on.', finalAgent: 'hand' },
    check: (played) =>
      expect(eventsOf(played, 'dispatch.responded').map(({ payload }) => [payload.agentId, payload.success])).toEqual([
        ['hand', true],
      ]),
  }),
];
