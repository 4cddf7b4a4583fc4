/** Executors as they work, look by look: who moves is never stopped, however slowly, and who does not move is. */
import { describe, expect, it } from 'vitest';
import { isStalled, moved, noMotion } from './stall.ts';

const MINUTE = 60_000;
const PATIENCE = 5 * MINUTE;

/** What is seen every minute: files and tests as words; `?` is somebody who is asked, `!` a command that is under way. */
type Trace = readonly string[];

const seen = (word: string) => {
  const [files = '', tests = ''] = word.replace(/[?!]$/, '').split('|');
  return { files, tests, waits: word.endsWith('?'), works: word.endsWith('!') };
};

/** The look at which it is stopped; none for who may go on. */
function stoppedAt(trace: Trace): number | undefined {
  let motion = noMotion;
  for (const [index, word] of trace.entries()) {
    motion = moved(motion, seen(word), MINUTE);
    if (isStalled(motion, PATIENCE)) return index;
  }
  return undefined;
}

const times = (count: number, word: string): string[] => Array.from({ length: count }, () => word);
/** Something new after every so many looks. */
const every = (looks: number, count: number): string[] =>
  Array.from({ length: count }, (_look, index) => `v${Math.floor(index / looks)}`);

const MOVING: readonly (readonly [string, Trace])[] = [
  ['a new change at every look', every(1, 60)],
  ['one every second look', every(2, 60)],
  ['one every fourth look', every(4, 60)],
  ['one every fifth look, just in time', every(5, 60)],
  ['for hours', every(4, 600)],
  ['only tests, one more each time', Array.from({ length: 30 }, (_look, index) => `same|${Math.floor(index / 4)} passed`)],
  [
    'tests that fail in other ways',
    ['a|', 'a|', 'a|fails 9', 'a|', 'a|', 'a|fails 8', 'a|', 'a|', 'a|fails 3', 'a|', 'a|', 'a|passed'],
  ],
  ['files and tests by turns', ['a|', 'a|', 'a|', 'a|1', 'a|1', 'a|1', 'b|1', 'b|1', 'b|1', 'b|2', 'b|2']],
  ['slow at first', [...times(5, 'start'), 'a', ...times(4, 'a'), 'b']],
  ['slow at the end', [...every(1, 20), ...times(4, 'v19')]],
  ['done before anybody looks twice', ['a']],
  ['nothing to see yet', []],
  ['a person is asked, for a long time', ['a', ...times(60, 'a?'), 'b']],
  ['asked again and again', ['a', 'a?', 'a', 'a?', 'a', 'a?', 'a', 'a?', 'b', 'a?', 'c']],
  ['asked at once', [...times(30, '?'), 'a', 'b']],
  ['a long build between two changes', ['a', ...times(4, 'a'), 'b', ...times(4, 'b'), 'c', ...times(4, 'c')]],
  ['a build of twelve minutes that shows nothing until it is done', ['a', ...times(12, 'a!'), 'b']],
  ['an installation, and a look at what came of it', ['a', 'a', ...times(8, 'a!'), 'a', 'a', 'a', 'a|passed']],
  ['back to what it was, and then on', ['a', 'b', 'a', 'c', 'b', 'd', 'a', 'e']],
  ['a file that grows', Array.from({ length: 50 }, (_look, index) => 'x'.repeat(1 + Math.floor(index / 3)))],
  ['one change in the last moment, three times', [...times(5, 'a'), ...times(5, 'b'), ...times(5, 'c')]],
  ['tests first, then nothing for a while, then files', ['|1', '|1', '|1', '|1', '|1', 'a|1', 'a|1', 'a|1', 'a|1', 'a|1', 'b|1']],
  ['many small steps', every(3, 200)],
  ['everything at once and then the report', ['all|passed', ...times(4, 'all|passed')]],
];

const STUCK: readonly (readonly [string, Trace, number])[] = [
  ['nothing at all', times(20, ''), 5],
  ['the same for ever', times(20, 'a'), 5],
  ['to and fro between two states', Array.from({ length: 20 }, (_look, index) => (index % 2 === 0 ? 'a' : 'b')), 6],
  ['the same failing test for ever', times(20, 'a|fails 1'), 5],
  ['in a circle of three', Array.from({ length: 20 }, (_look, index) => `s${index % 3}`), 7],
  ['it moved once, long ago', ['a', ...times(20, 'b')], 6],
  ['a command that never ends', ['a', ...times(30, 'a!')], 15],
  [
    'one short command after the other, and nothing comes of them',
    Array.from({ length: 40 }, (_l, i) => (i % 4 ? 'a!' : 'a')),
    15,
  ],
  ['nothing after a command', ['a', 'a!', 'a!', ...times(20, 'a')], 7],
  ['nothing after an answer', ['a', ...times(10, 'a?'), ...times(20, 'a')], 15],
];

it('knows at least twenty ways to move', () => expect(MOVING.length).toBeGreaterThanOrEqual(20));

describe('is never stopped:', () => it.each(MOVING)('%s', (_how, trace) => expect(stoppedAt(trace)).toBeUndefined()));

describe('is stopped:', () => it.each(STUCK)('%s', (_how, trace, look) => expect(stoppedAt(trace)).toBe(look)));
