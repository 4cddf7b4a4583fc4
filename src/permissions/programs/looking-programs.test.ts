/** Rules for commands that look, test or check: options of theirs that run a program, load code or write a file ask. */
import { describe, expect, it } from 'vitest';
import { decideLine } from '../shell-rules.ts';

/** Both `go *` and `go test *`. */
function decided(line: string): readonly string[] {
  const [program = '', verb = ''] = line.split(' ');
  const rules = [`${program} *`, ...(/^[a-z-]+$/.test(verb) && !verb.startsWith('-') ? [`${program} ${verb} *`] : [])];
  return rules.map((rule) => decideLine(line, [{ [rule]: 'allow' }], {}));
}

describe('a star behind a command that looks or tests', () => {
  it.each([
    ...['file -C -m magic', 'file --compile -m magic', 'file -bC -m magic', 'file -z a', 'ldd ./evil', 'rg -z x'],
    ...['go test -c ./...', 'go test -exec ./evil', 'go test -toolexec=./evil', 'go test -test.gocoverdir=x', 'go test -fuzz=F'],
    ...['go list -toolexec ./evil x', 'go test -mod=mod', 'go build -debug-trace=x', 'go vet -fix', 'go doc -http'],
    ...['npm test -- --globalSetup x', 'npm test -- --globalSetup=./x.js', 'npm test -- -r ./evil.js', 'npm test -- -u'],
    ...['npm run test -- --reporter ./evil.js', 'npm run lint -- --fix', 'npm run lint -- -f ./evil.js', 'npm run lint -- -o x'],
    ...['npm test --registry=http://evil', 'npm view x --registry http://evil', 'npm run test -- --coverage.reporter=./evil'],
    ...['yarn test --setupFiles ./x', 'yarn run jest --globalSetup x', 'pnpm test --globalSetup x', 'pnpm run test -r ./evil'],
    ...['bun run test --globalSetup x', 'pnpm test -- --poolOptions.forks.execArgv=x', 'bun test --reporter-outfile=x'],
    ...['git -p log', 'git --paginate log', 'git cat-file --filters HEAD:a', 'git cat-file --textconv HEAD:a'],
    ...['git cat-file --batch --filt', 'git log --show-signature', 'git log --format=%G?', 'git tag -v v1', 'git add -e'],
    ...['git merge --verify-signatures x', 'git commit -S', 'git commit -e', 'git hash-object -w x', 'git fsck --lost-found'],
    ...['git diff --ext-diff', 'git grep -O x', 'git archive --output=x HEAD', 'git log --textconv'],
    ...['bat --paging=always a', 'bat --paging always a', 'bat --pager=evil a', 'bat --lessopen a', 'batcat --paging=auto a'],
    ...['node --cpu-prof-dir=x a.js', 'node --cpu_prof a.js', 'node --test-reporter=./evil.js --test a', 'node --run x a.js'],
    ...['node --import ./evil.js a.js', 'node --experimental-config-file=x a.js', 'node --redirect-warnings=x a.js'],
    ...['python3 -W error::evil.Warning a.py', 'python3 -Werror::evil.Warning a.py', 'python3 -X pycache_prefix=x a.py'],
    ...['pytest --tx popen//python=evil', 'pytest --cov-config=x', 'pytest --ds=evil', 'pytest --snapshot-update', 'pytest -p x'],
    ...['cargo test --config x', 'cargo doc --open', 'cargo search --index evil x', 'cargo build --artifact-dir x'],
    ...[
      'sort -o x a',
      'sort --compress-program=evil a',
      'tree -o x',
      'rg --pre evil x',
      'fd -x rm',
      'less +!id a',
      'man -P x ls',
    ],
    ...[
      'tar xf a --to-command=evil',
      'rsync -e evil a b',
      'sed -n e a',
      'make -f evil',
      'make --eval=x',
      'ssh -o ProxyCommand=x h',
    ],
    ...[
      'sdiff --diff-program=evil a b',
      'svn diff --diff-cmd evil',
      'hg diff --tool=x',
      'jj diff --tool=evil',
      'ack --ackrc=x y',
    ],
    ...['xmllint -o x a', 'xmllint --shell a', 'xsltproc --output x a', 'exiftool -if x a', 'exiftool -Author=x a', 'tidy -m a'],
    ...['shfmt -w a', 'gofmt -w a', 'clang-format -i a', 'codespell -w', 'typos --write-changes', 'golangci-lint run --fix'],
    ...['clang-tidy -load x a', 'cppcheck --addon=evil a', 'flake8 --append-config=x a', 'pyright --pythonpath evil'],
    ...['phpcs --bootstrap=x a', 'phpstan analyse -a evil', 'prove -e evil a.t', 'ctest -S evil', 'cabal test --test-wrapper=x'],
    ...['dotnet test --settings x', 'dotnet test -p:X=y', 'dotnet test @x', 'deno test -A', 'deno test --allow-run=x'],
    ...['cypress run --browser ./evil', 'tap --before=evil', 'ava --node-arguments=x', 'cucumber-js -f ./x', 'c8 npm test'],
    ...['mocha -R ./x', 'ts-node -r x a.ts', 'tsx -r x a.ts', 'webpack -c x', 'rollup -p evil a', 'asciidoctor -r ./x a'],
    ...['helm template --post-renderer evil x', 'terraform plan -out=x', 'cdk synth --app evil', 'gh pr view --web'],
    ...['journalctl --vacuum-size=1', 'dmesg -C', 'ip -batch x', 'ip netns exec x', 'ss -K', 'sysctl -w x=y', 'sysctl -n x=y'],
    ...[
      'apt list -o X=y',
      'dpkg --pre-invoke=x -l',
      'rpm -q --pipe evil x',
      'http --download https://a',
      'cloc --report-file=x .',
    ],
  ])('does not cover %s', (line) => {
    for (const permission of decided(line)) expect(permission).toBe('ask');
  });

  it.each([
    ...[
      'file a',
      'file -b --mime-type a',
      'rg -n x src',
      'go test ./... -run x -v',
      'go test -mod=vendor ./...',
      'go test -count=1',
    ],
    ...['npm test -- --run', 'npm test -- -t name', 'npm test -- src/a.test.ts', 'npm run test -- --watch', 'npm ls'],
    ...['yarn test --verbose', 'pnpm test --filter web', 'pnpm -r test', 'bun test', 'npm run lint', 'vitest --run', 'jest --ci'],
    ...['git log -p', 'git --no-pager log', 'git log --format=%h', 'git cat-file -p HEAD', 'git tag v1', 'git commit -m x'],
    ...['git add -A', 'git add -p a', 'git show HEAD', 'git merge main', 'git log -S x'],
    ...['bat -p a', 'bat --paging=never a', 'bat --style=plain a', 'node --test a.js', 'node a.js', 'node --watch a.js'],
    ...[
      'python3 -W error a.py',
      'python3 -W ignore::DeprecationWarning a.py',
      'python3 -X dev a.py',
      'pytest -x --tb=short -k a',
    ],
    ...['cargo test --release', 'cargo tree -e features', 'xmllint --noout a', 'exiftool a', 'shfmt -d a', 'gofmt -l .'],
    ...['clang-format a', 'golangci-lint run ./...', 'phpcs a', 'prove -v t', 'ctest -V', 'dotnet test -c Release --no-build'],
    ...['deno test', 'terraform plan', 'helm lint x', 'gh pr view 1', 'journalctl -u x -n 50', 'dmesg -T', 'ip addr', 'ss -tlnp'],
    ...['sysctl -n x', 'apt list --installed', 'dpkg -l', 'rpm -qa', 'http https://a', 'cloc .', 'tree -L 2', 'sort -u a'],
  ])('covers %s', (line) => {
    for (const permission of decided(line)) expect(permission).toBe('allow');
  });

  it.each([
    ['go test -c ./...', 'go test -c *'],
    ['npm test -- --globalSetup x', 'npm test -- --globalSetup *'],
    ['git -p log -1', 'git -p log *'],
    ['git cat-file --filters HEAD:a', 'git cat-file --filters *'],
    ['bat --paging=always a', 'bat --paging=always *'],
    ['file -C -m magic', 'file -C *'],
  ])('%s is allowed by %s, which has the word', (line, rule) => {
    expect(decideLine(line, [{ [rule]: 'allow' }], {})).toBe('allow');
  });
});
