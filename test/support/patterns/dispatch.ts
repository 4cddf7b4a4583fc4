/** Dispatch: whom the router chooses, who works and how often, what becomes of the answers; a row for every option. */
import { expect } from 'vitest';
import type { ModelOutcome } from '../../../src/models/port.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { calls, says } from '../world.ts';
import { askingScenarios } from './dispatch-asking.ts';
import { attempt, attemptsOf, both, choices, chooses, house, lights, others, responses, row } from './dispatch-house.ts';
import { actor, askedOf, byAgent, eventsOf, fails, never, type Scenario, told } from './scenarios.ts';

const routing: readonly Scenario[] = [
  row('one agent answers for the house, exactly at the threshold', {
    brain: byAgent({ house: () => chooses('lights', 0.7), lights: () => says('The lights are on.') }),
    expect: { body: 'The lights are on.', finalAgent: 'lights' },
    check(played) {
      const [router] = askedOf(played, 'house');
      expect(router?.settings).toMatchObject({ temperature: 0.3, maxOutputTokens: 500 });
      expect(router?.system).toMatch(/^You decide who answers a request[\s\S]*\n\nYou are house\.$/);
      expect(router?.outputSchema).toMatchObject({ properties: { agentId: { enum: ['lights', 'music', 'timer'] } } });
      expect(told(router)).toMatch(
        /<agents-(\w+)>\n- lights: Turns lights on and off\.\n {2}capabilities: lighting, scenes\n {2}example: Turn on the kitchen lights\n- music\n- timer\n<\/agents-\1>\n\n## Request\n\n<request-\1>\nTurn on the kitchen lights\.\n<\/request-\1>$/,
      );
      expect(told(askedOf(played, 'lights')[0])).toMatch(
        /^## ORIGINAL USER REQUEST\n\n<request-(\w+)>\nTurn on the kitchen lights\.\n<\/request-\1>$/,
      );
      expect(choices(played)).toEqual([
        { agentId: 'lights', confidence: 0.7, reasoning: 'It fits.', decision: 'route', round: 1, attempts: 1 },
      ]);
      expect(responses(played)).toEqual([
        {
          ...{ agentId: 'lights', content: 'The lights are on.', success: true, errorMessage: null, attempts: 1 },
          ...{ executionTimeMs: expect.any(Number), status: 'completed', verification: { state: 'unchecked' } },
        },
      ]);
    },
  }),
  row('two work side by side, each with its own part', {
    everyCut: true,
    agents: [house(), { ...lights, tools: ['act'] }, actor('music', { tools: ['act'] }), actor('timer')],
    prompt: 'Kitchen lights and jazz, please.',
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music', 'music', 'lights', 'garden')),
      lights: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'on' } }) : says('The lights are on')),
      music: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'jazz' } }) : says('Jazz is playing.')),
    }),
    expect: { body: 'The lights are on. Jazz is playing.', finalAgent: 'house' },
    check(played) {
      expect(choices(played)).toMatchObject([
        {
          additionalAgents: ['music'],
          leftOut: ['garden'],
          agentInstructions: [
            { agentId: 'lights', instruction: 'Do what is for lights.' },
            { agentId: 'music', instruction: 'Do what is for music.' },
          ],
        },
      ]);
      expect(told(askedOf(played, 'music')[0])).toMatch(
        /## YOUR PART\n\n.*\n\n<instruction-(\w+)>\nDo what is for music\.\n<\/instruction-\1>$/,
      );
    },
  }),
  row('where nobody has an instruction everybody has the whole request', {
    brain: byAgent({
      house: () => chooses('lights', 0.9, { additionalAgents: ['music'] }),
      lights: () => says('On.'),
      music: () => says('Jazz.'),
    }),
    expect: { body: 'On. Jazz.', finalAgent: 'house' },
    check: (played) =>
      expect(told(askedOf(played, 'music')[0])).toMatch(
        /Turn on the kitchen lights\.\n<\/request-\w+>\n\n## YOUR PART\n\nDo what you are for and nothing else; others do the rest\.$/,
      ),
  }),
  row('who is named for nothing goes back to the model', {
    brain: byAgent({
      house: (_request, turn) => chooses('lights', 0.9, turn === 1 ? { ...both(), additionalAgents: ['music'] } : both('music')),
      lights: () => says('On.'),
      music: () => says('Jazz.'),
    }),
    expect: { body: 'On. Jazz.', finalAgent: 'house' },
    check: (played) => expect(told(askedOf(played, 'house')[1])).toContain('there is no instruction for music'),
  }),
  row('an answer that cannot be read is asked for again', {
    brain: byAgent({
      house: (_request, turn) =>
        [says('The lights, I think.'), chooses('light', 0.9), chooses('lights', '0.9', { additionalAgents: null })][turn - 1] ??
        says(''),
      lights: () => says('On.'),
    }),
    expect: { body: 'On.', finalAgent: 'lights' },
    check(played) {
      expect(askedOf(played, 'house')).toHaveLength(3);
      expect(told(askedOf(played, 'house')[2])).toMatch(/there is no agent with the id "light"/);
      expect(choices(played)).toMatchObject([{ confidence: 0.9, attempts: 3 }]);
    },
  }),
  row('after the last attempt somebody else answers, and the reason is kept', {
    agents: [house({ maxAttempts: 2, fallback: 'general', fallbackReasonTemplate: 'No luck: {reason}' }), ...others],
    brain: byAgent({
      house: (_request, turn) => (turn === 1 ? chooses('lights', 1.5) : chooses('house', 0.9)),
      general: () => says('I can only talk.'),
    }),
    expect: { body: 'I can only talk.', finalAgent: 'general' },
    check(played) {
      expect(askedOf(played, 'house')).toHaveLength(2);
      expect(told(askedOf(played, 'house')[1])).toMatch(/Not taken: confidence: /);
      const why = 'there is no agent with the id "house". The exact ids are: lights, music, timer.';
      const reasoning = `No luck: no choice could be taken from 2 answers: ${why}`;
      expect(choices(played)).toEqual([
        { agentId: 'general', confidence: 0, reasoning, decision: 'fallback', round: 1, attempts: 2 },
      ]);
    },
  }),
  row('a model that fails is a reason to fall back, on an agent that may ask and act like any other', {
    agents: [
      house({ fallback: 'general' }),
      ...others.filter(({ name }) => name !== 'general'),
      actor('general', { tools: ['act'] }),
    ],
    answer: () => 'The kitchen.',
    brain: byAgent({
      house: () => fails('no key'),
      general: (request, turn) => {
        if (!told(request).includes('The kitchen.')) return says('Which room?');
        return turn === 2 ? calls({ name: 'act', input: { name: 'on' } }) : says('On.');
      },
    }),
    expect: { body: 'On.', finalAgent: 'general' },
    check: (played) => expect(choices(played)).toMatchObject([{ reasoning: 'Nobody could be chosen: no key' }]),
  }),
  row('without anybody to fall back on there is a sentence for it', {
    agents: [house({ fallbackMessage: 'Try later.' }), ...others],
    brain: byAgent({ house: () => says('') }),
    expect: { status: 'failed', body: 'Try later.', finalAgent: 'house', error: /no choice could be read in 3 answers/ },
    check(played) {
      expect(choices(played)).toMatchObject([{ agentId: 'fallback-agent', decision: 'fallback' }]);
      expect(played.result.report).not.toHaveProperty('synthetic');
    },
  }),
  row('what was chosen before is chosen again without a model', {
    agents: [house({ cache: true }), ...others],
    afterwards: 'Turn on the kitchen lights.',
    brain: byAgent({ house: () => chooses('lights', 0.9), lights: (_request, turn) => says(turn === 1 ? 'On.' : 'Still on.') }),
    expect: { body: 'Still on.', finalAgent: 'lights' },
    check(played) {
      expect(askedOf(played, 'house')).toHaveLength(1);
      const [first, again] = choices(played);
      expect(again).toEqual({ ...first, attempts: 0, recalled: true });
    },
  }),
  row('where only the choice is wanted it is the answer', {
    agents: [house({ dryRun: true }), ...others],
    brain: byAgent({ house: () => chooses('lights', 0.2) }),
    expect: { finalAgent: 'house' },
    check(played) {
      expect(JSON.parse(played.result.report.body)).toEqual(choices(played)[0]);
      expect(choices(played)).toMatchObject([{ decision: 'clarification', proposed: 'lights', confidence: 0.2 }]);
    },
  }),
  row('where there are no agents no model is asked', {
    agents: [house({ agents: [], fallback: 'general' }), ...others],
    brain: byAgent({ general: () => says('I can only talk.') }),
    expect: { body: 'I can only talk.', finalAgent: 'general' },
    check: (played) => expect(choices(played)).toMatchObject([{ confidence: 0, attempts: 0, decision: 'fallback' }]),
  }),
  row('its words, its model and what it shows of others can be chosen', {
    agents: [
      house({
        ...{ model: 'other/model', temperature: 0, maxOutputTokens: 99, systemPrompt: 'Choose.', catalogueHeader: 'Pick one:' },
        ...{ userPromptTemplate: 'R {0}\nC {1} {other}', includeCapabilities: false, includeExamples: false },
      }),
      ...others,
    ],
    prompt: 'Say {1} to me.',
    brain: byAgent({ house: () => chooses('lights', 1), lights: () => says('On.') }),
    expect: { body: 'On.', finalAgent: 'lights' },
    check(played) {
      const [router] = askedOf(played, 'house');
      expect(router?.settings).toMatchObject({ temperature: 0, maxOutputTokens: 99 });
      expect(router?.system).toBe('Choose.\n\nYou are house.');
      expect(told(router)).toMatch(
        /R <request-(\w+)>\nSay \{1\} to me\.\n<\/request-\1>\nC Pick one:\n\n<agents-\1>\n- lights: Turns lights on and off\.\n- music\n- timer\n<\/agents-\1> \{other\}$/,
      );
      expect(eventsOf(played, 'run.started').find(({ payload }) => payload.model !== undefined)?.payload.model).toBe(
        'other/model',
      );
    },
  }),
];

const answering: readonly Scenario[] = [
  row('in the order of priority, then of ids, and each under its name', {
    agents: [house({ agents: ['lights', 'music', 'timer'], priority: ['timer'], join: false }), ...others],
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music', 'timer')),
      lights: () => says('On.'),
      music: () => says('Jazz.'),
      timer: () => says('Set.'),
    }),
    expect: { body: '### Timer\n\nSet.\n\n### Lights\n\nOn.\n\n### Music\n\nJazz.', finalAgent: 'house' },
  }),
  row('who failed is named, in words of its own', {
    agents: [house({ partialFailureTemplate: '{successMessage} But {failureMessage}' }), ...others],
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music')),
      lights: () => says('On'),
      music: () => fails('the service is away (HTTP 503)'),
    }),
    expect: { body: 'On. But Music could not do its part: the service is away (HTTP 503).', finalAgent: 'house' },
    check(played) {
      expect(attemptsOf(played, 'music')).toBe(1);
      const error = 'the service is away (HTTP 503)';
      expect(responses(played)).toContainEqual(
        expect.objectContaining({ agentId: 'music', content: '', success: false, errorMessage: error, status: 'failed' }),
      );
    },
  }),
  row('when all have failed there is one sentence', {
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music')),
      lights: () => fails('no power'),
      music: () => fails('no net'),
    }),
    expect: {
      ...{ status: 'failed', finalAgent: 'house' },
      body: 'I encountered an issue processing your request. Please try again.',
      error: /Lights \(no power\), Music \(no net\)/,
    },
    check: (played) => expect(played.result.report).not.toHaveProperty('synthetic'),
  }),
];

const overloaded: ModelOutcome = { kind: 'failed', error: { kind: 'overloaded', message: 'overloaded' } };

const trying: readonly Scenario[] = [
  row('what may pass is tried again, and who is done is not asked again', {
    everyCut: true,
    agents: [house({ retries: 2 }), { ...lights, tools: ['act'] }, actor('music', { maxRetries: 0 }), actor('timer')],
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music')),
      lights: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'on' } }) : says('On.')),
      music: (request) => (attempt(request) < 3 ? overloaded : says('Jazz.')),
    }),
    expect: { body: 'On. Jazz.', finalAgent: 'house' },
    check(played) {
      expect([attemptsOf(played, 'lights'), attemptsOf(played, 'music')]).toEqual([1, 3]);
      expect(responses(played)).toContainEqual(expect.objectContaining({ agentId: 'music', attempts: 3, success: true }));
      expect(told(askedOf(played, 'music')[1])).toMatch(
        /Your last attempt came to no end:\n\n<failure-(\w+)>\noverloaded\n<\/failure-\1>/,
      );
    },
  }),
  row('not done in time is another failure than cancelled', {
    clock: createQuietClock(),
    agents: [house({ timeout: 20, retries: 1 }), ...others],
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('music')),
      lights: () => says('On.'),
      music: (request) => never(request),
    }),
    expect: {
      body: 'On. However, Music could not do its part: timed out after 20ms (dispatch.timeout) before it was done.',
      finalAgent: 'house',
    },
    check: (played) => expect(attemptsOf(played, 'music')).toBe(2),
  }),
];

export const dispatchScenarios: readonly Scenario[] = [...routing, ...answering, ...trying, ...askingScenarios];
