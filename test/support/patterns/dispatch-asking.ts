/** Rows of dispatch in which somebody asks: the house itself, or one of those who were chosen. */
import { expect } from 'vitest';
import { limits } from '../../../src/base/limits.ts';
import { says } from '../world.ts';
import { both, choices, chooses, house, others, responses, row } from './dispatch-house.ts';
import { askedOf, byAgent, fails, type Scenario, told } from './scenarios.ts';

export const askingScenarios: readonly Scenario[] = [
  row('below the threshold the user is asked, and the answer is about the same request', {
    everyCut: true,
    answer: (question) => (question === 'Which room?' ? 'The kitchen.' : 'What?'),
    prompt: 'Light, please.',
    brain: byAgent({
      house: (request) =>
        told(request).includes('The kitchen.') ? chooses('lights', 0.9) : chooses('lights', 0.69, { reasoning: 'Which room?' }),
      lights: () => says('On.'),
    }),
    expect: { body: 'On.', finalAgent: 'lights' },
    check(played) {
      expect(choices(played)).toMatchObject([
        { agentId: 'clarification-agent', proposed: 'lights', confidence: 0.69, decision: 'clarification', round: 1 },
        { agentId: 'lights', decision: 'route', round: 2 },
      ]);
      const settled =
        /<request-(\w+)>\nLight, please\.\n<\/request-\1>[\s\S]*<question-\1>\nWhich room\?\n<\/question-\1>[\s\S]*<answer-\1>\nThe kitchen\.\n<\/answer-\1>$/;
      expect(told(askedOf(played, 'house')[1])).toMatch(settled);
      expect(told(askedOf(played, 'lights')[0])).toMatch(settled);
    },
  }),
  row('in words of its own, up to a limit', {
    agents: [
      house({ fallback: 'general', confidenceThreshold: 0.95, clarificationPromptTemplate: 'What is {0}? {reasoning}' }),
      ...others,
    ],
    answer: (question) => (question === 'What is Turn on the kitchen lights.? It fits.' ? 'Guess.' : 'What?'),
    brain: byAgent({
      house: () => chooses('lights', 0.94),
      general: (request) => says(`Well: ${told(request).split('Guess.').length - 1}.`),
    }),
    expect: { body: 'Well: 3.', finalAgent: 'general' },
    check(played) {
      expect(choices(played).map(({ decision }) => decision)).toEqual([...Array(3).fill('clarification'), 'fallback']);
      expect(choices(played).at(-1)?.reasoning).toMatch(/not clear after 3 questions \(limit dispatchClarifications\)/);
    },
  }),
  row('an agent puts the question into words', {
    agents: [house({ clarification: 'asker' }), ...others],
    answer: () => 'The kitchen.',
    brain: byAgent({
      house: (request) => chooses('lights', told(request).includes('The kitchen.') ? 1 : 0.1),
      asker: () => says('Which room do you mean?'),
      lights: () => says('On.'),
    }),
    expect: { body: 'On.', finalAgent: 'lights' },
    check(played) {
      expect(choices(played)).toMatchObject([{ agentId: 'asker', proposed: 'lights' }, { agentId: 'lights' }]);
      expect(told(askedOf(played, 'house')[1])).toContain('Which room do you mean?');
    },
  }),
  row('an agent that asks nothing has answered', {
    agents: [house({ clarification: 'asker', clarificationPromptTemplate: 'Help with {request}' }), ...others],
    brain: byAgent({ house: () => chooses('lights', 0.1), asker: () => says('I know lights and music.') }),
    expect: { body: 'I know lights and music.', finalAgent: 'asker' },
    check: (played) => expect(told(askedOf(played, 'asker')[0])).toMatch(/Help with <request-/),
  }),
  row('who cannot put the question into words keeps nobody from being asked', {
    agents: [house({ clarification: 'asker', clarificationPromptTemplate: 'Help with {request}' }), ...others],
    answer: (question) => (question === 'Which room?' ? 'The kitchen.' : 'What?'),
    brain: byAgent({
      house: (request) =>
        told(request).includes('The kitchen.') ? chooses('lights', 1) : chooses('lights', 0.1, { reasoning: 'Which room?' }),
      asker: () => fails('the key was refused'),
      lights: () => says('On.'),
    }),
    expect: { body: 'On.', finalAgent: 'lights' },
    check: (played) => expect(responses(played)[0]).toMatchObject({ agentId: 'asker', success: false }),
  }),
  row('what one of them asks is carried up, and what the others gave is kept', {
    everyCut: true,
    answer: (question) => (question === 'On.\n\nTimer: For how long?' ? 'Ten minutes.' : 'What?'),
    brain: byAgent({
      house: () => chooses('lights', 0.9, both('timer')),
      lights: () => says('On.'),
      timer: (_request, turn) => (turn === 1 ? says('For how long?') : says('Set to ten minutes.')),
    }),
    expect: { body: 'On. Set to ten minutes.', finalAgent: 'house' },
    check(played) {
      expect(askedOf(played, 'lights')).toHaveLength(1);
      expect(responses(played)).toContainEqual(expect.objectContaining({ agentId: 'timer', needsInput: true }));
      expect(told(askedOf(played, 'timer')[1])).toMatch(/<answer-(\w+)>\nTen minutes\.\n<\/answer-\1>$/);
    },
  }),
  row('what several of them ask is put at once, and each goes on with its own answer', {
    everyCut: true,
    answer: (question) =>
      question === 'Timer: For how long?' ? 'Ten minutes.' : question === 'Music: Which one?' ? 'Jazz.' : 'What?',
    brain: byAgent({
      house: () => chooses('timer', 0.9, both('music', 'timer')),
      music: (request) => says(told(request).includes('Jazz.') ? 'Jazz it is.' : 'Which one?'),
      timer: (request) => says(told(request).includes('Ten minutes.') ? 'Set to ten minutes.' : 'For how long?'),
    }),
    expect: { body: 'Jazz it is. Set to ten minutes.', finalAgent: 'house' },
    check(played) {
      const kinds = played.events.flatMap(({ type, step }) => (/question$|^dispatch\/2\/\w+\/1$/.test(step) ? [type] : []));
      expect(kinds.slice(0, 2)).toEqual(['task.clarify', 'task.clarify']);
      expect(
        responses(played)
          .map(({ agentId, needsInput = false }) => `${agentId} ${needsInput}`)
          .sort(),
      ).toEqual(['music false', 'music true', 'timer false', 'timer true']);
    },
  }),
  row('who asks again and again is answered up to a limit', {
    answer: () => 'Ten minutes.',
    brain: byAgent({ house: () => chooses('timer', 0.9), timer: () => says('For how long?') }),
    expect: { body: 'For how long?', finalAgent: 'timer' },
    check: (played) => expect(askedOf(played, 'timer')).toHaveLength(limits.dispatchQuestions + 1),
  }),
  row('where it is said so, a question is an answer', {
    agents: [house({ needsInput: false }), ...others],
    brain: byAgent({ house: () => chooses('timer', 0.9), timer: () => says('For how long?') }),
    expect: { body: 'For how long?', finalAgent: 'timer' },
  }),
];
