/** What people and agents type all day: a star behind the program stands for all of it, so that nobody is asked. */
import { describe, expect, it } from 'vitest';
import { decideLine } from '../shell-rules.ts';

const LINES = String.raw`
  ls · ls -la · ls -lah src · ls -1 --color=never · ls -R src · ls -ltr · ls --group-directories-first -A · ls @types
  cat a.ts · cat -n src/a.ts · cat -A a · head -n 20 a · head -5 a · head -c 100 a · tail -n 50 log · tail -100 log
  tail -f log · wc -l a · wc -lw a b · sort -u a · sort -k2,2 -t , a · sort -rn a · uniq -c a · uniq -d a · nl -ba a
  cut -d , -f 1,2 a · cut -d: -f1 /etc/passwd · tr -d x · tr a-z A-Z · grep -rn needle src · grep -i -A 3 -B 2 x a
  grep -rnE 'a|b' --include='*.ts' src · grep -c x a · grep -v x a · grep -rl x . · grep -oP "a.c" f · grep -e a -e b f
  egrep -n "a|b" f · fgrep -w x f · rg x · rg -n x src · rg -i --type ts x · rg -g '*.ts' x · rg --files · rg -l x
  rg -C 3 x src · rg -tpy x · rg --hidden --no-ignore x · rg -U -e x · rg --json x · rg -uu x · rg @scope/pkg
  find . -name x · find . -type f -name '*.ts' · find src -maxdepth 2 -type d · find . -mtime -7
  find . -size +10M -print · find . -not -path './node_modules/*' -name x · find . -newer a -print0 · find . -empty
  find . -iname '*.md' -o -name x · fd x · fd -e ts · fd -H -t f x · fd --type d x · tree -L 2 · tree -a -I node_modules
  tree -d src · du -sh . · du -h --max-depth=1 · du -d 1 src · df -h · df -hT . · stat a · stat -c '%s' a · file a
  file -b --mime-type a · which node · which -a node · pwd · pwd -P · date · date +%F · date -u +%s
  date -d 'yesterday' +%F · echo -n x · printf '%s\n' x · diff a b · diff -u a b · diff -rq a b
  diff --color=never -U 5 a b · cmp -s a b · comm -12 a b · jq . a.json · jq -r '.a' a.json · jq -c '.a[]' a
  jq --arg a b '.x' f · jq -s . a b · yq . a.yaml · yq -o json a.yaml · yq -r '.a' a.yaml · ps · ps aux · ps -ef
  ps -o pid,cmd -p 1 · pgrep -fl node · lsof -i :3000 · free -h · uname -a · id -u · whoami · hostname · basename a/b
  dirname a/b · realpath a · readlink -f a · sha256sum a · sha256sum -c a · base64 -d a · od -c a · hexdump -C a · xxd a
  strings a · mkdir -p a/b · touch a · cp -r a b · cp -a a b · mv a b · ln -s a b · rm a · rm -f a · chmod +x a
  tar tzf a.tgz · tar -xzf a.tgz · tar czf a.tgz src · unzip -l a.zip · gzip -dc a.gz · test -f a · [ -d a ] · [ -z a ]
  seq 1 5 · sleep 1 · systemctl status x · journalctl -u x -n 50
  # git
  git status · git status -s · git status --short --branch · git status --porcelain · git status -uno · git diff
  git diff --stat · git diff --cached · git diff --staged --name-only · git diff HEAD~1 · git diff main...HEAD
  git diff -w · git diff --name-status main · git diff -U10 a · git diff --word-diff · git log · git log --oneline
  git log --oneline -n 5 · git log -5 · git log -p -1 · git log --graph --all --decorate · git log --since='2 days ago'
  git log --author=x · git log -S needle -- src · git log --format='%h %s' · git log --follow a · git log main..HEAD
  git log -L 1,5:a · git log @ · git show · git show HEAD · git show --stat HEAD · git show HEAD:src/a
  git show -s --format=%H · git blame a · git blame -L 1,10 a · git blame -w a · git grep -n x · git grep -i -l x
  git branch · git branch -a · git branch -vv · git branch --show-current · git branch --contains a
  git branch --merged · git branch new · git tag · git tag -l · git tag v1 · git tag -a v1 -m x · git stash
  git stash list · git stash show -p · git stash push -m x · git stash -u · git stash pop · git rev-parse HEAD
  git rev-parse --abbrev-ref HEAD · git rev-parse --show-toplevel · git ls-files · git ls-files -o --exclude-standard
  git ls-tree -r HEAD · git describe --tags --always · git shortlog -sn · git reflog · git reflog -5 · git remote -v
  git config user.name · git config --get user.name · git config -l · git add . · git add -A · git add -p a · git add -u
  git commit -m x · git commit -am x · git commit --amend --no-edit · git commit --allow-empty -m x · git push
  git push -u origin a · git push origin main · git push --tags · git pull · git pull --rebase · git pull --ff-only
  git fetch · git fetch --all --prune · git fetch -p · git merge --no-ff a · git merge --continue · git rebase main
  git rebase --continue · git cherry-pick --continue · git cherry-pick a · git cherry-pick -x a · git revert --no-edit a
  git switch a · git switch -c a · git checkout -b a · git restore --staged a · git reset · git reset --soft HEAD~1
  git reset HEAD a · git rm a · git rm --cached a · git mv a b · git clone https://example.org/a.git
  git clone git@example.org:a/b.git c · git fetch https://example.org/a.git main · git fetch git@example.org:a/b.git
  git clone --depth 1 https://example.org/a · git merge-base a b · git cat-file -p HEAD · git --no-pager log -3
  git --no-pager diff · git worktree list · git for-each-ref --sort=-committerdate · git --version
  # JavaScript
  npm test · npm t · npm run build · npm run test:unit · npm run lint --silent · npm test -- src/a.test.ts
  npm test -- --run · npm run test -- --coverage · npm test -w pkg · npm ls · npm ls --depth=0 · npm ls --all --json
  npm view react · npm view @types/node · npm view react version · npm outdated · npm why react · npm explain a
  npm --version · npm config get registry · npm audit · pnpm test · pnpm run build · pnpm -r test · pnpm --filter a test
  pnpm ls · yarn test · yarn run build · yarn why a · bun test · node a.js · node --test
  node --test test/a.js · node --check a.js · node --version · node -v · node --test --test-name-pattern=x
  node --max-old-space-size=4096 a.js · tsc · tsc --noEmit · tsc --noEmit -p tsconfig.json · tsc --noEmit --pretty false
  tsc --version · eslint . · eslint src --ext .ts · eslint --max-warnings=0 . · eslint --max-warnings 0 src
  eslint -f json . · eslint --quiet . · prettier --check . · prettier -c src · prettier -l . · prettier a.ts
  biome check · biome check src · biome lint --diagnostic-level=error · biome ci . · biome format src · jest
  jest src/a.test.ts · jest -t name · jest --coverage · jest --runInBand · jest -i --verbose · jest --testNamePattern=x
  jest --watchAll=false · jest --ci --silent · vitest run · vitest run src/a.test.ts -t name · vitest --run
  vitest run --reporter=verbose · vitest run --coverage · vitest --no-watch · mocha · mocha -g x · mocha --grep x test
  mocha --reporter dot · mocha -R spec · mocha --timeout 5000 · playwright test
  playwright test --project=chromium -g x · deno test · deno lint · stylelint src
  # Python
  pytest · pytest -q · pytest -x -v · pytest -vv tests · pytest -k name · pytest -xvs a.py::t · pytest -m slow
  pytest --lf · pytest --tb=short · pytest -n auto · pytest --maxfail=1 · pytest --cov=src
  pytest --cov --cov-report=term-missing · pytest -rA · pytest --co -q · pytest --durations=10
  pytest -p no:cacheprovider · pytest -W ignore · ruff check · ruff check . · ruff check --diff
  ruff check --select E,F src · ruff format --check . · ruff format --diff · mypy . · mypy --strict src · mypy -p pkg
  black --check . · black --check --diff src · black -q a.py · isort --check-only . · flake8 src · pylint src
  pylint -E src · pyright src · python -V · python3 --version · python3 a.py · python3 -u a.py · pip list
  pip list --outdated · pip show a · pip freeze · uv lock · uv tree · uv pip list · poetry show · poetry show --tree
  poetry check · tox · tox -e py312 · coverage report -m
  # other languages
  cargo build · cargo build --release · cargo test · cargo test name · cargo test -- --nocapture · cargo test -p a --lib
  cargo check --all-targets · cargo clippy --all-targets -- -D warnings · cargo fmt --check · cargo fmt --all -- --check
  cargo tree · cargo tree -i a · cargo doc --no-deps · cargo bench · cargo metadata --format-version 1 · cargo --version
  go build · go build ./... · go test ./... · go test -v -run Name ./pkg · go test -race -count=1 ./...
  go test -short -cover ./... · go test -bench=. ./a · go vet ./... · go list ./... · go list -m all · go list -json ./a
  go env GOPATH · go version · go mod graph · go doc fmt · gofmt -l . · make · make test · make -n · make -j4 all
  make -j 4 · make -k check · make -s build · make -B · mvn test · mvn -q test · mvn -B verify · mvn test -Dtest=A
  mvn -DskipTests package · gradle test · gradle build --info · gradle test --tests A · gradle build -x test
  gcc -Wall -O2 -c a.c · g++ -std=c++20 a.cc · cmake --build build · ctest --output-on-failure · ninja -v · rspec
  rspec -fd · rspec --format documentation · rubocop · rake test · rake -T · bundle list · php -l a.php
  phpunit --filter x · composer show · composer validate · dotnet build · dotnet test --no-build
  dotnet build -c Release · swift test · terraform validate
  # containers and hosts
  docker ps · docker ps -a · docker images · docker logs x · docker logs -f --tail 100 x · docker inspect x
  docker stats --no-stream · docker compose ps · docker compose logs -f web · docker image ls · docker network ls
  docker version · docker info · kubectl get pods · kubectl get pods -n a -o wide · kubectl get pods -A
  kubectl describe pod x · kubectl logs x · kubectl logs -f x -c y · kubectl top pod · kubectl config current-context
  kubectl rollout status deploy/x · gh pr list · gh pr view 1 · gh pr diff 1 · gh pr list --state open --json number
  gh issue list -L 5 · gh run list · gh run view 1 --log-failed · gh repo view · brew list · curl https://example.org
  curl localhost:3000/health · curl -s http://127.0.0.1:8080/x:y
  curl -s https://example.org · curl -sSfL https://example.org · curl -I https://example.org · dig example.org
`
  .split(/ · |\n/)
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'));

describe('a star behind a program is quiet about', () => {
  it('many lines, each once', () => {
    expect(LINES.length).toBeGreaterThan(150);
    expect(new Set(LINES).size).toBe(LINES.length);
  });
  it.each(LINES)('%s', (line) => {
    expect(decideLine(line, [{ [`${line.split(' ', 1)[0]} *`]: 'allow' }], {})).toBe('allow');
  });
  // The star behind a verb, as `Bash(npm run:*)` is read, is the same star.
  it.each(LINES.filter((line) => /^(?:git|npm|cargo|go|docker|kubectl|gh) [a-z]/.test(line)))('%s, behind the verb', (line) => {
    expect(decideLine(line, [{ [`${line.split(' ', 2).join(' ')} *`]: 'allow' }], {})).toBe('allow');
  });
  it.each([
    ['python3 -m pytest -x -q', 'python3 -m pytest *'],
    ['python -m mypy --strict src', 'python -m mypy *'],
    ['npm install lodash', 'npm install *'],
    ['npm install --save-dev @types/node', 'npm install *'],
    ['npm ci', 'npm ci*'],
    ['pip install -r requirements.txt', 'pip install *'],
    ['cargo fmt', 'cargo fmt*'],
    ['go mod tidy', 'go mod tidy*'],
    ['ruff format .', 'ruff format *'],
    ['helm list', 'helm *'],
    ['bun run build', 'bun run *'],
    ['ip addr show', 'ip *'],
    ['git branch --sort=-committerdate', 'git *'],
    ['ps aux --sort=-pcpu', 'ps *'],
    ['./check.sh src', './check.sh *'],
  ])('%s, with %s', (line, rule) => {
    expect(decideLine(line, [{ [rule]: 'allow' }], {})).toBe('allow');
  });
  it.each([
    'timeout 60 pytest -x -q',
    'nice -n 5 cargo test --release',
    'uv run pytest -x',
    'npx eslint --quiet .',
    'env CI=1 npm test',
  ])('%s, where both have a rule', (line) => {
    const rules = { 'timeout *': 'allow', 'nice *': 'allow', 'uv run *': 'allow', 'npx *': 'allow', 'env *': 'allow' } as const;
    const inner = { 'pytest *': 'allow', 'cargo *': 'allow', 'eslint *': 'allow', 'CI=1 npm test': 'allow' } as const;
    expect(decideLine(line, [{ ...rules, ...inner }], {})).toBe('allow');
  });
});
