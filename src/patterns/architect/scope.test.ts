import { describe, expect, it } from 'vitest';
import { isWithinScope, normalPath, overlap, smaller, type TaskScope } from './scope.ts';
import type { Unit } from './units.ts';
import { nextWave } from './waves.ts';

const scope = (include: readonly string[], exclude: readonly string[] = [], noTouch: readonly string[] = []): TaskScope => ({
  ...{ include, exclude, noTouch },
});

describe('a path of a task', () => {
  it.each([
    ['src/', 'src/'],
    ['./src//a.js', 'src/a.js'],
    ['src\\a.js', 'src/a.js'],
    ['.', '.'],
    ['./', '.'],
  ])('%j is %j', (given, path) => expect(normalPath(given)).toEqual({ path }));

  it.each(['', ' ', '/etc', '../a', 'a/../../b', '~/a', 'C:/a', 'src/*.js', '.git/config', 'a\nb'])('%j is refused', (given) =>
    expect(normalPath(given)).toHaveProperty('problem'),
  );
});

describe('two tasks', () => {
  it.each([
    ['the same file', scope(['a.js']), scope(['a.js']), true],
    ['a folder and a file in it', scope(['src/']), scope(['src/a.js']), true],
    ['names that begin alike', scope(['src']), scope(['src-old/a.js']), false],
    ['two folders', scope(['src/']), scope(['test/']), false],
    ['everything and a file', scope(['.']), scope(['a.js']), true],
    ['a folder without the other', scope(['src/'], ['src/cli/']), scope(['src/cli/']), false],
    ['a folder that may not be touched', scope(['src/'], [], ['src/cli/']), scope(['src/cli/a.js']), false],
    ['only another part is left out', scope(['src/'], ['src/web/']), scope(['src/cli/']), true],
    ['names that differ in their case only', scope(['README.md']), scope(['readme.md']), true],
  ])('about %s', (_what, one, other, meets) => {
    expect(overlap(one, other)).toBe(meets);
    expect(overlap(other, one)).toBe(meets);
  });
});

describe('again', () => {
  it.each([
    ['the same', scope(['src/']), scope(['src/']), true, false],
    ['one file of a folder', scope(['src/a.js']), scope(['src/']), true, true],
    ['one folder of two', scope(['src/']), scope(['src/', 'test/']), true, true],
    ['less by what is excluded', scope(['src/'], ['src/b/']), scope(['src/']), true, true],
    ['something else', scope(['test/']), scope(['src/']), false, false],
    ['more', scope(['.']), scope(['src/']), false, false],
    ['what was excluded before', scope(['src/']), scope(['src/'], ['src/b/']), false, false],
  ])('about %s', (_what, now, before, no_more, less) => {
    expect(isWithinScope(now, before)).toBe(no_more);
    expect(smaller(now, before)).toBe(less);
  });
});

const unit = (key: string, include: readonly string[]): Unit => ({
  key,
  wanted: { goal: key, scope: scope(include), acceptance: [], maxCliCalls: 1, maxDurationSeconds: 1, mode: 'full' },
  ...{ attempt: 1, executor: 'hand', errors: new Map(), mustShrink: false },
});

describe('a wave', () => {
  const queue = [unit('a', ['x/']), unit('b', ['x/1']), unit('c', ['y/']), unit('d', ['x/1/2', 'z/']), unit('e', ['w/'])];
  const keys = (parallel: number) => nextWave(queue, parallel).wave.map(({ key }) => key);

  it('is one task unless more may be worked on', () => expect(keys(1)).toEqual(['a']));
  it('holds tasks about different files', () => expect(keys(2)).toEqual(['a', 'c']));
  it('never lets a task pass one about the same files', () => expect(keys(9)).toEqual(['a', 'c', 'e']));
});
