import { describe, expect, it } from 'vitest';
import { uselessDemand } from './useless-demand.ts';

describe('a demanded command', () => {
  it.each([
    ['npm test || true', 'it says nothing about `npm test`: what follows `||` takes its place when it fails'],
    ['npm run lint || echo failed', 'it says nothing about `npm run lint`'],
    ['npm test && npm run lint || :', 'it says nothing about `npm test`'],
    ['npm test &', 'in the background'],
    ['if npm test; then echo ok; fi', 'it uses `if`'],
    ['source .venv/bin/activate && pytest', '`source` may change'],
    ['! npm test', '`!` turns its exit code round'],
    ['npm test --if-present', 'with --if-present it need not run anything'],
    ['set +e; npm test; echo done', 'the line goes on after it'],
    ['npm run lint &', 'in the background'],
    ['npm run build; npm run lint &', 'in the background'],
    ['echo "all well"', 'it cannot fail'],
    ['(true; exit 0)', 'it cannot fail'],
  ])('shows nothing as %s', (command, why) => {
    expect(uselessDemand(command)).toContain(why);
  });

  it.each([
    'npm test',
    'npm test | tail -5',
    'npm run build; npm test',
    'cd web && npm test || exit 1',
    'test -f dist/index.js',
    '! grep -rn debugger src',
    'node -e "process.exit(require(\'./check.js\')())"',
    'for each in a b; do npm test -w $each; done',
    'node server.js & npm run e2e',
    'diff <(sort a) <(sort b)',
    'CI=1 make test',
  ])('may well show something as %s', (command) => {
    expect(uselessDemand(command)).toBeUndefined();
  });
});
