import { expect, it } from 'vitest';
import { choiceIn } from './choice.ts';

const ids = ['lights', 'music', 'timer'];
const read = (answer: unknown) => choiceIn(typeof answer === 'string' ? answer : JSON.stringify(answer), ids);
const told = (agentId: string, instruction = `For ${agentId}.`) => ({ agentId, instruction });

it.each([
  [
    'one agent',
    { agentId: 'lights', confidence: 0.95, reasoning: 'It says lights.' },
    { agentId: 'lights', confidence: 0.95, reasoning: 'It says lights.' },
  ],
  [
    'several, each once, without the first and without strangers',
    {
      agentId: 'lights',
      confidence: 0.88,
      additionalAgents: ['music', 'music', 'lights', 'Music', 'garden'],
      agentInstructions: [told('music'), told('music', 'Twice.'), told('lights'), told('garden'), told('timer', ' ')],
    },
    {
      agentId: 'lights',
      confidence: 0.88,
      additionalAgents: ['music'],
      agentInstructions: [told('lights'), told('music')],
      leftOut: ['Music', 'garden'],
    },
  ],
  [
    'several without instructions, as some models name them',
    { agentId: 'lights', confidence: 0.88, reasoning: 'Both.', additionalAgents: ['music'] },
    { agentId: 'lights', confidence: 0.88, reasoning: 'Both.', additionalAgents: ['music'] },
  ],
  [
    'numbers as text, nothing as null, and more than was asked for',
    { agentId: 'timer', confidence: ' .5 ', reasoning: null, additionalAgents: null, agentInstructions: null, mood: 'good' },
    { agentId: 'timer', confidence: 0.5 },
  ],
  ['a block of code', '```json\n{"agentId":"music","confidence":0}\n```\n', { agentId: 'music', confidence: 0 }],
])('%s', (_name, answer, choice) => {
  expect(read(answer)).toEqual({ ok: true, value: choice });
});

it.each([
  ['no JSON', 'The lights.', /one JSON object/],
  ['nothing', '', /one JSON object/],
  ['a list', [], /expected object/],
  ['nobody', { confidence: 1 }, /agentId/],
  ['an empty id', { agentId: '', confidence: 1 }, /agentId/],
  [
    'an id that only looks the same',
    { agentId: 'Lights', confidence: 1 },
    /no agent with the id "Lights"\. Did you mean lights\? Upper and lower case count\. The exact ids are: lights, music, timer\.$/,
  ],
  [
    'a stranger',
    { agentId: 'garden', confidence: 1 },
    /no agent with the id "garden"\. The exact ids are: lights, music, timer\.$/,
  ],
  [
    'one without an instruction where others have one',
    {
      agentId: 'lights',
      confidence: 1,
      additionalAgents: ['music', 'timer'],
      agentInstructions: [told('music'), told('timer', ' ')],
    },
    /there is no instruction for timer\. Write one for every agent that you name/,
  ],
  ['more than sure', { agentId: 'lights', confidence: 1.01 }, /confidence/],
  ['less than unsure', { agentId: 'lights', confidence: -0.1 }, /confidence/],
  ['a word for a number', { agentId: 'lights', confidence: 'high' }, /confidence/],
])('%s is not taken', (_name, answer, why) => {
  const choice = read(answer);
  expect(choice.ok ? '' : choice.error).toMatch(why);
});
