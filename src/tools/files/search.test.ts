import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { createGuard } from '../closed/guard.ts';
import type { ToolOutcome } from '../port.ts';
import { globMatcher } from './glob.ts';
import { listTool } from './list.ts';
import { searchTool } from './search.ts';

const guard = createGuard();

const list = listTool({ guard });
const search = searchTool({ clock: systemClock, guard });
const textOf = (outcome: ToolOutcome): string =>
  outcome.kind === 'error'
    ? `error: ${outcome.message}`
    : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function project() {
  const place = await testWorkspace();
  for (const folder of ['src/deep', 'node_modules/x', '.git', '.troupe'])
    await mkdir(join(place.path, folder), { recursive: true });
  await writeFile(join(place.path, 'README.md'), 'Hello World\nsecond line\n');
  await writeFile(join(place.path, 'src/a.ts'), 'export const hello = 1;\n');
  await writeFile(join(place.path, 'src/deep/b.ts'), 'hello again\nHELLO\n');
  await writeFile(join(place.path, 'node_modules/x/index.js'), 'hello');
  await writeFile(join(place.path, '.git/config'), 'hello');
  await writeFile(join(place.path, '.troupe/ledger'), 'hello');
  await writeFile(join(place.path, 'src/binary'), Buffer.from('hello\0'));
  await symlink('/etc', join(place.path, 'etc'));
  return place;
}

describe('the list tool', () => {
  it('lists one folder', async () => {
    await using place = await project();
    expect(textOf(await list.run({}, place.context))).toBe('README.md\netc\nsrc/');
    expect(textOf(await list.run({ path: 'src' }, place.context))).toBe('src/a.ts\nsrc/binary\nsrc/deep/');
  });

  it('finds by pattern, without following links out', async () => {
    await using place = await project();
    expect(textOf(await list.run({ pattern: '**/*.ts' }, place.context))).toBe('src/a.ts\nsrc/deep/b.ts');
    expect(textOf(await list.run({ path: 'src', pattern: 'deep/*.ts' }, place.context))).toBe('src/deep/b.ts');
    expect(textOf(await list.run({ pattern: '**/passwd' }, place.context))).toBe('(nothing found)');
    expect(textOf(await list.run({ pattern: '*.js', everything: true }, place.context))).toBe('node_modules/x/index.js');
  });

  it('says when there is more than it shows', async () => {
    await using place = await testWorkspace();
    await Promise.all(Array.from({ length: 2_001 }, (_, index) => writeFile(join(place.path, `f${index}`), '')));
    const lines = textOf(await list.run({}, place.context)).split('\n');
    expect(lines).toHaveLength(2_001);
    expect(lines.at(-1)).toContain('only the first 2000 are shown (listEntries)');
  });

  it('says what is wrong with a path', async () => {
    await using place = await project();
    expect(textOf(await list.run({ path: 'none' }, place.context))).toBe('error: none: no such folder.');
    expect(textOf(await list.run({ path: 'README.md' }, place.context))).toBe('error: README.md is a file; use `read`.');
    expect(textOf(await list.run({ path: 'etc' }, place.context))).toContain('outside the workspace');
  });
});

describe('globMatcher', () => {
  it.each([
    ['*.ts', 'a/b/c.ts', true],
    ['src/*.ts', 'src/a.ts', true],
    ['src/*.ts', 'src/x/a.ts', false],
    ['src/**', 'src/x/y', true],
    ['**/x/**/*.{js,ts}', 'a/x/b/c/d.ts', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['src/', 'src/a', true],
    ['[a', '[a', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(globMatcher(pattern)(path)).toBe(expected);
  });

  it('agrees with a regular expression, and does not stall', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(word, fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 10 }), (pattern, name) => {
        fc.pre(!pattern.includes('**'));
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`);
        expect(globMatcher(pattern)(name)).toBe(expression.test(name));
      }),
    );
    expect(globMatcher('*a'.repeat(200))('a'.repeat(199) + 'b'.repeat(2_000))).toBe(false);
    expect(globMatcher('{a,b}'.repeat(30))('a'.repeat(30))).toBeTypeOf('boolean');
  });
});

describe('the search tool', () => {
  it('finds plain text and regular expressions', async () => {
    await using place = await project();
    expect(textOf(await search.run({ text: 'hello' }, place.context))).toBe(
      'src/a.ts:1: export const hello = 1;\nsrc/deep/b.ts:1: hello again',
    );
    expect(textOf(await search.run({ text: '^h.llo$', regex: true, ignoreCase: true }, place.context))).toBe(
      'src/deep/b.ts:2: HELLO',
    );
    expect(textOf(await search.run({ text: 'hello', pattern: '*.md', ignoreCase: true }, place.context))).toBe(
      'README.md:1: Hello World',
    );
    expect(textOf(await search.run({ text: 'again', path: 'src/deep/b.ts' }, place.context))).toBe(
      'src/deep/b.ts:1: hello again',
    );
    expect(textOf(await search.run({ text: 'nowhere' }, place.context))).toBe('(no match in 4 files)');
  });

  it('says what is wrong with an expression', async () => {
    await using place = await project();
    expect(textOf(await search.run({ text: '(', regex: true }, place.context))).toContain('The regular expression is not valid');
  });

  it('ends an expression that would run for ever, and stays responsive meanwhile', async () => {
    await using place = await testWorkspace();
    await writeFile(join(place.path, 'bait'), `${'a'.repeat(60)}b\n`);
    // Its time is over when this process has had its turn often enough: never, if the search does not let it.
    let ticks = 0;
    const after: Clock['after'] = (_delayMs, callback) => {
      const ticking = setInterval(() => {
        ticks += 1;
        if (ticks === 10) callback();
      }, 20);
      return () => clearInterval(ticking);
    };
    const patient = searchTool({ clock: { ...systemClock, after }, guard });
    const outcome = await patient.run({ text: '^(a+)+$', regex: true }, place.context);
    expect(textOf(outcome)).toContain('(searchMs)');
    expect(ticks).toBeGreaterThanOrEqual(10);
  });
});
