import { expect, it } from 'vitest';
import { silentTests } from './silent-tests.ts';

const WHY = 'a source can end its tests, as they run in one process with it, and no summary says how many passed';
const silent = (line: string, output: string, ...after: readonly string[]): string | undefined =>
  silentTests(line.split(' '), { after: after.map((one) => one.split(' ')), folder: import.meta.dirname, output });

it.each([
  ['pytest -q', '5 passed in 0.10s\n'],
  ['pytest -x', '===== 5 passed in 0.10s =====\n'],
  ['python3 -m pytest', '===== 5 passed in 0.10s =====\n'],
  ['uv run pytest', '5 passed in 0.10s\n'],
  ['uv run python -m pytest', '5 passed in 0.10s\n'],
  ['coverage run -m unittest', 'Ran 5 tests in 0.001s\n\nOK\n'],
  ['mocha', '  5 passing (3ms)\n'],
  ['npx mocha -R min', '  5 passing (3ms)\n'],
  ['npx jest --runInBand', 'Tests:       5 passed, 5 total\n'],
  ['yarn jest --json', '{"numPassedTests":5}\n'],
  ['node --experimental-test-isolation=none --test', 'ℹ pass 5\n'],
])('%s shows that its tests ran by a summary alone', (line, summary) => {
  expect(silent(line, '')).toBe(WHY);
  expect(silent(line, summary.replace('5', '0'))).toBe(WHY);
  expect(silent(line, summary)).toBeUndefined();
});

it('a summary stands for one command', () => {
  expect(silent('pytest b', '1 passed in 0.10s\n', 'pytest a')).toBe(WHY);
  expect(silent('pytest b', '1 passed in 0.10s\n2 passed in 0.10s\n', 'pytest a')).toBeUndefined();
  expect(silent('pytest b', '1 passed in 0.10s\n', 'ruff check')).toBeUndefined();
});

it.each(['node --test', 'vitest run', 'cargo test', 'go test ./...', 'node silent-tests.ts', 'node nothing.js', 'python3 -V'])(
  '%s need not: its runner is in another process, or it runs no tests',
  (line) => expect(silent(line, '')).toBeUndefined(),
);
