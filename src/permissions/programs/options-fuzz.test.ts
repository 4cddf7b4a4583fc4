/**
 * Generated options behind known and unknown programs: whatever runs under a star is in the table. The table is read anew here,
 * by other means: as the words that stand in it, whichever verb they belong to.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideLine } from '../shell-rules.ts';
import type { KnownProgram } from './known.ts';
import { PROGRAMS } from './table.ts';

const below = (known: KnownProgram): readonly KnownProgram[] => [known, ...Object.values(known.verbs ?? {}).flatMap(below)];
const written = (known: KnownProgram): readonly string[] => below(known).flatMap(({ options = '' }) => options.split(' '));
const bare = (option: string): string => option.replace(/=.*/, '').replaceAll(/[-_]/g, '').toLowerCase();

/** Whether the table has it for this program, in the eyes of somebody who looks for the word. */
function isWritten(name: string, word: string): boolean {
  const known = PROGRAMS.get(name);
  if (known === undefined) return false;
  if (below(known).some(({ prints, harmless }) => prints === true || harmless?.test(word) === true)) return true;
  const options = written(known);
  const isLong = word.startsWith('--') || below(known).some(({ oneDash }) => oneDash === true);
  if (isLong) return options.some((option) => bare(option) === bare(word));
  if (/^-\d+$/.test(word) && options.includes('-#')) return true;
  const letters = options.filter((option) => /^-[^-]/.test(option)).map((option) => option.replace(/=.*/, ''));
  return letters.some((group) => group.includes(word[1] ?? ''));
}

const UNKNOWN = ['anything', 'helm', 'ctags', 'kotlinc', './tool', 'rustc', 'javac', 'ip'];
const name = fc.oneof(fc.constantFrom(...PROGRAMS.keys()), fc.constantFrom(...UNKNOWN));
const everyOption = [...new Set([...PROGRAMS.values()].flatMap(written))].filter((option) => option !== '' && option !== '-#');
const known = fc.constantFrom(...everyOption).map((option) => option.replace(/=.*/, ''));
const option = fc.oneof(
  { weight: 4, arbitrary: known },
  {
    weight: 2,
    arbitrary: fc
      .tuple(known, fc.constantFrom('=x', '=./evil', 'x', '-x', '=json', 'X', '.y', '_z'))
      .map((pair) => pair.join('')),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(known, fc.nat({ max: 6 })).map(([text, cut]) => text.slice(0, Math.max(2, text.length - cut))),
  },
  {
    weight: 2,
    arbitrary: fc
      .string({
        unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'),
        minLength: 1,
        maxLength: 3,
      })
      .map((text) => `-${text}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '--exec',
      '--config=x',
      '--output=x',
      '--plugin',
      '--require',
      '--eval',
      '-e',
      '-c',
      '-o',
      '-x',
      '-C',
    ),
  },
);
const operand = fc.constantFrom('a', 'src/b', 'test', 'run', 'build', 'list', 'log', 'check', 'show', 'get', 'x', '.');
const words = fc.array(fc.oneof({ weight: 2, arbitrary: option }, { weight: 1, arbitrary: operand }), {
  minLength: 1,
  maxLength: 4,
});

describe('generated options', () => {
  it('run under a star only where the table has them', () => {
    const count = { allowed: 0, asked: 0 };
    fc.assert(
      fc.property(name, words, (program, given) => {
        const verdict = decideLine([program, ...given].join(' '), [{ [`${program} *`]: 'allow' }], {});
        count[verdict === 'allow' ? 'allowed' : 'asked'] += 1;
        if (verdict !== 'allow') return;
        for (const word of given)
          if (/^-./.test(word) && word !== '--') expect(isWritten(program, word), `${program} ${given}`).toBe(true);
      }),
      { numRuns: 10_000 },
    );
    expect(count.allowed).toBeGreaterThan(300);
    expect(count.asked).toBeGreaterThan(3_000);
  });

  it('are each written once for a program and its verb', () => {
    const twice = [...PROGRAMS].flatMap(([program, entry]) =>
      below(entry).flatMap(({ options = '', oneDash }) => {
        const names = options.split(' ').flatMap((one) => {
          const plain = one.replace(/=.*/, '');
          return plain.startsWith('--') || plain === '-#' || oneDash === true || entry.oneDash === true
            ? [plain]
            : [...plain.slice(1)];
        });
        return names.filter((one, index) => one !== '' && names.indexOf(one) !== index).map((one) => `${program} ${one}`);
      }),
    );
    expect(twice).toEqual([]);
  });
});
