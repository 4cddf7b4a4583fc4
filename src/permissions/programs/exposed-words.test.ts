/** Options of well-known programs that run or write something: a star stands for none of them. */
import { describe, expect, it } from 'vitest';
import { decideLine } from '../shell-rules.ts';

const decide = (line: string): string => decideLine(line, [{ [`${line.split(' ', 1)[0]} *`]: 'allow' }], {});

/** The first word is the program; what follows is what it would start. */
const STARTERS = `
  sg root 'touch x' · newgrp root · timelimit -t1 touch x · timelimit touch x · torify touch x · eatmydata touch x · aa-exec touch x
  cgexec touch x · schroot touch x · uclampset touch x · run-parts d · daemonize /bin/touch x · daemon touch x · i386 touch x · fakechroot touch x
  trickle touch x · tsocks touch x · proxychains4 touch x · runcon u touch x · nocache touch x · pee 'touch x' · mispipe 'touch x' true
  lckdo l touch x · dotlockfile l touch x · annotate-output touch x · logsave l touch x · run-one touch x · keyctl session s touch x
  run0 touch x · systemd-cat touch x · systemd-nspawn touch x · flatpak-spawn touch x · qemu-x86_64 /bin/touch x · s6-setuidgid u touch x
  mpirun touch x · sshpass touch x · retry touch x · tsp touch x · pipesz touch x · openvt touch x · xinit /bin/touch x · debconf touch x
  osh x · lksh · bash-static · rc x
`
  .split(/ · |\n/)
  .map((line) => line.trim())
  .filter((line) => line !== '');

describe('a star behind a program that starts what it is given', () => {
  it.each(STARTERS)('is not for %s', (line) => {
    expect(decide(line)).toBe('ask');
    expect(decideLine(line, [{ '*': 'allow' }], {})).toBe('ask');
  });
});

describe('a star behind a program', () => {
  it.each([
    "split --filter='sh -c id' a",
    "split --filt='sh -c id' a",
    'shuf -o src/a.ts b',
    'xxd -r a src/a.ts',
    'dd if=a of=src/a.ts',
    'ssh-keygen -l -D ./evil.so',
    'openssl engine ./evil.so',
    'openssl enc -in a -out src/a.ts',
    'openssl dgst -provider ./evil.so a',
    'mypy --python-executable ./evil a.py',
    'pytest -p evil',
    'pytest --rootdir /tmp/evil',
    'pytest -c /tmp/evil.ini',
    'eslint --rulesdir evil .',
    'eslint -c evil.js .',
    'eslint --fix .',
    'prettier --write .',
    'gcc -wrapper sh,-c a.c',
    'gcc -B./evil a.c',
    'gcc -fplugin=./evil.so a.c',
    'gcc @evil',
    ...["make 'a-b:=$(shell id)'", 'make .SHELLFLAGS=evil.sh', 'cargo +stable install evil', 'cargo r', 'cargo +nightly run'],
    ...[
      'uv --directory d run x',
      'poetry -C d run x',
      'bundle --gemfile f exec x',
      'deno --log-level debug eval x',
      'go -C d run .',
    ],
    ...[
      'kubectl --kubeconfig=evil version',
      'kubectl logs --kubeconfig evil x',
      'docker --host=tcp://evil ps',
      'docker ps -H evil',
    ],
    ...[
      'prettier -w .',
      'stylelint --custom-formatter ./evil.js a',
      'ruff format .',
      'ruff check --add-noqa .',
      'biome check --apply .',
    ],
    ...['pytest --junitxml=src/a.ts', 'pytest --debug=src/a', 'mypy --html-report d a.py', 'pylint --init-hook=x a'],
    ...['go vet -vettool=./evil ./...', "go build '-ldflags=-extld=./evil'", 'go test -coverprofile=src/a.ts', 'go fmt ./...'],
    ...[
      'tar cf a.tar -T evil',
      'tar cf a.tar --files-from=evil',
      'tar xPf a.tar',
      'tar cf a.tar --remove-files x',
      'tar cgf s a.tar x',
    ],
    ...['scp -D ./evil a b:', 'rsync -a --delete a b', 'openssl req -keyout src/a', 'sdiff -o src/a x y', 'iconv -o src/a x'],
    ...[
      'curl --hsts src/a https://x',
      'curl --etag-save src/a https://x',
      'curl --connect-to ::evil https://x',
      'curl -Q x ftp://x',
    ],
    ...['wget -N https://x/package.json', 'wget -r https://x', 'wget --save-cookies src/a https://x', 'wget --mirror https://x'],
    ...[
      'gcc -MF src/a -MMD a.c',
      'gcc -Wl,-o,src/a a.c',
      'gcc -fuse-ld=./evil a.c',
      'gcc -aux-info src/a a.c',
      'gcc -fdump-tree-all=f a.c',
    ],
    ...[
      'yq -i x a.yaml',
      'fdfind -x rm',
      'ug --filter=evil x',
      'pip list --python=./evil',
      'pip install evil',
      'gh alias set x y',
    ],
    ...['mvn test exec:exec', 'mvn test -Dexec.executable=rm', 'gradle test -I evil.gradle', 'gradle test --init-script evil'],
    ...[
      'jest --globalSetup=./evil.js',
      'jest --setupFiles ./evil.js',
      'jest --outputFile=src/a.ts',
      'jest -u',
      'vitest --reporter=./evil.js',
    ],
    ...[
      'vitest --coverage.reportsDirectory=src',
      'mocha -r ./evil.js',
      'mocha --ui ./evil.js',
      'tsc --outFile src/a.js',
      'tsc --OUTFILE x',
    ],
    ...[
      'tsx -e x',
      'julia -e x',
      'Rscript -e x',
      'guile -c x',
      'pandoc --filter ./evil x',
      'pdflatex -shell-escape x',
      'cmake -E rm x',
    ],
    ...[
      'ninja -C evil',
      'bazel test --run_under=evil x',
      'just -f evil x',
      'ant -f evil',
      'rspec -r ./evil',
      'rubocop -A',
      'rake -f evil',
    ],
    ...['npm test --local-prefix=evil', 'npm help --browser=evil x', 'yarn test --use-yarnrc=evil', 'bun test -r ./evil.ts'],
    ...['pnpm test --config.script-shell=evil', 'pnpm test --config.scriptShell=evil'],
    ...['node --outputFile=x a.js', 'anything --outputFile=x', 'anything --output_file x', 'anything --initScript=x'],
  ])('does not cover %s', (line) => {
    expect(decide(line)).toBe('ask');
  });

  it.each([
    'split -l 10 a',
    'shuf a',
    'xxd a',
    'ssh-keygen -l -f a.pub',
    'openssl dgst -sha256 a',
    'mypy a.py',
    'pytest -x -k name test',
    'eslint .',
    'prettier --check .',
    'gcc -Wno-format -c a.c',
    ...[
      'make -j4 test',
      'cargo test --release',
      'go test ./... -run x',
      'docker logs x',
      'kubectl logs x',
      'ruff check .',
      'tar tf a.tar',
    ],
    ...[
      'jest src/a.test.ts',
      'vitest run src/a.test.ts',
      'tsc',
      'pip list',
      'mvn test',
      'gradle test',
      'wget https://x',
      'gh pr list',
    ],
    ...['openssl x509 -noout -text', 'curl -s https://x', 'tar -czf a.tgz images', 'julia a.jl', 'uv lock', 'poetry show'],
  ])('covers %s', (line) => {
    expect(decide(line)).toBe('allow');
  });
});

describe('a star behind a verb of git', () => {
  /** Both `git branch *` and `git *`. */
  const both = (line: string): readonly string[] => {
    const [program, verb] = line.split(' ');
    return [`${program} ${verb} *`, 'git *'].map((rule) => decideLine(line, [{ [rule]: 'allow' }], {}));
  };

  it.each(['git --no-pager branch -D main', 'git --attr-source log branch -D main', 'git --super-prefix log branch -D main'])(
    'sees the verb behind options: %s',
    (line) => {
      expect(decideLine(line, [{ 'git *': 'allow' }], {})).not.toBe('allow');
    },
  );

  it.each([
    ...[
      'git branch -D main',
      'git branch -rD origin/main',
      'git branch --del main',
      'git branch -f main HEAD~5',
      'git branch -M a b',
    ],
    ...['git tag -d v1', 'git tag -f v1', 'git tag --delete v1', 'git tag -s v1', 'git stash drop', 'git stash clear'],
    ...['git stash -q clear', 'git remote set-url origin x', 'git remote add evil x', 'git remote -v remove origin'],
    ...['git config core.pager evil', 'git config --global alias.x !rm', 'git config --unset user.name', 'git config -e'],
    ...[
      'git diff --ext-diff',
      'git diff --output=f',
      'git log --outpu f',
      'git grep -O./evil x',
      'git grep --open-files-in-pager=x y',
    ],
    ...[
      'git archive --exec=evil HEAD',
      'git archive --remote=evil HEAD',
      'git archive -o f HEAD',
      'git fetch --upload-pack=evil o',
    ],
    ...[
      'git push --force',
      'git push -f',
      'git push origin +main',
      'git push origin :main',
      'git push --mirr',
      'git push -d origin a',
    ],
    ...[
      'git reset --hard',
      'git checkout -f',
      'git checkout -B main',
      'git switch --discard-changes a',
      'git clean -fd',
      'git rm -f a',
    ],
    ...[
      'git reflog expire --all',
      'git worktree remove x',
      'git submodule foreach rm',
      'git bisect run rm',
      'git merge -s evil a',
    ],
    ...[
      'git rebase -i HEAD~2',
      'git pull --strategy=evil',
      'git apply --unsafe-paths a',
      'git filter-branch --tree-filter rm HEAD',
    ],
    ...[
      'git checkout src/a.ts',
      'git checkout src',
      'git checkout main',
      'git checkout HEAD src/a',
      'git checkout -p',
      'git checkout - a',
    ],
    ...[
      'git clean -i',
      'git clean -id',
      'git clean --inter',
      'git remote show evil::x',
      'git fetch evil::x',
      'git push --repo=evil',
    ],
    ...['git init --separate-git-dir=x', 'git config --list --replace-all a b', 'git send-email --smtp-server=./evil x'],
    ...['git checkout .', 'git checkout -- .', 'git checkout -- a', 'git checkout main -- a', 'git checkout ./a'],
    ...['git checkout HEAD :/', "git checkout '*.ts'", 'git checkout --theirs a', 'git checkout --pathspec-from-file=l'],
    ...['git restore .', 'git restore a', 'git restore -SW a', 'git restore --staged --worktree a', 'git restore -s HEAD~1 a'],
    ...['git diff --no-index /etc/hostname a', 'git diff --no-ind a b', 'git diff /etc/hostname a', 'git diff ../../a b'],
    ...['git blame --contents=/etc/hostname a', 'git blame --cont f a', 'git blame -S f a', 'git grep --no-index x'],
    ...['git difftool -x rm', 'git difftool --extcmd=rm', 'git notes prune'],
  ])('does not cover %s', (line) => {
    expect(both(line)).toEqual(['ask', 'ask']);
  });

  it.each([
    ...[
      'git branch',
      'git branch --list',
      'git branch -a',
      'git branch new',
      'git tag v1',
      'git tag -l',
      'git stash',
      'git stash list',
    ],
    ...[
      'git stash pop',
      'git push origin main',
      'git push -q',
      'git fetch origin',
      'git merge main',
      'git reset HEAD~1',
      'git reflog',
    ],
    ...[
      'git checkout -b new main',
      'git switch main',
      'git rebase main',
      'git clean -n',
      'git rm a',
      'git log --oneline',
      'git diff --stat',
    ],
    ...[
      'git checkout -b feature/a.b',
      'git checkout -',
      'git restore --staged .',
      'git restore -S a',
      'git diff main..b -- src/a',
    ],
    ...['git diff HEAD~1 -- .', 'git blame -L 1,5 src/a', 'git grep -n /x -- src'],
  ])('covers %s', (line) => {
    expect(both(line)).toEqual(['allow', 'allow']);
  });

  // What is behind these verbs is known as well.
  it.each([
    ...['git remote show origin', 'git remote -v', 'git remote get-url origin', 'git config --get user.name'],
    ...['git config --list', 'git worktree list', 'git submodule status'],
  ])('covers %s', (line) => {
    expect(both(line)).toEqual(['allow', 'allow']);
  });

  it.each(['git bisect good', 'git notes show HEAD', 'git archive HEAD'])('covers %s when the rule names the verb', (line) => {
    expect(both(line)).toEqual(['allow', 'ask']);
  });

  it.each([
    ['git branch -D old', 'git branch -D *'],
    ['git stash drop 1', 'git stash drop *'],
    ['git checkout -- src/a', 'git checkout -- *'],
    ['git checkout .', 'git checkout .'],
    ['git checkout main', 'git checkout main'],
    ['git restore src/a', 'git restore src/a'],
    ['git diff --no-index a b', 'git diff --no-index *'],
    ['git push --force origin main', 'git push --force *'],
    ['git config core.pager less', 'git config core.pager less'],
    ['git remote set-url origin x', 'git remote set-url origin *'],
  ])('%s is allowed by %s, which has the word', (line, rule) => {
    expect(decideLine(line, [{ [rule]: 'allow' }], {})).toBe('allow');
  });
});
