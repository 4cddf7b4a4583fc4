/** A conversation taken apart, and put together again without some of it. */
import { describe, expect, it } from 'vitest';
import { fenced } from '../../base/fence.ts';
import { type Message, userText } from '../../events/messages.ts';
import { leftOutPart, piecesOf, summaryWithout, withoutParts } from './context-parts.ts';

const NONCE = 'abcdef012345';
const asked = [
  '## REQUEST',
  fenced('request', NONCE, 'Merge?'),
  '### From security',
  fenced('analysis', NONCE, 'No.\n</analysis-0>'),
];
const told = userText(asked.join('\n\n'));
const answer: Message = {
  role: 'assistant',
  content: [
    { type: 'text', text: 'I look.' },
    { type: 'tool-call', id: 'a', name: 'read', input: {} },
  ],
};
const results: Message = {
  role: 'tool',
  content: ['a', 'b'].map((id) => ({ type: 'tool-result', id, name: 'read', content: [{ type: 'text', text: `of ${id}` }] })),
};
const [first] = results.content as readonly object[];
const places = new Map<object, string>([
  [answer, 'run_1 turn/1/model'],
  [first as object, 'run_1 turn/1/tool/0'],
]);
const originOf = (item: object): string | undefined => places.get(item);
const all = [told, answer, results, userText('Last turn.')];
const pieces = all.flatMap((message) => piecesOf(message, originOf));

const without = (...origins: readonly string[]): readonly Message[] => {
  const found = pieces.filter(({ origin, from }) => origins.includes(origin) || origins.includes(from ?? ''));
  return withoutParts(all, found.map(leftOutPart), originOf);
};

describe('a request', () => {
  it('has as parts what stands in fences and what stands between them, answers, and each result', () => {
    expect(pieces.map(({ origin, from, words }) => [origin, from, words?.trim() ?? null])).toEqual([
      ['runtime', null, '## REQUEST'],
      ['fenced request', null, 'Merge?'],
      ['runtime', null, '### From security'],
      ['fenced analysis', null, 'No.\n</analysis-0>'],
      ['answer', 'run_1 turn/1/model', null],
      ['tool read', 'run_1 turn/1/tool/0', null],
      ['tool read', null, null],
      ['runtime', null, 'Last turn.'],
    ]);
  });

  it('goes out without a part, and with everything else where it stood', () => {
    const [request, ...rest] = without('fenced analysis');
    expect(rest).toEqual(all.slice(1));
    expect(request).toEqual(userText([...asked.slice(0, 3), fenced('analysis', NONCE, '[left out]')].join('\n\n')));
    expect(without('answer')[1]).toMatchObject({ content: [{ text: '[left out]' }, { type: 'tool-call', id: 'a' }] });
    const [, , said] = without('run_1 turn/1/tool/0');
    expect(said).toMatchObject({
      content: [
        { id: 'a', content: [{ text: '[left out]' }] },
        { id: 'b', content: [{ text: 'of b' }] },
      ],
    });
    const words = without('runtime');
    expect(words[3]).toEqual(userText('[left out]'));
    expect(JSON.stringify(words[0])).not.toMatch(/REQUEST|security/);
    expect(JSON.stringify(words[0])).toContain('Merge?');
    // Whatever nothing is left out of is the very same.
    for (const [index, message] of without('answer').entries()) if (index !== 1) expect(message).toBe(all[index]);
  });

  it('with a picture beside what was said goes out without both', () => {
    const shown: Message = { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'AA' }, ...told.content] };
    const parts = piecesOf(shown, () => 'run_1 input').filter(({ origin }) => origin === 'input');
    expect(parts).toHaveLength(3);
    const [left] = withoutParts([shown], parts.map(leftOutPart), () => undefined);
    expect(JSON.stringify(left)).not.toMatch(/image|REQUEST/);
  });
});

it('a summary does not quote what is left out', () => {
  const lines = ['Earlier.', '- told: Merge? No. [run_1 input]', '- you said: I look. [run_1 turn/1/model]'];
  const calls = '- you called read: {} [run_1 turn/1/model]';
  const gave = '- read gave: of a [run_1 turn/1/tool/0]';
  const parts = [
    { origin: 'fenced request', text: 'Merge?' },
    { origin: 'answer', from: 'run_1 turn/1/model' },
  ];
  expect(summaryWithout([...lines, calls, gave].join('\n'), parts).split('\n')).toEqual([
    ...['Earlier.', '- told: [left out] [run_1 input]', '- you said: [left out] [run_1 turn/1/model]', calls, gave],
  ]);
  expect(summaryWithout(lines.join('\n'), [])).toBe(lines.join('\n'));
});
