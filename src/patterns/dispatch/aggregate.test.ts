import { expect, it } from 'vitest';
import { aggregate, displayName, inOrder } from './aggregate.ts';
import { dispatchSettings } from './settings.ts';

const did = (agentId: string, content: string) => ({ agentId, content, success: true, errorMessage: null });
const failed = (agentId: string, errorMessage: string) => ({ agentId, content: '', success: false, errorMessage });
const wording = (changes = {}) => dispatchSettings({ agents: ['a'], ...changes });

it.each([
  ['one answer is the answer', [did('light-agent', 'On')], {}, 'On'],
  ['several are joined, by id', [did('b', 'Jazz is playing'), did('a', 'On.')], {}, 'On. Jazz is playing.'],
  [
    'in the order of priority',
    [did('a', 'On.'), did('c', 'Set!'), did('b', 'Jazz…')],
    { priority: ['c', 'b'] },
    'Set! Jazz… On.',
  ],
  ['what has lines keeps them', [did('a', 'One:\n- two'), did('b', 'Three')], {}, 'One:\n- two\n\nThree'],
  [
    'side by side where they are not joined',
    [did('a-b', 'On'), did('c', 'Off')],
    { join: false },
    '### A B\n\nOn\n\n### C\n\nOff',
  ],
  ['nothing said is done all the same', [did('light-agent', ' ')], {}, 'Light Agent completed successfully.'],
  [
    'one failure',
    [did('a', 'On'), failed('music-agent', 'HTTP 503.')],
    {},
    'On. However, Music Agent could not do its part: HTTP 503.',
  ],
  [
    'several failures',
    [failed('b', 'away!'), did('a', 'On.'), failed('c', 'busy')],
    {},
    'On. However, these parts were not done: B (away), C (busy).',
  ],
  [
    'a template of its own, and nothing of the answers is taken for a place',
    [did('a', 'On {failureMessage}.'), failed('b', '{successMessage}')],
    { partialFailureTemplate: '{failureMessage} / {successMessage} / {x}' },
    'B could not do its part: {successMessage}. / On {failureMessage}. / {x}',
  ],
  [
    'a failure beside answers under their names is in nobody’s section',
    [did('b', 'Off'), did('a', 'On'), failed('c', 'away')],
    { join: false },
    '### A\n\nOn\n\n### B\n\nOff\n\nHowever, C could not do its part: away.',
  ],
  [
    'nor in the last line of an answer that has lines, or in the fence of its code',
    [did('a', 'Run:\n```\nls\n```'), failed('c', 'away')],
    { partialFailureTemplate: '{successMessage} But: {failureMessage}' },
    'Run:\n```\nls\n```\n\nBut: C could not do its part: away.',
  ],
  ['all failed', [failed('a', 'x'), failed('b', 'y')], {}, 'I encountered an issue processing your request. Please try again.'],
  ['all failed, in words of its own', [failed('a', 'x')], { fallbackMessage: 'Sorry.' }, 'Sorry.'],
])('%s', (_name, responses, changes, answer) => {
  expect(aggregate(responses, wording(changes))).toBe(answer);
  expect(aggregate([...responses].reverse(), wording(changes))).toBe(answer);
});

it('shows ids as names', () => {
  expect(['light-agent', 'timer', 'über_uhr  2', '調査', '-'].map(displayName)).toEqual([
    'Light Agent',
    'Timer',
    'Über Uhr 2',
    '調査',
    '-',
  ]);
});

it('keeps what it is given when it puts it into order', () => {
  const given = [did('b', ''), did('a', '')];
  expect(inOrder(given, { priority: [] }).map(({ agentId }) => agentId)).toEqual(['a', 'b']);
  expect(given.map(({ agentId }) => agentId)).toEqual(['b', 'a']);
});
