import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../base/limits.ts';
import { createScreen, type Screen } from '../terminal/terminal.ts';
import { textWidth } from '../terminal/text-width.ts';
import { renderMarkdown } from './render-markdown.ts';

const screen = (columns: number, colour = false): Screen =>
  createScreen({ write: () => undefined, columns, isTTY: true }, colour);
const drawn = async (text: string, columns: number, colour = false): Promise<string> =>
  (await renderMarkdown(text, screen(columns, colour))).join('\n');

describe('an answer on a terminal', () => {
  const cases: readonly (readonly [what: string, given: string, columns: number, expected: string])[] = [
    ['prose is broken between words', 'one two three four five six', 20, 'one two three four\nfive six'],
    ['a word that no line holds is cut', 'abcdefghijklmnopqrstuvwxyz', 20, 'abcdefghijklmnopqrst\nuvwxyz'],
    ['line breaks of the writer stay', 'Name: a\nAge: b', 40, 'Name: a\nAge: b'],
    ['titles stand apart', '# One\ntext\n## Two\nmore', 40, '# One\n\ntext\n\n## Two\n\nmore'],
    ['emphasis keeps its marks without colours', 'a **b** *c* `d` ~~e~~', 40, 'a **b** *c* `d` ~~e~~'],
    ['an address is shown beside the text of its link', '[here](https://a.example/x)', 60, 'here (https://a.example/x)'],
    ['and once where it is the text', '<https://a.example/x>', 60, 'https://a.example/x'],
    ['lists', '- a\n- b\n  - c\n\n1. x\n2. y', 40, '• a\n• b\n  • c\n\n1. x\n2. y'],
    ['an item goes on below itself', '- aaaa bbbb cccc dddd eeee', 20, '• aaaa bbbb cccc\n  dddd eeee'],
    ['numbers line up', '9. a\n10. b', 40, ' 9. a\n10. b'],
    ['tasks', '- [x] done\n- [ ] open', 40, '• [x] done\n• [ ] open'],
    ['quotes', '> a\n> b', 40, '│ a\n│ b'],
    ['code is not wrapped', '```sh\nnpm run a-very-long-name\n```', 20, '```sh\nnpm run a-very-long-name\n```'],
    ['code in a list', '- a\n\n  ```\n  b\n  ```', 40, '• a\n\n  ```\n  b\n  ```'],
    ['tables', '|a|bb|\n|-|-:|\n|1|2|', 40, 'a │ bb\n──┼───\n1 │  2'],
    ['cells wrap', '|a|b|\n|-|-|\n|1|aaaa bbbb cccc dddd|', 20, 'a │ b\n──┼─────────────────\n1 │ aaaa bbbb cccc\n  │ dddd'],
    [
      'too many columns are one row below the other',
      '|aaaaaa|bbbbbb|cccccc|\n|-|-|-|\n|111111|222222|333333|',
      20,
      'aaaaaa: 111111\nbbbbbb: 222222\ncccccc: 333333',
    ],
    ['entities are the signs they stand for', 'a &amp; b &lt;c&gt; &#65; &unknown;', 40, 'a & b <c> A &unknown;'],
    ['markup of pages is text', '<b>a</b>\n\n<div>b</div>', 40, '<b>a</b>\n\n<div>b</div>'],
    ['pictures are named', '![a cat](cat.png)', 40, '[image: a cat] (cat.png)'],
  ];
  it.each(cases)('%s', async (_, given, columns, expected) => {
    expect(await drawn(given, columns)).toBe(expected);
  });

  it('has colours where there are some', async () => {
    expect(await drawn('# a\n\nb **c** `d`', 40, true)).toBe(
      '\u001b[1m\u001b[4ma\u001b[24m\u001b[22m\n\nb \u001b[1mc\u001b[22m \u001b[36md\u001b[39m',
    );
  });

  it('cannot steer the terminal, not even in entities', async () => {
    expect(await drawn('a\u001b[2Jb &#27;[31mc &#x202e;d\u202ee', 40)).toBe('ab c de');
  });

  it('survives nesting of any depth and text of any length', async () => {
    for (const sign of ['> ', '- ', '*', '[', '**a']) expect(await drawn(`${sign.repeat(20_000)}x`, 40), sign).toMatch(/x$/);
    const long = `${'word '.repeat(limits.renderedCharacters / 5)}**end**`;
    expect(await drawn(long, 40)).toMatch(/word\n.*\*\*end\*\*$/s);
  });

  it('keeps every word and never leaves the width, whatever is written', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '# ',
        '## ',
        '- ',
        '1. ',
        '> ',
        '**',
        '*',
        '`',
        '```\n',
        '|',
        '\n|-|-|\n',
        '\n\n',
        '\n',
        '  ',
        '[',
        '](',
        ')',
        '~~',
        '---\n',
      ),
      fc.stringMatching(/^[a-z]{1,12}$/),
      fc.constantFrom('漢字', 'é', '👩‍💻', '\u0007', '\u001b[31m', '\u202e'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 20, max: 120 }), async (pieces, columns) => {
        const text = pieces.join('');
        const lines = await renderMarkdown(text, screen(columns));
        const letters = (of: string): string => of.replace(/[^a-z]/g, '');
        if (!text.includes('|') && !text.includes(']('))
          expect(letters(lines.join(''))).toBe(letters(text.replaceAll('\u001b[31m', '')));
        expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u);
        if (!text.includes('```') && !/^ {4}/m.test(text))
          for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(Math.max(columns, 30));
      }),
      { numRuns: 400 },
    );
  });
});
