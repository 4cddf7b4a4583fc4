import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText } from './cut-text.ts';
import { markdownLines, markdownSections, markdownTables, tableRow } from './markdown-sections.ts';
import { growsAt, newestEntries } from './newest-entries.ts';

const entry = (title: string): string => `### ${title}\n\n${'word '.repeat(20)}\n\n`;
const titles = (text: string): readonly string[] => [...text.matchAll(/^### (.*)$/gm)].map((match) => match[1] ?? '');

describe('entries that fit', () => {
  it('are whole, and the newest of a file that grows at its end', () => {
    const text = `# Decisions\n\n${['2026-01-01: a', '2026-02-01: b', '2026-03-01: c'].map(entry).join('')}`;
    expect(titles(newestEntries(text, 300))).toEqual(['2026-02-01: b', '2026-03-01: c']);
    expect(growsAt(text)).toBe('end');
  });

  it('are the newest of a file that grows at its top and is not strictly sorted', () => {
    const dated = [
      '5. e (A, 2026-05-01)',
      '3. c (B, 2026-03-01)',
      '4. d (C, 2026-04-01)',
      '2. b (D, 2026-02-01)',
      '1. a (E, 2026-01-01)',
    ];
    const text = dated.map(entry).join('');
    expect(titles(newestEntries(text, 300))).toEqual(['5. e (A, 2026-05-01)', '4. d (C, 2026-04-01)']);
    expect(growsAt(text)).toBe('top');
  });

  it('go by number when there are no dates, and by place when there is neither', () => {
    expect(titles(newestEntries(['12. c', '11. b', '9. a'].map(entry).join(''), 250))).toEqual(['12. c', '11. b']);
    const plain = ['one', 'two', 'three'].map(entry).join('');
    expect(titles(newestEntries(plain, 130))).toEqual(['three']);
    expect(titles(newestEntries(plain, 130, 'top'))).toEqual(['one']);
  });

  it('are paragraphs where there are no headings, and a single long one is cut', () => {
    expect(newestEntries('first\n\nsecond\n\nthird', 12)).toBe('third');
    expect(newestEntries('x'.repeat(50), 10)).toBe('x'.repeat(10));
    expect(newestEntries('short', 10)).toBe('short');
  });

  it('never take more than there is room for, and are pieces of the text', () => {
    const part = fc.constantFrom(
      '## a\n',
      '### 2026-01-02 x\n',
      '### 3. y\n',
      'text 🎭\n',
      '\n',
      '\r\n',
      '```\n',
      '<!--\n',
      '-->\n',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (parts, room) => {
        const text = parts.join('');
        const kept = newestEntries(text, room);
        expect(kept.length).toBeLessThanOrEqual(room);
        expect(kept.isWellFormed()).toBe(true);
        if (text.length <= room) expect(kept).toBe(text);
      }),
    );
  });
});

describe('cutting', () => {
  it('splits neither a pair nor what is seen as one character', () => {
    expect(cutText('abc🎭', 4)).toBe('abc');
    expect(cutText('abc🎭', 5)).toBe('abc🎭');
    expect(cutText('a👩‍👩‍👧b', 5)).toBe('a');
    expect(cutText('👩‍👩‍👧', 3)).toBe('👩‍');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 0, max: 40 }), (text, room) => {
        const cut = cutText(text, room);
        expect(text.startsWith(cut) && cut.length <= room && cut.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('the newest entries of a markdown file', () => {
  const piece = fc.constantFrom(
    '# a\n',
    '## b\r\n',
    '#c\n',
    '```\n',
    '~~~~\n',
    '<!-- x\n',
    '-->\n',
    '| a | b |\n',
    '|---|---|\n',
    'x',
    '\n',
    '\ufeff',
  );

  it('is made of its lines, and of its sections, to the byte', () => {
    fc.assert(
      fc.property(fc.array(piece), fc.integer({ min: 1, max: 6 }), (pieces, deepest) => {
        const text = pieces.join('');
        expect(
          markdownLines(text)
            .map(({ raw }) => raw)
            .join(''),
        ).toBe(text);
        expect(
          markdownSections(text, deepest)
            .map(({ raw }) => raw)
            .join(''),
        ).toBe(text);
      }),
    );
  });

  it('has no headings and tables in code and comments', () => {
    const text = '```\n# no\n| a | b |\n|---|---|\n```\n<!--\n# no\n-->\n<!-- # no -->\n# yes\n';
    expect(markdownSections(text, 6).map(({ title }) => title)).toEqual(['', 'yes']);
    expect(markdownTables(markdownLines(text))).toEqual([]);
  });

  it('keeps what is in a cell', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), (cells) => {
        const wanted = cells.map((cell) => cell.replaceAll(/\s+/g, ' ').trim());
        fc.pre(wanted.every((cell) => !cell.includes('\\')));
        const table = `${tableRow(cells)}\n|${'---|'.repeat(cells.length)}\n${tableRow(cells)}\n`;
        expect(markdownTables(markdownLines(table))[0]?.rows).toEqual([wanted]);
      }),
    );
  });
});
