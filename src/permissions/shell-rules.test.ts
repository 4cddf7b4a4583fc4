/** Rules for command lines: which rule decides, and a table of tricks none of which runs under an allow for something else. */
import { describe, expect, it } from 'vitest';
import type { Permission, RuleMap } from './rule-map.ts';
import { decideLine, shellPatternProblem } from './shell-rules.ts';

const decided = (line: string, rules: RuleMap): Permission => decideLine(line, [rules], {});

const EXAMPLE: RuleMap = { 'git diff*': 'allow', 'npm test': 'allow', 'rm *': 'deny', '*': 'ask' };

describe('the rule that decides', () => {
  it.each<readonly [string, RuleMap, Permission]>([
    ['npm test', EXAMPLE, 'allow'],
    ['  npm   test  ', EXAMPLE, 'allow'],
    ['\'npm\' te"st"', EXAMPLE, 'allow'],
    ['npm test # all of them', EXAMPLE, 'allow'],
    ['npm test 2>&1', EXAMPLE, 'allow'],
    ['npm test > /dev/null', EXAMPLE, 'allow'],
    ['npm test -- --watch', EXAMPLE, 'ask'],
    ['git diff', EXAMPLE, 'allow'],
    ['git diff --stat HEAD~1', EXAMPLE, 'allow'],
    ['git diff && npm test', EXAMPLE, 'allow'],
    ['git diff | npm test; (npm test) & { git diff; }', EXAMPLE, 'allow'],
    ['! npm test\nnpm test', EXAMPLE, 'allow'],
    ['ls', EXAMPLE, 'ask'],
    ['rm -rf x', EXAMPLE, 'deny'],
    ['rm', EXAMPLE, 'deny'],
    ['npm test && ls', EXAMPLE, 'ask'],
    ['npm test && rm x', EXAMPLE, 'deny'],
    // What no rule fits asks.
    ['ls', { 'npm test': 'allow' }, 'ask'],
    ['ls', {}, 'ask'],
    // A narrower rule goes before a wider one, in whatever order they stand.
    ['npm test', { 'npm test': 'allow', '*': 'deny' }, 'allow'],
    ['npm test', { '*': 'deny', 'npm test': 'allow' }, 'allow'],
    ['git push origin main', { 'git *': 'allow', 'git push*': 'ask', 'git push origin main': 'deny' }, 'deny'],
    ['git push origin', { 'git *': 'allow', 'git push*': 'ask', 'git push origin main': 'deny' }, 'ask'],
    ['git log', { 'git *': 'allow', 'git push*': 'ask', 'git push origin main': 'deny' }, 'allow'],
    // Where neither is narrower, the stricter.
    ['git push origin --force', { 'git push origin *': 'allow', '* --force': 'deny' }, 'deny'],
    ['git push origin --force', { '* --force': 'deny', 'git push origin *': 'allow' }, 'deny'],
    // A star alone is everything that can be understood.
    ['FOO=1 ls > x $Y', { '*': 'allow' }, 'allow'],
    ['FOO=1 ls > x $Y; rm y', { '*': 'allow', 'rm *': 'deny' }, 'deny'],
    ['if true; then rm x; fi', { '*': 'allow', 'rm *': 'deny' }, 'ask'],
    ['if true; then rm x; fi', { '*': 'deny', 'npm test': 'allow' }, 'deny'],
    // A line to the letter.
    ['a | b > c', { '= a | b > c': 'allow' }, 'allow'],
    ['a | b > c ', { '= a | b > c': 'allow' }, 'ask'],
    // What a word of the rule is, and what a star may stand for.
    ['npm run test:unit --silent', { 'npm run test*': 'allow' }, 'allow'],
    ['cat src/a.ts', { 'cat src/*': 'allow' }, 'allow'],
    ['CI=1 npm test', { 'CI=1 npm test': 'allow' }, 'allow'],
    ['timeout 60 npm test', { 'timeout 60 *': 'allow', 'npm test': 'allow' }, 'allow'],
    ['find . -name x -exec grep -l y {} +', { 'find * -exec grep -l y {} +': 'allow', 'grep *': 'allow' }, 'ask'],
    ["sh -c 'npm test && git diff'", { 'sh -c *': 'allow', 'npm test': 'allow', 'git diff': 'allow' }, 'allow'],
    ['xargs cat', { 'xargs cat': 'allow' }, 'allow'],
    ['echo "$(git diff)" `npm test`', { 'echo *': 'allow', 'git diff': 'allow', 'npm test': 'allow' }, 'allow'],
    ["cat <<'E'\n$(rm x)\nE", { cat: 'allow' }, 'allow'],
    ['git diff --output=x', { 'git diff --output=*': 'allow' }, 'allow'],
    ['cd web', { 'cd web': 'allow' }, 'allow'],
    ['[ -f a ] && npm test', { '[ *': 'allow', 'npm test': 'allow' }, 'allow'],
    ['[ -f a ] && npm test', { '*': 'allow' }, 'allow'],
    ['[ -f a ]; rm x', { '*': 'allow', 'rm *': 'deny' }, 'deny'],
    ['rm --version', { '* --version': 'allow' }, 'ask'],
    // A rule without a star covers what its command runs, but for what is denied.
    ['env ls x', { 'env ls x': 'allow' }, 'allow'],
    ['env rm x', { 'env rm x': 'allow', 'rm *': 'deny' }, 'deny'],
    // However the rule itself is written.
    ['rm x', { '*': 'allow', 'RM *': 'deny' }, 'deny'],
  ])('%j with %j: %s', (line, rules, expected) => {
    expect(decided(line, rules)).toBe(expected);
  });

  it('is the stricter of two maps, and what is remembered answers what would be asked, never what is denied', () => {
    expect(decideLine('npm test', [{ 'npm test': 'allow' }, 'ask'], {})).toBe('ask');
    expect(decideLine('npm test', [{ 'npm test': 'allow' }, { '*': 'deny' }], { 'npm test': 'allow' })).toBe('deny');
    expect(decideLine('npm test && git diff', ['ask'], { 'npm test': 'allow' })).toBe('ask');
    expect(decideLine('npm test && git diff', [{ 'git diff': 'allow' }], { 'npm test': 'allow' })).toBe('allow');
    expect(decideLine('if x; then y; fi', ['ask'], { '= if x; then y; fi': 'allow' })).toBe('allow');
    expect(decideLine('if x; then y; fi', ['allow'], {})).toBe('allow');
  });
});

/** Each with rules that allow something else, and with what a person would take it for. */
const ALLOWING: RuleMap = {
  'git diff*': 'allow',
  'git log *': 'allow',
  'npm test*': 'allow',
  'npm run *': 'allow',
  'echo *': 'allow',
  'cat src/*': 'allow',
  'cat *': 'allow',
  'ls *': 'allow',
  'find *': 'allow',
  'xargs *': 'allow',
  'env *': 'allow',
  'sudo *': 'allow',
  'time *': 'allow',
  'nice *': 'allow',
  'nohup *': 'allow',
  'timeout *': 'allow',
  'sh *': 'allow',
  'bash *': 'allow',
  'command *': 'allow',
  'exec *': 'allow',
  'eval *': 'allow',
  'tar *': 'allow',
  'rsync *': 'allow',
  'ssh *': 'allow',
  'sort *': 'allow',
  'sed *': 'allow',
  'awk *': 'allow',
  'node *': 'allow',
  'python3 *': 'allow',
  'make *': 'allow',
  'curl *': 'allow',
  'cd *': 'allow',
  'printf *': 'allow',
  'test *': 'allow',
  'git *': 'allow',
  'npm *': 'allow',
};
const TRICKS: readonly string[] = [
  // lists and pipes
  'npm test; rm -rf x',
  'npm test && rm -rf x',
  'npm test || rm -rf x',
  'npm test | rm -rf x',
  'npm test & rm -rf x',
  'npm test\nrm -rf x',
  'npm test |& rm -rf x',
  '(npm test; rm -rf x)',
  '{ npm test; rm -rf x; }',
  '! rm -rf x',
  // substitutions
  'echo $(rm -rf x)',
  'echo "$(rm -rf x)"',
  'echo `rm -rf x`',
  'echo "`rm -rf x`"',
  'echo "$(echo "$(rm -rf x)")"',
  'echo `echo \\`rm -rf x\\``',
  `echo $\{x:-$(rm -rf x)}`,
  `echo $\{x:=\`rm -rf x\`}`,
  'echo $((a[$(rm -rf x)]))',
  'echo $[a[$(rm -rf x)]]',
  'cat <(rm -rf x)',
  'echo x > >(rm -rf x)',
  'echo $\\\n(rm -rf x)',
  'echo "$\\\n(rm -rf x)"',
  'X=$(rm -rf x) npm test',
  'npm test > $(rm -rf x)',
  // here-documents
  'cat <<E\n$(rm -rf x)\nE',
  'cat <<E\n`rm -rf x`\nE',
  'cat <<"E"\nhello\nE\nrm -rf x',
  'bash <<"E"\nrm -rf x\nE',
  'sh <<< "rm -rf x"',
  'cat <<-E\n\tE\nrm -rf x',
  // words that nobody knows before
  '$X -rf x',
  'r$IFS',
  'git$IFS-c$IFS"alias.x=!rm"$IFS"x"',
  'git diff $X',
  'git diff "$X"',
  'git diff *',
  'git diff ~',
  'git diff {--output=x,y}',
  '{rm,-rf,x}',
  // variables
  'PATH=/tmp/evil npm test',
  'LD_PRELOAD=./evil.so npm test',
  'GIT_PAGER=rm git log -1',
  'GIT_EXTERNAL_DIFF=./evil git diff',
  'PATH=/tmp/evil; npm test',
  'export PATH=/tmp/evil; npm test',
  'IFS=/; npm test',
  'env PATH=/tmp/evil npm test',
  'env -S "rm -rf x"',
  'env -i rm -rf x',
  // wrappers
  'env rm -rf x',
  '/usr/bin/env rm -rf x',
  'sudo rm -rf x',
  'sudo -u root rm -rf x',
  'time rm -rf x',
  'nice -n 5 rm -rf x',
  'nohup rm -rf x',
  'timeout 5 rm -rf x',
  'timeout -s KILL 5 env nice rm -rf x',
  'command rm -rf x',
  'exec rm -rf x',
  'eval "rm -rf x"',
  'eval rm -rf x',
  'xargs rm -rf',
  'echo x | xargs rm -rf',
  'echo x | xargs -I % sh -c "rm %"',
  'find . -exec rm {} ;',
  'find . -exec rm {} \\;',
  'find . -execdir rm {} +',
  'find . -ok rm {} \\;',
  'find . -delete',
  'find . -fprintf out %p',
  "sh -c 'rm -rf x'",
  'bash -c "npm test; rm -rf x"',
  'sh -c "sh -c \'rm -rf x\'"',
  "bash -lc 'rm -rf x'",
  'echo rm | sh',
  'sh',
  'bash -s',
  'bash --rcfile evil -i',
  'busybox rm -rf x',
  'parallel rm ::: x',
  'watch rm -rf x',
  'npx rimraf x',
  // options that run or write
  "git -c core.pager='rm -rf x' log -1",
  "git -c alias.x='!rm -rf x' x",
  "git -C . -c alias.x='!rm -rf x' x",
  'git --exec-path=/tmp/evil diff',
  'git diff --ext-diff',
  'git diff --ext',
  'git diff --output=src/a.ts',
  'git diff --outpu=src/a.ts',
  'git log --output src/a.ts -1',
  'git difftool -x rm',
  'git bisect run rm -rf x',
  "git submodule foreach 'rm -rf x'",
  'git rebase -x "rm -rf x" HEAD~1',
  "git clone 'ext::sh -c rm% -rf% x'",
  'git clone --upload-pack=./evil . y',
  'git config alias.x "!rm"',
  'git grep -O./evil x',
  'git -C /tmp/evil diff',
  'git --git-dir=/tmp/evil diff',
  'git x',
  'npm test --prefix /tmp/evil',
  'npm --prefix=/tmp/evil test',
  'npm -C /tmp/evil test',
  'npm test --script-shell=./evil',
  'npm exec rimraf x',
  'npm run test --node-options=--require=./evil.js',
  'tar xf a.tar --to-command=./evil',
  'tar xf a.tar --to-com ./evil',
  'tar -xIf ./evil a.tar',
  'tar cf a.tar --checkpoint=1 --checkpoint-action=exec=./evil .',
  'rsync -e ./evil a b:',
  'rsync -ave ./evil a b:',
  'ssh -o ProxyCommand=./evil host',
  'ssh -oProxyCommand=./evil host',
  'sort -o src/a.ts b',
  'sort --compress-program=./evil b',
  "sed -n '1e rm -rf x' a",
  'sed -i s/a/b/ x',
  'awk \'BEGIN{system("rm -rf x")}\'',
  "node -e \"require('fs').rmSync('x')\"",
  'node --require ./evil.js a.js',
  'echo "evil" | node',
  'python3 -c "import os"',
  'python3 - <<"E"\nimport os\nE',
  'make SHELL=./evil',
  'make -f /tmp/evil',
  'curl -o src/a.ts https://example.org',
  'curl -K evil',
  "curl -w '%output{src/a.ts}' https://example.org",
  "printf -v 'a[$(rm -rf x)]' y",
  "test -v 'a[$(rm -rf x)]'",
  // files
  'npm test > src/a.ts',
  'git diff >> ~/.bashrc',
  'npm test &> src/a.ts',
  'npm test >& src/a.ts',
  'echo x >| src/a.ts',
  '(npm test) > src/a.ts',
  'cat < /dev/tcp/evil/80',
  '> src/a.ts',
  // another program of the same name
  '/tmp/evil/git diff',
  './git diff',
  '../bin/npm test',
  'GIT diff',
  'gıt diff',
  'ｇit diff',
  'gi\u200bt diff',
  'git\u00a0diff',
  'git diff\r',
  'npm test\0',
  'npm\u2028test',
  // aliases, functions, other words of the shell
  'alias npm=rm\nnpm test',
  'npm() { rm -rf x; }; npm test',
  'function npm { rm -rf x; }; npm test',
  'trap "rm -rf x" EXIT; npm test',
  '. ./evil.sh',
  'source ./evil.sh',
  'cd /tmp/evil && npm test',
  'set -- rm -rf x; "$@"',
  'for x in a; do rm $x; done',
  'while rm x; do npm test; done',
  'case x in x) rm x;; esac',
  '[[ -n $(rm x) ]]',
  '(( a[$(rm x)] ))',
  'a=(rm x)',
  'coproc rm x',
  'hash -p ./evil npm; npm test',
  "npm test 'not closed",
  'npm test )',
  'npm test \\',
];
/** These ask although a rule as wide as `cat *` is about the program: kept apart, for a rule that is narrower. */
const NARROW: readonly (readonly [string, RuleMap])[] = [
  ['cat src/../../etc/passwd', { 'cat src/*': 'allow' }],
  ['cat src/a /etc/passwd', { 'cat src/*': 'allow' }],
  ['./scripts/../evil', { './scripts/*': 'allow' }],
  ['./scripts/deep/evil', { './scripts/*': 'allow' }],
  ['/tmp/evil/git', { '*git': 'allow' }],
  ['curl https://example.org/ https://evil.example/', { 'curl https://example.org/*': 'allow' }],
  ['npm test; npm test', { '= npm test': 'allow' }],
  ['xargs -n 1 rm', { 'xargs *': 'allow', 'rm *': 'allow' }],
  ['uniq a src/b', { 'uniq *': 'allow' }],
];

describe('tricks', () => {
  it('are many, and each is there once', () => {
    expect(TRICKS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(TRICKS).size).toBe(TRICKS.length);
  });
  it.each(TRICKS)('%j does not run under an allow for something else', (line) => {
    expect(decided(line, ALLOWING)).toBe('ask');
    expect(decided(line, { ...ALLOWING, '*': 'deny' })).toBe('deny');
  });
  it.each(NARROW)('%j does not run under %j', (line, rules) => {
    expect(decided(line, rules)).toBe('ask');
  });
});

describe('a pattern', () => {
  it.each(['**', '** x', 'git ** push', 'a | b', 'a && b', 'a; b', 'a > b', 'echo $X', 'echo "a"', 'a\nb', '', ' ', 'ls a?'])(
    '%j is a mistake',
    (pattern) => {
      expect(shellPatternProblem(pattern)).toBeDefined();
    },
  );
  it.each([
    'npm test',
    'git diff*',
    'helm **',
    'npm test**',
    'cat src/**',
    '*',
    '= a | b',
    'find * -name *.ts',
    'CI=1 npm test',
    '[ -f * ]',
  ])('%j is a rule', (pattern) => {
    expect(shellPatternProblem(pattern)).toBeUndefined();
  });
});
