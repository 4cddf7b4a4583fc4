/** The list of mutations does not rot: each still has its place in the code and its test, and the page shows the list of now. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mutations, pageWithMutations } from '../scripts/mutation-list.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

it('there are enough, and no two are the same', () => {
  expect(mutations.length).toBeGreaterThanOrEqual(75);
  expect(new Set(mutations.map(({ file, find, replace }) => `${file} ${find} ${replace}`)).size).toBe(mutations.length);
});

it.each(mutations.map((mutation) => [`${mutation.invariant}: ${mutation.change}`, mutation] as const))(
  '%s',
  (_name, mutation) => {
    const { file, find, replace, caughtBy } = mutation;
    expect(read(file).split(find).length - 1, `how often its text occurs in ${file}`).toBe(1);
    expect(replace).not.toBe(find);
    expect(caughtBy.test).not.toBe('');
    expect(read(caughtBy.file)).toMatch(/\bit(\.each)?\b/);
  },
);

it('docs/testing.md has the table of now (npm run mutations writes it)', () => {
  const page = read('docs/testing.md');
  expect(pageWithMutations(page)).toBe(page);
});
