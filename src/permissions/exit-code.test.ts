/** Whatever is proved by an exit code of 0 did run and end with 0: held against a real shell. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitMeaning } from './exit-code.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'troupe-exit-'));
  writeFileSync(join(folder, 'step'), '#!/bin/sh\necho "$1 $2" >> ran\nexit "$2"\n');
  chmodSync(join(folder, 'step'), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const step = fc.constantFrom('./step NR 0', './step NR 0', './step NR 1');
const trifle = fc.constantFrom(
  'true',
  'false',
  ':',
  'exit',
  'exit 0',
  'exit 3',
  'exit $?',
  'set -e',
  'set +e',
  'set -o pipefail',
  'cd .',
);
const line = fc.letrec<{ list: string; item: string; pipe: string; one: string }>((tie) => ({
  list: fc
    .array(tie('item'), { minLength: 1, maxLength: 4 })
    .chain((items) => fc.constantFrom('; ', '\n').map((mark) => items.join(mark))),
  item: fc
    .array(fc.tuple(tie('pipe'), fc.constantFrom(' && ', ' || ')), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map(([pipe, mark], index) => (index === 0 ? pipe : mark + pipe)).join('')),
  pipe: fc
    .tuple(fc.constantFrom('', '', '', '! '), fc.array(tie('one'), { minLength: 1, maxLength: 2 }))
    .map(([not, all]) => not + all.join(' | ')),
  one: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    { weight: 5, arbitrary: step },
    { weight: 3, arbitrary: trifle },
    { weight: 1, arbitrary: tie('list').map((list) => `( ${list} )`) },
    { weight: 1, arbitrary: tie('list').map((list) => `{ ${list}; }`) },
    { weight: 1, arbitrary: tie('list').map((list) => `sh -c "${list}"`) },
  ),
})).list;

describe('what an exit code proves', () => {
  it('is true in a real shell', () => {
    let proofs = 0;
    fc.assert(
      fc.property(line, (drawn) => {
        const text = drawn.split('NR').reduce((before, after, index) => `${before}${index}${after}`);
        const meaning = exitMeaning(text);
        if (!meaning.ok) return;
        rmSync(join(folder, 'ran'), { force: true });
        writeFileSync(join(folder, 'ran'), '');
        const { status } = spawnSync('bash', ['-c', text], { cwd: folder });
        if (status !== 0) return;
        const ran = readFileSync(join(folder, 'ran'), 'utf8').trim().split('\n');
        for (const { words } of meaning.value.proved) {
          if (words[0] !== './step') continue;
          proofs += 1;
          const own = ran.filter((one) => one.startsWith(`${words[1]} `));
          expect(own, text).toEqual([`${words[1]} 0`]);
        }
      }),
      { numRuns: 400 },
    );
    expect(proofs).toBeGreaterThan(20);
  });

  it.each([
    ['set -e; { ./step 1 0; ./step 2 0; } && ./step 3 0', ['2', '3']],
    ['set -e; ./step 1 0; ./step 2 0', ['1', '2']],
    ['true | set -o pipefail; ./step 1 0 | ./step 2 0', ['2']],
    ['set -o pipefail; ./step 1 0 | ./step 2 0', ['1', '2']],
    ['false && { set -e; }; ./step 1 0; ./step 2 0', []],
    ['{ exit $?; } && ./step 1 0', []],
    ['( exit 0 ) && ./step 1 0', ['1']],
    ['false && cd web; ./step 1 0', []],
    ['touch flag && ./step 1 0 && rm flag', ['flag', 'flag']],
    ['echo 1 > flag; ./step 1 0 && mv flag away', ['flag']],
    ['echo 1 > /dev/shm/flag; ./step 1 0 && rm /dev/shm/flag', ['/dev/shm/flag']],
    ['./step 1 0 > /dev/null 2>&1 && ./step 2 0 && rm flag', ['1', '2', 'flag']],
    ['rm -rf out && mkdir out && ./step 1 0', ['-rf', 'out', '1']],
    ['pushd web && ./step 1 0 && popd && ./step 2 0', ['1', '2']],
    ['cd && ./step 1 0', []],
    ['popd; ./step 1 0', []],
    ['set -n; ./step 1 0', []],
    ['set -euxo pipefail; ./step 1 0', ['1']],
    ['export $(cat names); ./step 1 0', []],
  ])('is no more than the shell makes of %s', (text, numbers) => {
    const meaning = exitMeaning(text);
    expect(meaning.ok ? meaning.value.proved.map(({ words }) => words[1]) : []).toEqual(numbers);
  });

  it.each([
    ['./step 1 0; rc=$?; tail -3 test.log; exit $rc', ['1']],
    [`./step 1 0 > log 2>&1; code=$?; echo "ended with $code"; ./step 2 0; exit "\${code}"`, ['1']],
    [`./step 1 0 | tail -5; exit \${PIPESTATUS[0]}`, ['1']],
    [`bash -c './step 1 0 2>&1 | tail -5; exit \${PIPESTATUS[0]}'`, ['1']],
    [`./step 1 0 | ./step 2 0 | cat; rc=\${PIPESTATUS[1]}; echo; exit $rc`, ['2']],
    ['./step 1 0; rc=$?; ./step 2 0; exit 0', []],
    ['./step 1 0; rc=$?; rc=0; exit $rc', []],
    ['./step 1 0; rc=$?; echo $((rc=0)); exit $rc', []],
    ['./step 1 0; rc=$?; unset rc; exit $rc', []],
    ['readonly rc=0; ./step 1 0; rc=$?; exit $rc', []],
    ['./step 1 0; other=$?; exit $rc', []],
    ['./step 1 0; UID=$?; exit $UID', []],
    ['./step 1 0; rc=$? true; exit $rc', []],
    ['./step 1 0; true; rc=$?; exit $rc', []],
    [`./step 1 0 | tail; exit \${PIPESTATUS[1]}`, []],
    [`! ./step 1 0 | tail; exit \${PIPESTATUS[0]}`, []],
    [`zsh -c './step 1 0 | tail; exit \${PIPESTATUS[0]}'`, []],
    ["zsh -c './step 1 0; exit $?'", ['1']],
  ])('is that of a part which the line ends with: %s', (text, numbers) => {
    const meaning = exitMeaning(text);
    const proved = meaning.ok ? meaning.value.proved : [];
    expect(proved.flatMap(({ words }) => (words[0] === './step' ? [words[1]] : []))).toEqual(numbers);
  });

  it.each([
    ...[
      'npm test --usage',
      'npm test --script-shell=/bin/true',
      'npm --script-shell=true test',
      'npm test --userconfig=./evilrc',
    ],
    ...['npm test --us', 'npm run test --ignore-scripts', 'pnpm --script-shell=true test', 'pnpm run --script-shell=true test'],
    ...["find . -maxdepth 0 -exec npm test ';'", 'fd -x npm test', 'awk \'BEGIN{system("npm test")}\'', 'watch npm test'],
    ...['script -qc "npm test" /dev/null', 'xargs -r npm test </dev/null', "xargs -I{} sh -c 'npm test; true' </dev/null"],
    ...["xargs sh -c 'npm test; true'", 'xargs find . -exec npm test', 'parallel npm test', 'xargs'],
    ...[
      'make "SHELL=/bin/true" test',
      'make test SHELL=/bin/true',
      'make --eval="test:;@true" test',
      'make -t test',
      'make --touch x',
    ],
    ...[
      'make .SHELLFLAGS=-n test',
      'just -n test',
      'rake -n test',
      'ninja -n',
      'go test -exec true ./...',
      'mvn test -DskipTests',
    ],
    ...['env -Strue npm test', 'env -vStrue npm test', 'env --sp=true npm test', 'env --ch=web npm test', 'env --help npm test'],
    ...['timeout --version npm test', 'timeout --vers npm test', 'nice --help npm test', 'stdbuf --version npm test'],
    ...['timeout --preserve-status 9 npm test', 'exec -a npm true test', 'unset PATH; npm test', `: \${PATH:=fake}; npm test`],
    ...["bash -o noexec -c 'npm test'"],
    ...['cargo test --config x', "npx -c 'npm test; true'", 'npm exec -c "npm test; true"', 'phpunit --list-tests'],
  ])('is nothing where a program may start something else, or nothing: %s', (text) => {
    const meaning = exitMeaning(text);
    expect(meaning.ok ? meaning.value.proved : []).toEqual([]);
  });

  it.each([
    ...[
      'npm test -w web',
      'npm --workspace=web test --silent',
      'npm test -- --usage',
      'npm run build --no-fund',
      'npm ci --no-audit',
    ],
    ...[
      'npm install --ignore-scripts',
      'pnpm --filter web test --run',
      'yarn test --watch=false',
      'pnpm -r test',
      'bun test --coverage',
    ],
    ...[
      'make -sj4 test',
      'make -C web test',
      'make -j 4 test',
      'ninja -C out test',
      'git ls-files | xargs -n 1 eslint',
      'rake test',
    ],
    ...[
      'xvfb-run -a npm test',
      'flock lock npm test',
      'run-s lint unit',
      'find . -name a',
      'awk -f check.awk a',
      'go test ./...',
    ],
    ...['npx --no-install vitest run', 'npm exec -- vitest run', 'npm test --loglevel silent', 'dotenv -e .env -- vitest run'],
  ])('is that of the program as it is written: %s', (text) => {
    const meaning = exitMeaning(text);
    expect(meaning.ok ? meaning.value.proved.length : meaning.error).toBe(1);
  });

  it.each([
    ...[
      'env -u NODE_OPTIONS npm test',
      'env -i CI=1 npm test',
      'nice -n 5 npm test',
      'nice -n5 npm test',
      'stdbuf -o L npm test',
    ],
    ...[
      'timeout -k 5 60 npm test',
      'timeout --foreground -s KILL 1m npm test',
      'time -p npm test',
      'npm run test',
      'npm test -s',
    ],
  ])('is that of npm test: %s', (text) => {
    expect(exitMeaning(text)).toMatchObject({ value: { proved: [{ words: ['npm', 'test'], variables: [] }], hidden: [] } });
  });

  it.each([
    ['npm test -w web', 'npm test --workspace web'],
    ['npm test -ws', 'npm test --workspaces'],
    ['node --test --test-reporter dot', 'node --test --test-concurrency=1 --experimental-test-coverage'],
    ['python3 -m pytest -q --tb=short', 'pytest -v'],
    ['vitest run --reporter=dot', 'npx vitest run --coverage'],
  ])('is the same of %s as of %s', (one, other) => {
    expect(exitMeaning(one)).toEqual(exitMeaning(other));
  });

  it.each([
    ['node --test', 'node --test --test-reporter=./quiet.mjs'],
    ['npm test', 'npm test -v'],
    ['npm test', 'npm test --coverage'],
  ])('is not the same of %s as of %s', (one, other) => {
    expect(exitMeaning(one)).not.toEqual(exitMeaning(other));
  });

  it('goes on behind a command only where something is begun after it', () => {
    const followed = (text: string) => {
      const meaning = exitMeaning(text);
      return meaning.ok ? meaning.value.proved[0]?.followed : meaning.error;
    };
    for (const text of ["bash -o pipefail -c './a | tee log'", 'set -o pipefail; ./a | grep -v x | tee log', "sh -c './a'"])
      expect([text, followed(text)]).toEqual([text, false]);
    for (const text of ["bash -o pipefail -c './a | ./b'", "sh -ec './a; ./b'", "./a && sh -c './b'", "sh -c './a' && ./b"])
      expect([text, followed(text)]).toEqual([text, true]);
  });

  it('is about the folder in which a command ran', () => {
    const folders = (text: string) => {
      const meaning = exitMeaning(text);
      return meaning.ok ? meaning.value.proved.map(({ folder }) => folder) : meaning.error;
    };
    expect(folders('./a; cd -P web && ./b && cd - && ./c')).toEqual(['web', '']);
    expect(folders('pushd web && pushd inner && ./a && popd && ./b && popd && ./c')).toEqual(['web/inner', 'web', '']);
    expect(folders('(cd web && ./a) && ./b')).toEqual(['web', '']);
    expect(folders('cd - && ./a')).toContain('known to the shell alone');
    // The shell goes back by name; with -P, and a program by a flag of its own, from where a link leads.
    expect(folders('cd link/.. && ./a && cd link && cd .. && ./b')).toEqual(['', '']);
    expect(folders('cd -P link/.. && ./a')).toEqual(['link/..']);
    expect(folders('cd -L -P link/.. && ./a; cd -P -L link/.. && ./a')).toEqual(['link/..']);
    expect(folders('cd -Pe link && cd .. && sh -c "cd ../x && ./b"')).toEqual(['link/../../x']);
    expect(folders('cd link && make -C .. test && sh -c "cd .. && ./b"')).toEqual(['link/..', '']);
    expect(exitMeaning('sh -c "./npm test"')).toMatchObject({ value: { proved: [{ words: ['./npm', 'test'] }] } });
    expect(folders('npm --prefix link/.. test; make -C link/.. test')).toEqual(['link/..']);
    expect(folders('cd "$PWD/web" && ./a')).toEqual(['web']);
    expect(folders('env -C web npm test; env -Cweb npm test')).toEqual(['web']);
    expect(folders('env --chdir=web npm --prefix inner test')).toEqual(['web/inner']);
    expect(exitMeaning('make -s test')).toEqual(exitMeaning('make test'));
    for (const line of [
      'set -P; cd l && ./a',
      'set -o physical; cd l/.. && ./a',
      'cd "$(git rev-parse --show-toplevel)/web" && ./a',
    ])
      expect(exitMeaning(line).ok, line).toBe(false);
    expect(folders('cd "$(git rev-parse --show-toplevel)/web" && ./a')).toContain('known to the shell alone');
  });

  it.each([
    ['CI=1 make test', []],
    ['export A=1; make test', ['A=1']],
    ['A=1; B=2 make test', ['A=1', 'B=2']],
    ['(export A=1); make test', []],
    ['A=1; export A; /usr/bin/make test', ['A=1']],
    ['export A; gmake test', ['A=$A']],
    ['A=1 env B=2 timeout 60 make test', ['A=1', 'B=2']],
    ['export A=1; B=2 sh -c "C=3; make test"', ['A=1', 'B=2', 'C=3']],
    ['NODE_OPTIONS=-r=x sh -c "node --test"', ['NODE_OPTIONS=-r=x']],
    ['export A=1; node --test', ['A=1']],
    ['A=1 npm test', ['A=1']],
    ['A=1; node --test', []],
    ['set -a; A=1; node --test', ['A=1']],
    ['export A=1; sh -c "node --test"', ['A=1']],
    ['A=1; sh -c "node --test"', []],
    ['CI=1 TZ=UTC env LANG=C node --test', []],
    ['NODE_ENV=test PYTHONUNBUFFERED=1 node --test', []],
    ['GTEST_FILTER=none ./all-tests', ['GTEST_FILTER=none']],
  ])('is about a command with the variables that steer it: %s', (text, variables) => {
    const meaning = exitMeaning(text);
    expect(meaning.ok ? meaning.value.proved.map((one) => one.variables) : meaning.error).toEqual([variables]);
  });

  it('is a value or a reason for any text', () => {
    const pieces = fc.constantFrom(
      "'",
      '"',
      '`',
      '$(',
      '${',
      ')',
      '}',
      '(',
      '{',
      ';',
      '&',
      '&&',
      '||',
      '|',
      '<<',
      '<<<',
      '>',
      '\\',
      '\n',
      '#',
      ' ',
      'a',
      'if',
      'x=1',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces, { maxLength: 40 }).map((all) => all.join('')),
        ),
        (text) => {
          expect(typeof exitMeaning(text).ok).toBe('boolean');
        },
      ),
    );
  });
});
