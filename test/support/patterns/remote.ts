/** Agents that live elsewhere, in each place where an agent can stand: whoever uses one cannot tell. */
import { expect } from 'vitest';
import { remote } from '../peers/brain-peers.ts';
import { calls, reports, says } from '../world.ts';
import { actor, askedOf, broadcasts, byAgent, eventsOf, fails, never, type Scenario, told, UNCHECKED_LINE } from './scenarios.ts';

const engineOnly = 'sub-agents are tool calls, and those are made by the engine, not through the steps port';
const far = remote('far', { description: 'Lives elsewhere' });
const asksFar = (prompt: string) => calls({ name: 'far', input: { prompt, reason: 'it knows' }, id: `far-${prompt}` });

const row = (name: string, scenario: Omit<Scenario, 'name' | 'pattern'>): Scenario => ({
  name,
  pattern: 'remote agents',
  ...scenario,
});

export const remoteScenarios: readonly Scenario[] = [
  row('alone', {
    everyCut: true,
    agents: [far],
    prompt: 'How is it?',
    brain: (request) => says(`I was told: ${told(request)}`),
    expect: { body: 'I was told: How is it?', finalAgent: 'far' },
  }),
  row('alone, and asked again: it remembers what was said itself', {
    agents: [far],
    prompt: 'One.',
    afterwards: 'Two.',
    engineOnly: 'what it remembers is in no conversation of ours',
    brain: byAgent({ far: (request, turn) => says(`answer ${turn} to ${told(request).replaceAll(/\s+/g, ' ')}`) }),
    expect: { body: 'answer 2 to One. Two.', finalAgent: 'far' },
  }),
  row('as a sub-agent that can be asked again', {
    engineOnly,
    agents: [actor('boss', { agents: ['far'] }), { ...far, chat: true }],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return asksFar('Look.');
        return turn === 2
          ? calls({ name: 'ask_clarification', input: { id: 'far-1.0', question: 'Why?' } })
          : reports('Now I see.');
      },
      far: (_request, turn) => says(`answer ${turn}`),
    }),
    expect: { body: 'Now I see.', finalAgent: 'boss' },
    check(played) {
      const [, second, third] = askedOf(played, 'boss');
      expect(told(second)).toContain(`${UNCHECKED_LINE}\n\nfar lives elsewhere. `);
      expect(told(second)).toMatch(/\n\n<answer-(\w+)>\nanswer 1\n<\/answer-\1>\n\n---\nfar can be asked further/);
      expect(told(third)).toContain('"content":"answer 2"');
      expect(told(askedOf(played, 'far')[1])).toMatch(/^Look\.\s+## CLARIFICATION REQUEST FROM boss\n\nWhy\?$/);
    },
  }),
  row('as a sub-agent that fails', {
    engineOnly,
    agents: [actor('boss', { agents: ['far'] }), far],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => (turn === 1 ? asksFar('Look.') : reports('Without it.')),
      far: () => fails('no such city'),
    }),
    expect: { body: 'Without it.', finalAgent: 'boss' },
    check: (played) =>
      expect(told(askedOf(played, 'boss')[1])).toContain('far did not succeed (failed): far: it failed: no such city'),
  }),
  row('as an advisor', {
    agents: [actor('chief', { advisors: ['far'] }), far],
    prompt: 'Shall we?',
    brain: byAgent({ chief: () => says('Yes.'), far: () => says('Risky.') }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check: (played) =>
      expect(told(askedOf(played, 'chief')[0])).toMatch(/### From far\n\n[^\n]*\n\n<analysis-(\w+)>\nRisky\.\n<\/analysis-\1>/),
  }),
  row('as a member of a team: what it says, it has said to all', {
    agents: [actor('room', { team: { members: ['far', 'near'], supervisor: 'lead' } }), actor('lead'), far, actor('near')],
    prompt: 'Why is it down?',
    brain: byAgent({
      far: () => says('far saw the disk'),
      near: () => broadcasts('near saw the network'),
      lead: () => reports('The disk.'),
    }),
    expect: { body: 'The disk.', finalAgent: 'lead' },
    check: (played) => expect(told(askedOf(played, 'lead')[0])).toMatch(/<broadcast-\w+>\nfar saw the disk\n/),
  }),
  row('as the head of a team: its answer is the end', {
    agents: [actor('room', { team: { members: ['near'], supervisor: 'far' } }), far, actor('near')],
    prompt: 'Why is it down?',
    brain: byAgent({ near: () => broadcasts('near saw the network'), far: () => says('The network.') }),
    expect: { body: 'The network.', finalAgent: 'far' },
  }),
  row('as a worker of a group', {
    agents: [actor('lead', { group: { mode: 'broadcast', workers: ['far', 'near'] } }), far, actor('near')],
    prompt: 'Why?',
    brain: (request) => says(`${request.agent} on ${told(request)}`),
    expect: { body: '### far\n\nfar on Why?\n\n### near\n\nnear on Why?', finalAgent: 'lead' },
  }),
  row('as a destination', {
    agents: [actor('desk', { router: { destinations: ['far', 'near'] } }), far, actor('near')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: () => calls({ name: 'handoff-to', input: { agent: 'far' }, id: 'route' }),
      far: () => says('Refunded.'),
    }),
    expect: { body: 'Refunded.', finalAgent: 'far' },
    check: (played) => expect(told(askedOf(played, 'far')[0])).toContain('My bill is wrong.'),
  }),
  row('as the one that is handed over to', {
    agents: [actor('near', { handoff: { to: 'far', include: 'report' } }), far],
    prompt: 'Go.',
    brain: byAgent({
      near: () => says('Half done.'),
      far: (request) => says(told(request).includes('Half done.') ? 'Done.' : 'What?'),
    }),
    expect: { body: 'Done.', finalAgent: 'far' },
  }),
  row('as one that is dispatched to', {
    agents: [actor('house', { dispatch: { agents: ['far', 'near'] } }), far, actor('near')],
    prompt: 'Lights, please.',
    brain: byAgent({
      house: () => says(JSON.stringify({ agentId: 'far', confidence: 0.9, reasoning: 'It fits.' })),
      far: () => says('The lights are on.'),
    }),
    expect: { body: 'The lights are on.', finalAgent: 'far' },
    check: (played) =>
      expect(eventsOf(played, 'dispatch.responded').map(({ payload }) => [payload.agentId, payload.success])).toEqual([
        ['far', true],
      ]),
  }),
  row('as one that is dispatched to and is not done in time: it is said how it was last, and its task ends', {
    engineOnly: 'who lives elsewhere is asked by the engine',
    agents: [actor('house', { dispatch: { agents: ['far', 'near'], timeout: 20, retries: 0 } }), far, actor('near')],
    prompt: 'Lights, please.',
    brain: byAgent({
      house: () => says(JSON.stringify({ agentId: 'far', confidence: 0.9, reasoning: 'It fits.' })),
      far: (request) => never(request),
    }),
    expect: {
      ...{ status: 'failed', finalAgent: 'house' },
      body: 'I encountered an issue processing your request. Please try again.',
      // A process that dies when the task has been told to end finds it so.
      error: /timed out after 20ms|it was cancelled there/,
    },
    check(played) {
      const late = 'timed out after 20ms (dispatch.timeout) before it was done: far was at it';
      expect(eventsOf(played, 'dispatch.responded').map(({ payload }) => payload.errorMessage)).toEqual([late]);
      expect(eventsOf(played, 'peer.cancelled').map(({ payload }) => payload.reached)).toEqual([true]);
    },
  }),
  row('as one that is dispatched to and says itself that it failed: it is not asked again', {
    agents: [actor('house', { dispatch: { agents: ['far', 'near'], retries: 2 } }), far, actor('near')],
    prompt: 'Lights, please.',
    brain: byAgent({
      house: () => says(JSON.stringify({ agentId: 'far', confidence: 0.9, reasoning: 'It fits.' })),
      far: () => fails('no such lamp'),
    }),
    expect: {
      ...{ status: 'failed', finalAgent: 'house' },
      body: 'I encountered an issue processing your request. Please try again.',
      error: /no such lamp/,
    },
    check(played) {
      expect(askedOf(played, 'far')).toHaveLength(1);
      expect(eventsOf(played, 'dispatch.responded').map(({ payload }) => payload.attempts)).toEqual([1]);
    },
  }),
];
