/** Options that nobody has on a list of dangerous ones: a star stands only for those that are known to be harmless. */
import { describe, expect, it } from 'vitest';
import { decideLine } from '../shell-rules.ts';

const under = (line: string, rule: string): string => decideLine(line, [{ [rule]: 'allow' }], {});
const program = (line: string): string => line.split(' ', 1)[0] ?? '';

const LINES = `
  # files of options
  pytest @args · tsc @x · mypy @x · ruff check @x · rustc @x · javac @x · dotnet build @x · gcc @x · anything @x
  eslint @x · jest @x · cargo test @x · clang @x · java @x · ld @x · black @x · kotlinc @x · link @x · docker ps @x
  # other ways to give code, settings and hooks
  node --entry-url "data:text/javascript,x" · node --experimental-config-file=x a.js · node --openssl-config=x a.js
  node --snapshot-blob x a.js · node --run x · node --redirect-warnings=x a.js · node --heap-prof a.js
  node --cpu-prof a.js · node --trace-event-file-pattern=x a.js · node --diagnostic-dir=x a.js
  node --build-snapshot a.js · node --test-reporter=./x a.js · node --env-file-if-exists=x a.js
  node --experimental-sea-config x · node --icu-data-dir=x a.js · node --inspect=0.0.0.0 a.js
  node --test-global-setup=./x · node --experimental-default-type=module a · node --report-dir=x a.js · node a.js --flag
  mocha -R ./x · mocha -n require=./x · mocha -O output=x · mocha --reporter ./x · mocha --reporter=./x · mocha -C
  mocha -bR ./x · pytest --tx=popen//python=id · pytest --dist=evil · pytest -o addopts=x · pytest --log-file=x
  pytest -W error::evil.X · pytest -p evil · pytest -pevil · pytest --rsyncdir=x · pytest --cov-config=x
  pytest --cov-report=html:src · pytest --ds=evil · pytest --trace-config · pytest --confcutdir=/ · pytest -qp evil
  pytest --junit-prefix=x · pytest --pdb · pytest -k --junitxml=x · vitest --typecheck.checker=id
  vitest --snapshotEnvironment ./x · vitest --diff ./x · vitest --workspace x · vitest -r /x
  vitest --browser.provider=x · vitest --pool=./x · vitest --environment=./x · vitest --poolRunner=x · vitest --api
  vitest -u · vitest --coverage.provider=custom · vitest --configLoader=runner · vitest -t x --globalSetup=./x
  vitest -t --globalSetup=./x · jest --reporters default ./x · jest --coverageReporters text ./x · jest --env=./x
  jest --testRunner ./x · jest --config {} · jest -t --globalSetup=./x · jest --filter=./x · jest --injectGlobals ./x
  jest -iu · jest --clearCache · jest -c x · rustc -C linker=id a.rs · rustc -o x y · rustc --emit=link=x a
  javac -J-javaagent:x A · javac -processor x A · javac -d x A · helm template x --post-renderer id
  helm list --kubeconfig x · just --chooser id · just --shell id x · just X=1 build · tox -x testenv.commands=id
  tox exec -- id · tox -c x · tox --workdir=x · tox devenv x · nox -f x · nox -P 3.9 · dotnet build -p:CscToolExe=id
  dotnet build -logger:x.dll · dotnet build /p:CscToolExe=id · dotnet build -flp:logfile=x · dotnet build -fl
  dotnet test --settings x · dotnet test -l x · dotnet msbuild x · dotnet build -property:X=y · phpunit --prepend x
  phpunit -d x=y · phpunit --printer x · rspec -f ./X · rspec -fX · rspec --format X · rspec -I x · ctags --options=x
  deno test -A · deno test --allow-run · deno test --reload · composer exec id · composer -d x show · ip netns exec x id
  ip -b x · ip -batch x · coverage html -d x · coverage report --rcfile=x · poetry export -o x · unzip -o x -d /
  unzip -d x a.zip · zip -T a b · zip a b -TT id · tar xf a -C / · tar xf evil:a · tar --file=evil:a -x · tar xUf a
  # short forms, joined letters, other spellings
  ls --evil · ls -y · cat --evil a · sort -no x y · sort --outp=x y · grep --evil x · rg --pre=id x · rg -z x
  rg --hostname-bin id x · find . -fprint x · find . -fls x · find . -okdir id · find . --delete · find -files0-from x
  fd -Hx id · fd -X id · fd --exec=id · tree -o x · tree -Ro x · date -s x · date 010100002030 · hostname evil
  hostname -F x · file -C -m x · du --files0-from=x · jq -f x a · jq -L x . a · yq -i .a a · yq -s .a a · sed -n p a
  sed -ni p a · awk -f x a · awk -i inplace x a · diff -l a b · ps --evil · printf -v x y · test -v x · rm -r a
  rm -rf a · chmod -R 777 a · cp --backup=x a b · mkdir -Z x · split --filter=id a · git log --output=x
  git show --ext-diff · git log --no-ext-dif · git diff -O x · git branch -dr a · git tag -as x · git tag -v x
  git commit -n -m x · git commit --no-verify -m x · git commit -S -m x · git commit -t x · git commit -c HEAD
  git add -i · git add -e · git push --force-with-lease · git push -uf origin a · git push --push-option=x
  git push --receive-pack=id · git fetch --refmap=x · git clone -c x=y a · git clone -u id a · git clone --template=x a
  git clone --recurse-submodules a · git clone --config x=y a · git rebase --exec id · git rebase -ix id
  git rebase -s evil · git merge --strategy=evil a · git pull -s evil · git stash -q drop · git worktree add x
  git submodule update · git config set a b · git config edit · git config -f x a · git config a b · git --help log x
  git log --help -O · git ls-remote -u id · git symbolic-ref HEAD x · git restore -Wq a · git -p log · git --bare log
  git maintenance start · npm test --ignore-workspace · npm -g ls · npm test --globalconfig=x
  npm ls --registry=http://evil · npm test -- --globalSetup=./x · npm run build -- --config x · npm version major
  npm audit fix · npm config set x y · npm pkg set x=y · npm publish · npm init x · pnpm -C x test · pnpm --dir x test
  yarn --cwd x test · yarn exec id · yarn plugin import x · bun -e x · bun --preload x test · tsc -b · tsc -p /tmp/evil
  tsc --outDir src · tsc --init · tsc -d · tsc --generateTrace x · tsc --tsBuildInfoFile x · tsc -pevil
  eslint -f ./x . · eslint --format=./x . · eslint --parser x . · eslint -o x . · eslint --plugin x .
  eslint --cache-location x . · prettier --plugin=x . · prettier --parser=./x . · prettier --config x . · prettier -cw .
  biome check --write · biome check --config-path=x · biome migrate · ruff check --fix · ruff check --config x
  ruff clean · ruff format · mypy --config-file x · mypy --install-types · black --config x . · pylint -f evil.X a
  pylint --load-plugins=x a · pyright --pythonpath=x · pip install x · pip download x · pip --python x list
  pip list --index-url=x · uv run x · uv --project x tree · python3 -c x · python3 -m http.server · python3 -i a.py
  python3 -W error::x.Y a.py · python3 -X pycache_prefix=x a.py · python3 a.py --flag · python3 -xc a · cargo run
  cargo install x · cargo test --target x.json · cargo build --config x · cargo build -Zunstable
  cargo test --manifest-path x · cargo fmt · cargo clippy --fix · cargo doc --open · cargo +evil build
  cargo test -- --logfile x · go test -exec id ./... · go test -o x · go build -o x · go test -args -x · go env -w A=b
  go test -cpuprofile=x · go build -toolexec=id · go test -c · go build --o x · go mod edit x · make -f x · make -C x
  make --eval=x · make -e · make CC=id · make -j4 SHELL=id · make --file=x · mvn -f x test
  mvn -Dexec.executable=id test · mvn -s x test · gradle -I x test · gradle -Dx=y test · gradle --scan build
  gradle -Px=y test · gradle -qI x · gcc -o x a.c · gcc -wrapper id a.c · cmake -P x · cmake -E rm x
  cmake -DCMAKE_C_COMPILER=id . · ctest -S x · ninja -t clean · rake X=1 test · rake -r ./x · bundle exec x · ruby -e x
  ruby -r./x a.rb · perl -e x · perl -i a.pl · php -r x · php -d x=y a.php · php -S :80 · docker run x id
  docker exec x id · docker -H x ps · docker compose -f x ps · docker compose up · docker build . · docker --config x ps
  kubectl exec x -- id · kubectl get -f x · kubectl --context=x get pods · kubectl apply x
  kubectl get pods --kubeconfig=x · gh api x · gh pr view -w · gh pr merge 1 · gh alias set x y · curl -o x https://a
  curl -d @x https://a · curl --json x https://a · curl -sO https://a · wget -O x https://a · ssh h id · rsync -e id a b
  rsync --delete a b · openssl req -new · ssh-keygen -f x · terraform apply · terraform plan -out=x · swift run x
  systemctl stop x
  # what a value becomes, and words that are more than words
  jest --changedSince=--output=x · vitest --changed=--output=x · biome check --since=--output=x · jest -w=--output=x
  git for-each-ref '--format=%(signature)' · git branch --format='%(signature)' · bun run id · gh pr list -w · ip a a x
  ip link set x down · ip addr del x · cmake --build /tmp/evil · cmake -B/tmp/evil · kubectl get secrets · kubectl get pods,secret
  kubectl get secret/x -o yaml · kubectl describe secret x · kubectl get pods -o go-template-file=/etc/passwd · brew info ./x.rb
  kubectl get pods -o=jsonpath-file=x · playwright test --reporter=html · cargo metadata --filter-platform=x.json
  pnpm --omit dlx view x · yarn --depth exec view · pnpm --loglevel exec test · rake -j X=1 · dotnet -c exec build
  # what takes back, leaves out or forgets what is under way: a conflict that was resolved by hand is nowhere else
  git merge --abort · git merge --quit · git rebase --abort · git rebase --skip · git rebase --quit · git cherry-pick --abort
  git cherry-pick --skip · git cherry-pick --quit · git revert --abort · git revert --skip · git revert --quit
  git rebase -q --abort · git rebase --continue --abort · git am --abort · git am --skip · git am --quit · git am x.patch
  git bisect reset · git bisect start · git worktree remove x · git worktree prune · git worktree move x y
  git stash pop --abort · git fetch --prune-tags · git fetch -pP · git fetch --force · git notes merge --abort
  git rerere forget x · git rerere clear · git sparse-checkout set x · git checkout-index -af · git read-tree -u --reset HEAD
  git update-ref -d refs/heads/x · git gc --prune=now · git prune · git filter-branch x · git replace -d x · git remote prune origin
  git remote remove origin · git submodule deinit --all · git submodule update --force · git reset --keep a · git reset --merge
  git switch -C a · git switch --discard-changes a · git switch -m a · git checkout -B a · git checkout --force a
  git checkout --ours a · git checkout --merge a · git restore --ours a · git branch -M a b · git branch -f a b · git tag -f a
  git add --edit · git rm -f a · git clean -fdx · git commit-graph write
  git fetch --prune . 'refs/x/*:refs/heads/*' · git fetch -p origin main:main · git fetch origin '*' · git pull origin a:b
  git clone https://x/y /etc/git · git clone https://x/y ../z · git clone https://x/y .git/hooks · git clone x ~/y
  git init /tmp/x · git init .git/x · curl file:///etc/passwd · curl file:/etc/passwd · curl 'fil[e-e]:///etc/x'
  curl gopher://localhost:6379/_x · curl -s telnet://x · curl '{file,http}:///x' · wget file:///x · curl smb://x/y
  anything /p:X=y · anything !id · anything '|id'
  # what loses work, reaches out or asks a program who signed
  git push --delete origin a · git push -d origin a · git push --mirror · git push --no-verify · git fetch -f origin a:b
  git fetch origin +a:b · git fetch --force origin a:b · git pull origin +a:b · git pull --force · git switch -C main
  git switch -f a · git checkout -b x -f · git checkout --detach -f · git checkout --orphan x --force · git mv -f a b
  git reflog delete x · git reflog expire --all · git diff --no-index a b · git diff src/../../x y · git diff /etc/passwd x
  git log --format=%GS · git show --pretty=%GK · git grep --no-index x · git restore -SW a · git apply --unsafe-paths x
  node a.js --watch · node a.js --test · gfind . -exec id +
  # programs that nobody knows
  helm list -A · anything --help · anything -v · anything --x=y · anything X=y · anything +x · anything exec id
  anything run id · anything a -b · ./tool --flag · anything x id · anything eval id · anything a.b:=c · anything -- -x
  anything shell id
`
  .split(/ · |\n/)
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('a star behind a program does not stand for', () => {
  it('many lines, each once', () => {
    expect(LINES.length).toBeGreaterThan(300);
    expect(new Set(LINES).size).toBe(LINES.length);
  });
  it.each(['sh', 'bash', 'dash', 'python3', 'node', 'perl', 'ruby'])('what %s reads by the name of its input', (name) => {
    for (const input of ['/dev/stdin', '/dev/fd/0', '/proc/self/fd/0', './../../../dev/stdin', '/dev/./stdin']) {
      expect(decideLine(`echo x | ${name} ${input}`, [{ '*': 'allow', 'rm *': 'deny' }], {}), input).toBe('ask');
      expect(under(`${name} ${input}`, `${name} **`), input).toBe('ask');
    }
  });
  it.each(["printf 'x' | make -f -", 'cat x | awk -f -', 'cat x | sed -f -', 'cat x | make --file=-', 'cat x | ssh h'])(
    'what comes in by %s',
    (line) => {
      expect(decideLine(line, [{ '*': 'allow', 'rm *': 'deny' }], {})).toBe('ask');
    },
  );
  it('a file that is called - is one of those that awk and sed read', () => {
    for (const line of ["cat x | awk '{ print }' -", 'cat x | sed -n 5p -', 'cat x | jq . -'])
      expect(decideLine(line, [{ '*': 'allow', 'rm *': 'deny' }], {}), line).toBe('allow');
  });
  it.each(['cat x | deno run -', 'cat x | bun run -', 'cat x | tsx', 'cat x | ipython', 'cat x | pypy3', 'cat x | yash'])(
    'what %s reads',
    (line) => {
      expect(decideLine(line, [{ '*': 'allow', 'rm *': 'deny' }], {})).toBe('ask');
    },
  );
  it.each([
    ['git -C sub config core.fsmonitor id', 'git -C sub*'],
    ['git -C sub stash clear', 'git -C sub*'],
    ['git -C sub checkout .', 'git -C sub *'],
    ['kubectl --context dev delete pod x', 'kubectl --context dev *'],
    ['docker --context dev rm x', 'docker --context dev*'],
    ['docker compose -f x down', 'docker compose -f x*'],
    ['cargo +nightly install evil', 'cargo +nightly*'],
    ['go -C sub generate', 'go -C sub *'],
    ['npm --prefix sub publish', 'npm --prefix sub *'],
    ['gh -R a/b pr merge 1', 'gh -R a/b *'],
    ['uv --directory sub add evil', 'uv --directory sub *'],
  ])('a verb behind an option in front of it: %s under %s', (line, rule) => {
    expect(under(line, rule)).toBe('ask');
  });
  it('what ends a search for a commit, also where the rule names it', () => {
    expect([under('git bisect reset', 'git bisect *'), under('git bisect good', 'git bisect *')]).toEqual(['ask', 'allow']);
  });
  it.each(LINES)('%s', (line) => {
    expect(under(line, `${program(line)} *`)).toBe('ask');
    expect(under(line, `${program(line)}*`)).toBe('ask');
  });
});

describe('an option that is not known', () => {
  it.each([
    ['helm list -A', 'helm list -A'],
    ['helm list -A', 'helm list -A*'],
    ['helm list -A x', 'helm list -A*'],
    ['helm list -n prod', 'helm list -n *'],
    ['helm list -o=json', 'helm list -o=*'],
    ['anything run id', 'anything run *'],
    ['pytest --junitxml=x a', 'pytest --junitxml=* *'],
  ])('is covered where it is written out: %s under %s', (line, rule) => {
    expect(under(line, rule)).toBe('allow');
  });
  it.each([
    ['helm list -AB', 'helm list -A*'],
    ['helm list -A --post-renderer id', 'helm list -A*'],
    ['helm list --all-namespaces', 'helm list --all*'],
    ['helm list -n -B', 'helm list -n *'],
  ])('is not covered by a part of its name or by what stands before it: %s under %s', (line, rule) => {
    expect(under(line, rule)).toBe('ask');
  });
});

describe('two stars', () => {
  it.each([
    ['helm list -A --post-renderer id', 'helm **'],
    ['helm', 'helm **'],
    ['pytest @args -p evil', 'pytest **'],
    ['npm test -- --globalSetup=./x', 'npm test **'],
    ['npm test -- -x', 'npm test**'],
    ['git push --force origin +main', 'git push **'],
    ['make CC=id', 'make **'],
    ['node -e x', 'node **'],
    ['rm -rf x', 'rm **'],
    ['find . -delete', 'find **'],
  ])('stand for whatever follows: %s under %s', (line, rule) => {
    expect(under(line, rule)).toBe('allow');
  });
  it.each([
    ['helm list; id', 'helm **'],
    ['helm list > x', 'helm **'],
    ['helm $X', 'helm **'],
    ['helm $(id)', 'helm **'],
    ['X=1 helm list', 'helm **'],
    ['./helm list', 'helm **'],
    ['helm <(id)', 'helm **'],
    ['helm -x list -A', 'helm * list **'],
    ['git -c a=b log', 'git **'],
    ['find . -exec id \\;', 'find **'],
    ['env id', 'env **'],
    ['eval id', 'eval **'],
    ['node', 'node **'],
    ["sh -c 'id'", 'sh **'],
    ['cat src/a -x', 'cat src/**'],
  ])('are about this one command, and what can be seen of it: %s under %s', (line, rule) => {
    expect(under(line, rule)).toBe('ask');
  });
  it('give way to what is narrower, and to a deny', () => {
    expect(decideLine('git push -f', [{ 'git **': 'allow', 'git push*': 'ask' }], {})).toBe('ask');
    expect(decideLine('git push -f', [{ 'git **': 'allow', '* -f': 'deny' }], {})).toBe('deny');
    expect(decideLine('git log -x', [{ 'git **': 'allow', 'git *': 'deny' }], {})).toBe('deny');
    expect(decideLine('git log --x', [{ 'git **': 'allow', '*': 'deny' }], {})).toBe('allow');
    expect(decideLine('git log', [{ 'git **': 'deny', '*': 'allow' }], {})).toBe('deny');
  });
});
