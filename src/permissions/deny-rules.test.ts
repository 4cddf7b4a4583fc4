/** A deny holds wherever its command is run from, and is at least a question where nobody can tell. */
import { describe, expect, it } from 'vitest';
import type { Permission, RuleMap } from './rule-map.ts';
import { decideLine } from './shell-rules.ts';

const decided = (line: string, rules: RuleMap): Permission => decideLine(line, [rules], {});

describe('a deny', () => {
  const rules: RuleMap = { '*': 'allow', 'rm *': 'deny', 'git push*': 'deny', '*curl*': 'deny', 'kill -9 *': 'ask' };
  it.each([
    ...['rm x', '/bin/rm x', '\\rm x', 'r"m" x', 'RM x', './rm x', 'sudo rm x', 'env A=1 rm x', 'xargs rm', 'X=1 rm x'],
    ...[
      'find . -exec rm {} \\;',
      "sh -c 'ls; rm x'",
      'echo $(rm x)',
      'echo `rm x`',
      'ls | timeout 3 nice rm',
      'rm x > /dev/null',
    ],
    ...[
      'git push',
      'git -C . push',
      'git --no-pager push origin',
      'busybox rm x',
      'time X=1 rm x',
      'command rm x',
      'exec rm x',
      '! rm x',
    ],
    ...['curl x', '/usr/bin/curl x', 'ls; curl', 'npx rm x', 'nohup rm x &'],
    ...[
      'linux64 rm x',
      'setarch i686 rm x',
      'arch rm x',
      'arch -arm64 rm x',
      'gtimeout 5 rm x',
      'genv A=1 rm x',
      'grm x',
      'gxargs rm',
    ],
    ...[
      'cross-env A=1 rm x',
      'caffeinate -i rm x',
      'fd -x rm',
      'fdfind . --exec rm',
      'npm exec rm x',
      'npm exec -- rm x',
      'npm x rm',
    ],
    ...[
      'pnpm exec rm x',
      'yarn exec rm x',
      'bun x rm x',
      'uv run rm x',
      'poetry run rm x',
      'bundle exec rm x',
      'pipenv run rm x',
    ],
    ...["tar xf a --to-command='rm x'", 'tar xf a --to-com rm', 'tar -I rm -xf a', 'tar -Irm -xf a'],
    ...['tar cf a --checkpoint-action=exec=rm b', "rsync -e 'rm x' a b:", "rsync -ae 'rm x' a b:", 'rsync --rsh=rm a b:'],
    ...[
      "split --filter='rm x' a",
      'sort --compress-program=rm a',
      'rg --pre rm x',
      'go test -exec rm ./...',
      'go vet -vettool=rm',
    ],
    ...['conda run rm x', 'mise exec -- rm x', 'mise x -- rm x', 'pyenv exec rm x', 'rustup run stable rm x'],
  ])('holds for %s', (line) => expect(decided(line, rules)).toBe('deny'));

  it.each([
    ...['$X', 'eval "$X"', 'eval rm x', 'echo rm | sh', 'sh -c "$X"', 'env $X', 'alias l=rm', 'if rm x; then ls; fi', '. ./x'],
    ...[
      'ssh-agent rm x',
      'hyperfine "rm x"',
      'valgrind rm x',
      'xvfb-run rm x',
      'tini rm x',
      'conda run -n e rm x',
      'npm $X rm x',
    ],
    ...['uv --directory d run rm x', 'npm exec -c "rm x"', 'fd -xrm', 'nix-shell --run "rm x"', 'watchexec rm x'],
    ...[
      'git submodule foreach rm x',
      'git bisect run rm x',
      'git rebase -x "rm x" a',
      'git difftool --extcmd=rm',
      'git grep -Orm x',
    ],
    ...['git -C a rebase --exec "rm x"', 'git filter-branch --tree-filter "rm x"', 'git hook run rm'],
    ...['git -c alias.x=!rm x', 'kill $X 1', 'kill -9 1', 'find . -exec $X {} \\;', 'xargs $X', 'git $X', 'fish -c "rm x"'],
    // A word that names the program, where nobody knows what is done with it.
    ...[
      '/lib64/ld-linux-x86-64.so.2 /bin/rm zz',
      'ip netns exec x rm',
      'tox exec -- rm',
      'composer exec rm',
      'ccache rm',
      'chronic rm',
    ],
    ...[
      'ifne rm',
      'catchsegv rm',
      'coreutils --coreutils-prog=rm',
      'sandbox-exec -p x rm',
      'guix shell -- rm',
      'devbox run rm',
      'wsl rm',
    ],
    ...[
      "sops exec-env f 'rm zz'",
      'docker exec x rm',
      'docker run x rm',
      'ssh h rm',
      'ssh h "cd x; rm y"',
      'anything rm',
      'anything /bin/rm',
    ],
    ...[
      'anything RM',
      'anything --with=rm x',
      'anything hook:rm',
      'anything --run "/bin/rm x"',
      "anything 'ls && rm x'",
      'anything -xrm',
    ],
    ...[
      'anything git push',
      'anything git -C . push',
      'anything "git push"',
      'GIT_PAGER=rm git log',
      'PAGER="rm x" man ls',
      'X=rm',
    ],
    ...[
      'sed s/x/rm/e a "rm x"',
      'awk "rm x"',
      'find . -exec anything rm \\;',
      'timeout 5 anything rm',
      'xargs anything rm',
      'npm install rm',
    ],
    ...[
      'make SHELL=rm',
      'wget --post-data "rm x" y',
      'gdb -ex "shell rm x"',
      'vim "+!rm x"',
      'anything grm',
      'tar xf a --unknown=rm',
      'git x rm',
    ],
  ])('is at least a question where nobody can tell: %s', (line) => expect(decided(line, rules)).toBe('ask'));

  it.each([
    ...[
      'git rm x',
      'git commit -m "rm x"',
      'git log --grep rm',
      'grep -rn rm src',
      'find . -name rm',
      'mkdir -p src/rm',
      'npm run rm',
    ],
    ...[
      'timeout 5 cat rm',
      'echo "please rm x"',
      'make rm',
      'cp rm x',
      'ls /bin/rm',
      'which rm',
      'cat /bin/rm',
      'anything arm',
      'anything rm/x',
    ],
    ...[
      'anything firm',
      'anything git pull',
      'anything git',
      'rg "rm x"',
      'pytest -k rm',
      'docker logs rm',
      'kubectl get pods -l app=rm',
    ],
  ])('is no question where the word is data, or names something else: %s', (line) => expect(decided(line, rules)).toBe('allow'));

  it('of a program with a path is for that program wherever it is named', () => {
    for (const line of ['anything /bin/rm x', 'anything rm x', "docker run y '/usr/bin/rm x'"])
      expect(decided(line, { '*': 'allow', '/bin/rm *': 'deny' })).toBe('ask');
  });

  it('looks at a long line in no time', () => {
    const long = `anything ${'rm '.repeat(30_000)}`;
    expect(decided(long, { '*': 'allow', 'rm * x y': 'deny' })).toBe('ask');
    expect(decided(`anything ${'git '.repeat(25_000)}`, { '*': 'allow', 'git push': 'deny' })).toBe('ask');
  });

  it('is no question for what is plain', () => {
    for (const line of ['ls $X', 'git log push', 'echo rm', 'cat rm > y', 'npm run exec', 'npm install', 'uv sync', 'fd rm'])
      expect(decided(line, rules)).toBe('allow');
    for (const line of ['tar xf a.tar', 'tar -I zstd -xf a', 'tar cf a --checkpoint-action=dot b', 'rsync -ae ssh a b:'])
      expect(decided(line, rules)).toBe('allow');
    for (const line of ['rsync -av --exclude e a b', 'go test ./... -run exec', 'rg rm', 'sort -n a', 'split -l 5 a'])
      expect(decided(line, rules)).toBe('allow');
  });
});
