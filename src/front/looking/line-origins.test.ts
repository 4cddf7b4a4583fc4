import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff, linesOfText } from '../../tools/files/line-diff.ts';
import { type LineChange, lineOrigins } from './line-origins.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Named extends LineChange {
  readonly name: string;
}

function change(name: string, before: string | null, after: string): Named {
  const { added, removed, text: diff } = lineDiff(before ?? '', after);
  return { name, before: before === null ? null : sha256(before), after: sha256(after), added, removed, diff };
}

const blamed = (changes: readonly Named[], now: string): readonly string[] =>
  lineOrigins(changes, linesOfText(now), sha256(now)).map((one) =>
    one === undefined ? '-' : `${one.certain ? '' : '~'}${one.change.name}`,
  );

describe('the origin of a line', () => {
  it('is the change that wrote it, for certain where all changes are known', () => {
    const changes = [
      change('a', null, '1\n2\n3\n'),
      change('b', '1\n2\n3\n', '0\n1\n2\n3\n'),
      change('c', '0\n1\n2\n3\n', '0\n1\nX\n3'),
    ];
    expect(blamed(changes, '0\n1\nX\n3')).toEqual(['b', 'a', 'c', 'c']);
  });

  it('is nobody where the file was there before', () => {
    expect(blamed([change('a', '1\n2\n', '1\nnew\n2\n')], '1\nnew\n2\n')).toEqual(['-', 'a', '-']);
    expect(blamed([], '1\n2\n')).toEqual(['-', '-']);
  });

  it('is found again by its text where somebody changed the file and nobody saw it', () => {
    const changes = [change('a', null, 'one\ntwo\n'), change('b', 'one\nTWO\n', 'one\nTWO\nthree\n')];
    expect(blamed(changes, 'one\nTWO\nthree\n')).toEqual(['~a', '-', 'b']);
    expect(blamed([change('a', null, 'one\ntwo\n')], 'zero\none\ntwo\n')).toEqual(['-', '~a', '~a']);
  });

  it('of a change that is too long to be kept is known of a new file only', () => {
    const cut = { ...change('a', null, 'one\ntwo\n'), diff: '@@ -0,0 +1,2 @@\n+one\n' };
    expect(blamed([cut], 'one\ntwo\n')).toEqual(['a', 'a']);
    const later = { ...change('b', 'one\ntwo\n', 'eins\nzwei\n'), diff: '(the file was binary before)\n' };
    expect(blamed([change('a', null, 'one\ntwo\n'), later], 'eins\nzwei\n')).toEqual(['-', '-']);
  });

  it('is not lost when a file is removed and made again', () => {
    const gone: Named = { ...change('b', 'one\n', ''), after: null };
    expect(blamed([change('a', null, 'one\n'), gone, change('c', null, 'one\n')], 'one\n')).toEqual(['c']);
  });

  it('is right after any changes: a line is of the last change after which it was there and before which it was not', () => {
    const versions = fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(versions, (given) => {
        // Every line is there once, so that it can be followed by its text.
        const texts = given.map((numbers) => [...new Set(numbers)].map((number) => `${number}\n`).join(''));
        const changes = texts.flatMap((text, index) => {
          const before = index === 0 ? null : (texts[index - 1] ?? '');
          return text === before ? [] : [change(String(index), before, text)];
        });
        const last = texts.at(-1) ?? '';
        const origins = lineOrigins(changes, linesOfText(last), sha256(last));
        for (const [index, line] of linesOfText(last).entries()) {
          const from = origins[index]?.change;
          expect(from).toBeDefined();
          const place = Number(from?.name);
          expect(texts[place]).toContain(`${line}\n`);
          // What came later left the line alone.
          for (const later of changes.slice(changes.findIndex(({ name }) => name === from?.name) + 1))
            expect(later.diff.split('\n')).not.toContain(`+${line}`);
        }
      }),
      { numRuns: 100 },
    );
  });
});
