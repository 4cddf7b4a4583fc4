import { describe, expect, it } from 'vitest';
import { passedTests } from './test-output.ts';

describe('how many tests passed', () => {
  it.each([
    ['node --test', 'ok 1\nℹ tests 4\nℹ pass 3\nℹ fail 1\n', 3],
    ['node --test, as TAP', '# tests 4\r\n# pass 4\r\n# fail 0\r\n', 4],
    ['vitest', '\n Test Files  2 passed (2)\n      Tests  7 passed | 1 skipped (8)\n', 7],
    ['vitest, in colours', '\u001b[2m      Tests \u001b[22m \u001b[1m\u001b[32m7 passed\u001b[39m\u001b[22m (7)', 7],
    ['jest', 'Tests:       1 skipped, 12 passed, 13 total\nTime:        2.1 s\n', 12],
    ['pytest', '===== 1 failed, 5 passed, 2 warnings in 0.12s =====\n', 5],
    ['pytest -q', '.....\n5 passed in 1s\n', 5],
    ['mocha', '\n\n  9 passing (12ms)\n  1 pending\n', 9],
    ['mocha, behind what was written over', 'running …\r  9 passing (12ms)', 9],
    ['cargo, in two crates', 'test result: ok. 2 passed; 0 failed\n\ntest result: ok. 3 passed; 0 failed\n', 5],
    ['jest --json', '{"numFailedTests":0,"numPassedTests":12,"numTotalTests":12}\n', 12],
    ['unittest', 'Ran 6 tests in 0.001s\n\nOK\n', 6],
  ])('%s', (_runner, output, passed) => expect(passedTests(output)).toBe(passed));

  it.each([
    'No tests found, exiting',
    'collected 0 items',
    '1..0',
    '?   \texample.com/m\t[no test files]',
    'Error: no test specified',
    'npm test [-- <args>]',
  ])('none: %s', (output) => expect(passedTests(`first\n${output}\nlast`)).toBe(0));

  it.each(['', 'all fine', '5 passed', 'they were 5 passed by', `${'='.repeat(5_000)} 5 passed in 1s`])(
    'nobody said: %s',
    (output) => expect(passedTests(output)).toBeUndefined(),
  );
});
