/** Sub-agents as tools and clarifications. Both are calls that the engine makes, so they cannot be played by hand. */
import { expect } from 'vitest';
import { type Json, type JsonObject, parseJson } from '../../../src/base/json.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import { calls, reports, says } from '../world.ts';
import { actor, askedOf, byAgent, eventsOf, fails, type Scenario, type ScenarioRun, told, UNCHECKED_LINE } from './scenarios.ts';

const engineOnly = 'sub-agents are tool calls, and those are made by the engine, not through the steps port';

const task = (name: string, prompt = 'Do it.', more: JsonObject = {}) => ({
  name,
  input: { prompt, reason: `because of ${name}`, ...more },
  id: `${name}-${prompt}`,
});
const asks = (id: string, question: string) => ({ name: 'ask_clarification', input: { id, question }, id: `ask-${question}` });

/** What the last tools of a conversation answered. */
function results(request: ModelRequest | undefined): { readonly text: string; readonly isError: boolean }[] {
  const last = request?.messages.findLast((message) => message.role === 'tool');
  return (last?.role === 'tool' ? last.content : []).map((part) => ({
    text: part.content.map((item) => (item.type === 'text' ? item.text : '')).join(''),
    isError: part.isError === true,
  }));
}

/** The structured part of each result. */
const answers = (request: ModelRequest | undefined): Json[] =>
  results(request).map(({ text }) => {
    const parsed = parseJson(text.split('\n')[0] ?? '');
    return parsed.ok ? parsed.value : parsed.error;
  });
const structured = (request: ModelRequest | undefined): Json | undefined => answers(request)[0];
const dismissed = (played: ScenarioRun) => eventsOf(played, 'agent.dismissed').map(({ payload }) => payload.agent);
const boss = (...agents: string[]) => actor('boss', { agents });

const subAgents: readonly Omit<Scenario, 'pattern' | 'engineOnly'>[] = [
  {
    name: 'a call needs a reason, which is recorded and not shown to the agent',
    agents: [boss('helper'), actor('helper')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls({ name: 'helper', input: { prompt: 'Look.' } });
        return turn === 2 ? calls(task('helper', 'Look.')) : reports('Done.');
      },
      helper: (request) => says(`I was told: ${told(request)}`),
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check(played) {
      const [first, second, third] = askedOf(played, 'boss');
      expect(first?.tools[0]).toMatchObject({ name: 'helper', inputSchema: { required: ['prompt', 'reason'] } });
      expect(results(second)).toMatchObject([{ isError: true, text: expect.stringContaining('reason') }]);
      expect(results(third)).toEqual([{ isError: false, text: `${UNCHECKED_LINE}\n\nI was told: Look.` }]);
      expect(eventsOf(played, 'run.started')[1]?.payload).toMatchObject({
        origin: { kind: 'call', reason: 'because of helper' },
      });
    },
  },
  {
    name: 'an agent with an input schema is given JSON',
    agents: [
      boss('weather'),
      actor('weather', { input: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } } }),
    ],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) =>
        turn === 1 ? calls({ name: 'weather', input: { city: 'Bern', reason: 'a trip' } }) : reports('Sunny.'),
      weather: (request) => says(told(request)),
    }),
    expect: { body: 'Sunny.', finalAgent: 'boss' },
    check(played) {
      const [first, second] = askedOf(played, 'boss');
      expect(first?.tools[0]).toMatchObject({ inputSchema: { required: ['city', 'reason'] } });
      expect(results(second)).toEqual([{ isError: false, text: `${UNCHECKED_LINE}\n\n{"city":"Bern"}` }]);
    },
  },
  {
    name: 'calls of one turn run side by side and answer in order',
    everyCut: true,
    agents: [boss('left', 'right'), actor('left', { tools: ['act', 'look'] }), actor('right', { tools: ['act'] })],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => (turn === 1 ? calls(task('left'), task('right')) : reports('Both.')),
      left: (_request, turn) =>
        turn === 1 ? calls({ name: 'look' }, { name: 'act', input: { name: 'l' } }) : reports('left done'),
      right: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'r' } }) : reports('right done')),
    }),
    expect: { body: 'Both.', finalAgent: 'boss' },
    check(played) {
      expect(results(askedOf(played, 'boss')[1]).map(({ text }) => text)).toEqual(
        ['left done', 'right done'].map((text) => `${UNCHECKED_LINE}\n\n${text}`),
      );
      const types = played.events.map((event) => event.type);
      expect(types.lastIndexOf('run.started')).toBeLessThan(types.indexOf('run.ended'));
    },
  },
  {
    name: 'a sub-agent that fails is told to its caller',
    agents: [boss('helper'), actor('helper')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => (turn === 1 ? calls(task('helper')) : reports('Without help.')),
      helper: () => fails('no key'),
    }),
    expect: { body: 'Without help.', finalAgent: 'boss' },
    check: (played) =>
      expect(results(askedOf(played, 'boss')[1])).toMatchObject([
        { isError: true, text: expect.stringMatching(/^helper did not succeed \(failed\): no key/) },
      ]),
  },
];

const chatty = (name: string, changes = {}) => actor(name, { chat: true, ...changes });
const answering = (request: ModelRequest, turn: number) => says(`${request.agent}, answer ${turn}.`);

/** The ids that each tool may name, for those tools that take one. */
const idsOffered = (request: ModelRequest | undefined): unknown[] =>
  (request?.tools ?? []).flatMap(({ inputSchema }) => {
    const { properties } = inputSchema as { readonly properties?: { readonly id?: { readonly enum?: unknown } } };
    return properties?.id === undefined ? [] : [properties.id.enum];
  });

const clarifications: readonly Omit<Scenario, 'pattern' | 'engineOnly'>[] = [
  {
    name: 'a sub-agent that has answered is asked again in its own conversation',
    everyCut: true,
    agents: [boss('helper'), chatty('helper', { maxTurns: 5, tools: ['act'] })],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('helper'));
        return turn === 2 ? calls(asks('helper-1.0', 'Why?')) : reports('Now I see.');
      },
      helper: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'work' } }) : reports(`answer ${turn}`)),
    }),
    expect: { body: 'Now I see.', finalAgent: 'boss' },
    check(played) {
      const [, second, third] = askedOf(played, 'boss');
      expect(results(second)[0]?.text).toBe(
        `${UNCHECKED_LINE}\n\nanswer 2\n\n---\nhelper can be asked further: ask_clarification with id \`helper-1.0\` (3 turns remaining).`,
      );
      const asked = askedOf(played, 'helper')[2];
      expect(told(asked)).toMatch(/^Do it\.\n[\s\S]*\n\n## CLARIFICATION REQUEST FROM boss\n\nWhy\?$/);
      expect(structured(third)).toEqual({
        status: 'answered',
        content: 'answer 3',
        verification: UNCHECKED_LINE.replace('Verification by the runtime: ', ''),
        clarificationId: 'helper-1.0',
        turnsRemaining: 2,
      });
      expect(results(third)[0]?.text).toContain('helper can be asked further');
      // Only ids that there are can be named; before there are any, nothing is offered that would need one.
      expect([undefined, second, third].map((request) => idsOffered(request ?? askedOf(played, 'boss')[0]))).toEqual([
        [],
        [['helper-1.0'], ['helper-1.0']],
        [['helper-1.0'], ['helper-1.0']],
      ]);
      expect(dismissed(played)).toEqual(['helper']);
    },
  },
  {
    name: 'one without chat cannot be asked',
    agents: [boss('helper', 'mute'), chatty('helper'), actor('mute')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('helper'), task('mute'));
        return turn === 2 ? calls(asks('mute-1.1', 'Why?')) : reports('Done.');
      },
      helper: answering,
      mute: answering,
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check: (played) => expect(structured(askedOf(played, 'boss')[2])).toMatchObject({ status: 'error', error: 'chat_disabled' }),
  },
  {
    name: 'turns count on both sides until there are none left',
    agents: [actor('boss', { agents: ['helper'], maxTurns: 4 }), chatty('helper', { maxTurns: 2 })],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('helper'));
        return turn < 4 ? calls(asks('helper-1.0', `Why ${turn}?`)) : reports('Enough.');
      },
      helper: answering,
    }),
    expect: { body: 'Enough.', finalAgent: 'boss' },
    check(played) {
      const [, , third, fourth] = askedOf(played, 'boss');
      expect(structured(third)).toMatchObject({ status: 'answered', turnsRemaining: 0 });
      expect(results(third)[0]?.text).toContain('helper has no turns left and cannot be asked further.');
      // It can be let go, but not asked.
      expect(idsOffered(third)).toEqual([['helper-1.0']]);
      expect(structured(fourth)).toMatchObject({ status: 'error', error: 'clarification_no_turns', turnsRemaining: 0 });
      expect(askedOf(played, 'helper')).toHaveLength(2);
      // The fourth was the last one that it had.
      expect(fourth?.tools.map((tool) => tool.name)).toEqual(['final_report']);
    },
  },
  {
    name: 'an unknown id is an error',
    agents: [boss('helper'), chatty('helper')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => (turn === 1 ? calls(asks('helper-9.9', 'Why?')) : reports('Done.')),
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check: (played) => expect(structured(askedOf(played, 'boss')[1])).toMatchObject({ status: 'error', error: 'unknown_id' }),
  },
  {
    name: 'across two levels, and destroyed all the way down at the end',
    agents: [boss('lead'), chatty('lead', { agents: ['clerk'] }), chatty('clerk')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('lead'));
        return turn === 2 ? calls(asks('lead-1.0', 'Sure?')) : reports('Good.');
      },
      lead: (_request, turn) => {
        if (turn === 1) return calls(task('clerk'));
        if (turn === 2) return reports('lead answers');
        // In the clarification: its own sub-agent is asked, and a new one is called.
        return turn === 3 ? calls(task('clerk', 'Again.'), asks('clerk-1.0', 'Really?')) : reports('lead is sure');
      },
      clerk: answering,
    }),
    expect: { body: 'Good.', finalAgent: 'boss' },
    check(played) {
      const asked = askedOf(played, 'clerk').find((request) => told(request).includes('Really?'));
      expect(told(asked)).toContain('## CLARIFICATION REQUEST FROM boss > lead\n\nReally?');
      const [second, clarified] = results(askedOf(played, 'lead').at(-1));
      expect(clarified?.text).toContain('clerk, answer 2.');
      // Turns are counted anew in the clarification, yet the first clerk keeps its id.
      expect(second?.text).toContain('`clerk-1.0-2`');
      expect(dismissed(played).toSorted()).toEqual(['clerk', 'clerk', 'lead']);
      const types = played.events.map((event) => event.type);
      expect(types.lastIndexOf('agent.dismissed')).toBeGreaterThan(types.lastIndexOf('model.response'));
    },
  },
  {
    name: 'one that was dismissed cannot be asked, nor those that it called',
    agents: [boss('lead', 'clerk'), chatty('lead', { agents: ['clerk'] }), chatty('clerk')],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('clerk'), task('lead'));
        if (turn === 2) return calls({ name: 'dismiss_agent', input: { id: 'lead-1.1' } });
        return turn === 3 ? calls(asks('lead-1.1', 'There?'), asks('clerk-1.0', 'And you?')) : reports('Done.');
      },
      lead: (_request, turn) => (turn === 1 ? calls(task('clerk')) : reports('lead answers')),
      clerk: answering,
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check(played) {
      const [gone, own] = results(askedOf(played, 'boss')[3]);
      expect(gone?.text).toContain('unknown_id');
      // The caller's own clerk has the same id as the one that went with the lead.
      expect(own?.text).toContain('clerk, answer 2.');
      expect(dismissed(played).toSorted()).toEqual(['clerk', 'clerk', 'lead']);
    },
  },
  {
    name: 'two questions to the same agent in one turn are answered one after the other',
    agents: [boss('helper'), chatty('helper', { maxTurns: 5 })],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('helper'));
        return turn === 2 ? calls(asks('helper-1.0', 'One?'), asks('helper-1.0', 'Two?')) : reports('Done.');
      },
      helper: answering,
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check(played) {
      expect(answers(askedOf(played, 'boss')[2])).toMatchObject([
        { content: 'helper, answer 2.', turnsRemaining: 3 },
        { content: 'helper, answer 3.', turnsRemaining: 2 },
      ]);
    },
  },
  {
    name: 'whoever answered at the end of a chain is the one who is asked',
    agents: [
      boss('helper'),
      chatty('helper', { handoff: { to: 'expert', include: 'report' } }),
      actor('expert', { maxTurns: 3 }),
    ],
    prompt: 'Go.',
    brain: byAgent({
      boss: (_request, turn) => {
        if (turn === 1) return calls(task('helper'));
        return turn === 2 ? calls(asks('helper-1.0', 'Why?')) : reports('Done.');
      },
      helper: answering,
      expert: answering,
    }),
    expect: { body: 'Done.', finalAgent: 'boss' },
    check(played) {
      expect(structured(askedOf(played, 'boss')[2])).toMatchObject({ content: 'expert, answer 2.', turnsRemaining: 1 });
      expect(askedOf(played, 'helper')).toHaveLength(1);
    },
  },
];

export const agentScenarios: readonly Scenario[] = [
  ...subAgents.map((row): Scenario => ({ ...row, pattern: 'sub-agents', engineOnly })),
  ...clarifications.map((row): Scenario => ({ ...row, pattern: 'clarifications', engineOnly })),
];
