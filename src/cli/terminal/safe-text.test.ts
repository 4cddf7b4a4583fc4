import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { safeLine, safeText } from './safe-text.ts';
import { aroundCursor, cutToWidth, hardWrap, textWidth, wrapToWidth } from './text-width.ts';

describe('safe text', () => {
  it.each([
    ['colours', '\u001b[31mred\u001b[0m', 'red'],
    ['a title', '\u001b]0;owned\u0007text', 'text'],
    ['cursor movement', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['an eight-bit escape', 'a\u009b31mb', 'ab'],
    ['a carriage return', 'good\rbad', 'goodbad'],
    ['backspaces', 'ab\b\bcd', 'abcd'],
    ['text direction', 'a\u202eb\u2066c', 'abc'],
    ['hidden characters', 'a\u200bb\ufeffc', 'abc'],
    ['line separators', 'a\u2028b', 'ab'],
    ['tabs', 'a\tb', 'a  b'],
    ['new lines of another system', 'a\r\nb', 'a\nb'],
  ])('takes out %s', (_name, text, safe) => expect(safeText(text)).toBe(safe));

  it('keeps letters of every script, and emoji', () => {
    expect(safeText('naïve 日本 नमस्ते 👩‍💻')).toBe('naïve 日本 नमस्ते 👩‍💻');
  });

  it('leaves nothing that a terminal obeys, whatever comes in', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('\u001b', '[', ']', '\u009b', '\u0007', '\r', '\n', 'm', '3', ';', '\\', '\u0000', 'é'),
    });
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), nasty), (text) => {
        expect(safeText(text)).not.toMatch(/(?!\n)\p{Cc}/u);
        expect(safeLine(text)).not.toContain('\n');
      }),
      { numRuns: 500 },
    );
  });
});

describe('the width of a text', () => {
  it('counts what is seen', () => {
    expect(['abc', '日本', 'é', 'e\u0301', '한', '\u1112\u1161\u11ab', '𠀀'].map(textWidth)).toEqual([3, 4, 1, 1, 2, 2, 2]);
  });

  it('counts the most that a terminal makes of several signs', () => {
    expect(['👩‍💻', '👍🏽', '🇩🇪', '❤️', '1️⃣', 'क्षि', '\u0301'].map(textWidth)).toEqual([4, 4, 2, 2, 2, 3, 0]);
  });

  it('cuts and wraps to fit, and loses no word', () => {
    expect(cutToWidth('hello world', 8)).toBe('hello w…');
    expect(cutToWidth('日本語', 4)).toBe('日…');
    expect(wrapToWidth('the quick brown fox', 10)).toEqual(['the quick', 'brown fox']);
    expect(wrapToWidth('abcdefghijkl', 5)).toEqual(['abcde', 'fghij', 'kl']);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 8, max: 40 }), (raw, width) => {
        const text = safeText(raw);
        expect(textWidth(cutToWidth(text, width))).toBeLessThanOrEqual(width);
        const lines = wrapToWidth(text, width);
        for (const line of [...lines, ...hardWrap(safeLine(text), width)]) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll('\n', '').replaceAll(' ', ''));
      }),
    );
  });

  it('shows what is around the cursor, whole signs only', () => {
    const units = fc.constantFrom('a', ' ', '漢', 'e\u0301', '👨‍👩‍👧', '👍🏽');
    const words = fc.array(units, { maxLength: 60 });
    fc.assert(
      fc.property(words, words, fc.integer({ min: 8, max: 40 }), (left, right, width) => {
        const [before, behind] = [left.join(''), right.join('')];
        const seen = aroundCursor({ before, behind }, width);
        expect(before.endsWith(seen.before)).toBe(true);
        expect(behind.startsWith(seen.behind)).toBe(true);
        expect(textWidth(seen.before) + textWidth(seen.behind)).toBeLessThanOrEqual(width);
        // Where all of it has room all of it is there; else hardly a sign more would fit.
        if (textWidth(before) + textWidth(behind) <= width) expect(seen).toEqual({ before, behind });
        else if (textWidth(before) > width) expect(textWidth(seen.before)).toBeGreaterThan(width - 6);
      }),
    );
    const long = 'x'.repeat(100_000);
    expect(aroundCursor({ before: `${long}👍🏽`, behind: long }, 10)).toEqual({ before: 'xxxxxx👍🏽', behind: '' });
  });
});
