import { describe, expect, it } from 'vitest';
import { present } from '../../base/present.ts';
import type { TaskPlace } from '../../events/tasks/task-terms.ts';
import type { RanBefore } from '../task-support.ts';
import { acceptanceLines } from './acceptance.ts';
import type { Progressing } from './progressing.ts';
import { lookedBefore } from './told-apart.ts';
import type { EndedAttempt } from './units.ts';

const WORKTREE: TaskPlace = { kind: 'worktree', path: '/w/1', base: 'abc', repo: '/r' };

interface Given {
  readonly lines?: readonly string[];
  readonly before?: readonly RanBefore[];
  readonly tests?: number;
  readonly files?: readonly string[];
  readonly place?: TaskPlace;
  readonly state?: 'verified' | 'unchecked';
}

function ended({
  lines = ['`check` passes'],
  tests,
  files = ['a.js'],
  place = WORKTREE,
  state = 'verified',
}: Given): EndedAttempt {
  const acceptance = acceptanceLines(lines, []);
  const collected = {
    files: files.map((path) => ({ path, added: 1, removed: 0 })),
    tests: tests === undefined ? [] : [{ command: 'check', passed: true, tests }],
  };
  const attempt = { key: 'task/1/1', task: 'task-1', unit: { wanted: { acceptance } }, terms: { place } };
  return { attempt, collected, result: { verification: { state } }, stalled: undefined } as unknown as EndedAttempt;
}

/** What a look gives, and what was looked at. */
function world({ before = [] }: Given) {
  const asked: string[][] = [];
  const tasks = {
    before: async ({ commands }: { readonly commands: readonly string[] }) => {
      asked.push([...commands]);
      return { ran: before.filter(({ command }) => commands.includes(command)) };
    },
  };
  const steps = { step: (_key: string, effect: (context: object) => Promise<unknown>) => effect({}) };
  return { asked, state: { run: { steps, tasks }, before: new Map() } as unknown as Progressing };
}

async function why(given: Given): Promise<string | undefined> {
  return (await lookedBefore(world(given).state, ended(given)))?.why;
}

const ran = (how: RanBefore['ended'], tests?: number): RanBefore[] => [{ command: 'check', ended: how, ...present({ tests }) }];

describe('what passes now', () => {
  it.each<[string, Given, RegExp | undefined]>([
    ['and failed before is proof', { before: ran('failed') }, undefined],
    ['and passed before is none', { before: ran('passed') }, /passed before the work, too/],
    ['with more tests than before is proof', { before: ran('passed', 3), tests: 4 }, undefined],
    ['with as many tests as before is none', { before: ran('passed', 3), tests: 3 }, /passed before the work, too/],
    ['and was not there before, for want of something installed, is none', { before: ran('missing') }, /is not there without/],
    ['and took too long before is none', { before: ran('stopped') }, /\(taskBeforeMs\)/],
    [
      'and was not there before because the work brought it is proof',
      { lines: ['`./bin/a.sh x` passes'], files: ['bin/a.sh'], before: [{ command: './bin/a.sh x', ended: 'missing' }] },
      undefined,
    ],
    ['in a folder that is worked on as it is, is none', { place: { kind: 'in-place', path: '/w' } }, /worked on as it is/],
  ])('%s', async (_name, given, expected) => {
    if (expected === undefined) expect(await why(given)).toBeUndefined();
    else expect(await why(given)).toMatch(expected);
  });
});

it('nobody looks where it decides nothing', async () => {
  for (const given of [{ state: 'unchecked' as const }, { lines: ['`check` passes', 'it is short'] }]) {
    const { state, asked } = world(given);
    expect(await lookedBefore(state, ended(given))).toBeUndefined();
    expect(asked).toEqual([]);
  }
});

it('a command is looked at once for all tasks that begin at the same commit', async () => {
  const given = { before: ran('passed') };
  const { state, asked } = world(given);
  await lookedBefore(state, ended(given));
  expect((await lookedBefore(state, ended(given)))?.ran).toEqual(given.before);
  await lookedBefore(state, ended({ ...given, place: { ...WORKTREE, base: 'def' } }));
  expect(asked).toEqual([['check'], ['check']]);
});
