/** What Python is checked, tested and installed with. */
import { type KnownProgram, programs, verbs } from './known.ts';

/** The program is a file; `-c`, `-m` and `-i` are something else. A class of warnings is loaded from the module that it names. */
export const PYTHON: KnownProgram = {
  script: true,
  options: '-BEIOPqsSuvVbh -W= -X=dev,utf8,importtime,faulthandler,tracemalloc,no_debug_ranges --version --help',
  never: /^(?:-\w*W)?[a-z]*:[^:]*:\w+\./,
};

const PYTEST: KnownProgram = {
  options:
    '-vqxslhV -kmrn= --lf --last-failed --ff --failed-first --nf --new-first --sw --stepwise --sw-skip --stepwise-skip --co --collect-only ' +
    '--no-header --no-summary --disable-warnings --disable-pytest-warnings --strict-markers --strict-config --strict --pyargs ' +
    '--exitfirst --verbose --quiet --showlocals --no-showlocals --fixtures --markers --fixtures-per-test --setup-show --setup-only ' +
    '--setup-plan --cache-show=? --cache-clear --full-trace --runxfail --numprocesses= --maxfail= --durations= --durations-min= --tb= ' +
    '--color= --capture= --verbosity= --ignore= --ignore-glob= --deselect= --import-mode= --show-capture= --timeout= --reruns= ' +
    '--reruns-delay= --randomly-seed= --asyncio-mode= --dist=load,loadscope,loadfile,loadgroup,worksteal,no,each --no-cov --cov=? ' +
    '--cov-branch --cov-fail-under= --no-cov-on-fail --cov-append --cov-report=term,term-missing,term-missing:skip-covered ' +
    '--doctest-modules --last-failed-no-failures= --lfnf= --code-highlight= -W=error,ignore,default,once,always ' +
    '-p=no:cacheprovider,no:warnings,no:randomly,no:xdist,no:cov --version --help',
};

const MYPY: KnownProgram = {
  options:
    '-vV -mp= --strict --ignore-missing-imports --no-error-summary --show-error-codes --hide-error-codes --pretty --no-pretty ' +
    '--no-incremental --follow-imports= --python-version= --platform= --exclude= --explicit-package-bases --namespace-packages ' +
    '--check-untyped-defs --disallow-untyped-defs --disallow-any-generics --disallow-incomplete-defs --warn-unused-ignores ' +
    '--warn-return-any --warn-unreachable --warn-redundant-casts --no-warn-unused-ignores --show-column-numbers --show-error-context ' +
    '--hide-error-context --show-absolute-path --no-color-output --disable-error-code= --enable-error-code= --allow-redefinition ' +
    '--implicit-optional --no-implicit-optional --no-implicit-reexport --strict-optional --skip-cache-mtime-checks --package= --module= ' +
    '--no-site-packages --allow-untyped-globals --version --help',
};

const RUFF_CHECK =
  '-qvsen --quiet --verbose --silent --diff --select= --ignore= --extend-select= --extend-ignore= --no-cache --exit-zero ' +
  '--output-format= --statistics --show-files --show-settings --target-version= --exclude= --extend-exclude= --preview --no-preview ' +
  '--no-fix --isolated --respect-gitignore --force-exclude --line-length= --per-file-ignores= --exit-non-zero-on-fix --stdin-filename=';
const RUFF: KnownProgram = {
  options: '-qv --quiet --verbose --version --help',
  verbs: {
    check: { options: RUFF_CHECK },
    format: {
      named: /(?:^| )--(?:check|diff)(?: |$)/,
      options: '--check --diff --no-cache --exclude= --line-length= --target-version= --preview --isolated --stdin-filename=',
    },
    ...verbs('rule linter config version', { options: '--all --output-format=' }),
  },
};
const BLACK: KnownProgram = {
  options:
    '-CqSv -ltW= --check --diff --line-length= --target-version= --skip-string-normalization --skip-magic-trailing-comma --fast --safe ' +
    '--color --no-color --exclude= --include= --extend-exclude= --force-exclude= --preview --workers= --quiet --verbose --version --help',
};
const ISORT: KnownProgram = {
  options:
    '-cqv -lp= --check --check-only --diff --profile= --line-length= --quiet --verbose --color --skip= --skip-glob= --version --help',
};
const FLAKE8: KnownProgram = {
  options:
    '-qv -j= --max-line-length= --select= --ignore= --extend-ignore= --extend-select= --exclude= --extend-exclude= --count --statistics ' +
    '--show-source --max-complexity= --jobs= --format=default,pylint,quiet-filename --per-file-ignores= --quiet --verbose --version --help',
};
const PYLINT_FORMATS = 'text,json,json2,colorized,parseable,msvs,github';
const PYLINT: KnownProgram = {
  options:
    `-E -dejr= -f=${PYLINT_FORMATS} --output-format=${PYLINT_FORMATS} --disable= --enable= --errors-only --reports= --score= --jobs= ` +
    '--fail-under= --fail-on= --max-line-length= --ignore= --ignore-patterns= --recursive= --version --help',
};
const PYRIGHT: KnownProgram = {
  options:
    '--outputjson --stats --verbose --warnings --level= --pythonversion= --pythonplatform= --skipunannotated --dependencies --version --help',
};
const REQUIREMENTS = 'requirements.txt,requirements-dev.txt,requirements_dev.txt,dev-requirements.txt,test-requirements.txt';
const PIP: KnownProgram = {
  options: '-qvhV --quiet --verbose --disable-pip-version-check --no-color --no-input --version --help',
  verbs: {
    ...verbs('list freeze', {
      options: '-eluo --outdated --uptodate --format= --not-required --user --local --exclude= --all --editable',
    }),
    show: { options: '-f --files' },
    ...verbs('check help debug', {}),
    install: {
      named: true,
      options:
        `-U -r=${REQUIREMENTS} --requirement=${REQUIREMENTS} -e=. --editable=. --upgrade --no-deps --pre --no-cache-dir ` +
        '--dry-run --no-build-isolation',
    },
    uninstall: { named: true, options: '-y --yes' },
  },
};
const UV: KnownProgram = {
  options: '-qvV --quiet --verbose --offline --no-progress --color= --version --help',
  verbs: {
    lock: { options: '--check --locked --dry-run' },
    tree: { options: '--depth= --outdated --invert --no-dev --package=' },
    version: { options: '--short' },
    python: { verbs: verbs('list dir find', {}) },
    pip: { verbs: verbs('list show freeze check tree', { options: '--outdated --format=' }) },
    sync: { named: true, options: '--frozen --locked --all-extras --all-groups --no-dev --dev --extra= --group= --check' },
    add: { named: true, options: '--dev --group= --extra=' },
    ...verbs('remove run tool', { named: true }),
  },
};
const POETRY: KnownProgram = {
  options: '-nqvV --no-interaction --quiet --verbose --no-ansi --ansi --version --help',
  verbs: {
    show: { options: '-tlo --tree --latest --outdated --all --top-level --with= --without= --only=' },
    check: { options: '--lock --strict' },
    lock: { options: '--check --no-update --regenerate' },
    env: { verbs: verbs('info list', { options: '-p --path --full-path' }) },
    ...verbs('about search', {}),
    version: { options: '-s --short', writesFrom: 0 },
    install: { named: true, options: '--no-root --sync --with= --without= --only= --all-extras --no-dev' },
    ...verbs('add remove run', { named: true }),
  },
};

export const PYTHON_PROGRAMS: readonly (readonly [string, KnownProgram])[] = [
  ...programs('pytest py.test', PYTEST),
  ['mypy', MYPY],
  ['ruff', RUFF],
  ['black', BLACK],
  ['isort', ISORT],
  ['flake8', FLAKE8],
  ['pylint', PYLINT],
  ['pyright', PYRIGHT],
  ...programs('pip pip3', PIP),
  ['uv', UV],
  ['poetry', POETRY],
  ['pipx', { options: '--version', verbs: verbs('list environment', { options: '--short --json' }) }],
  [
    'tox',
    {
      options: '-lqv -e= -p=? --listenvs --skip-missing-interpreters=? --notest --no-color --version --help',
      words: /^(?:exec|e|devenv|d|quickstart|q|legacy|le)$/,
    },
  ],
  ['nox', { options: '-lrR -set= --list --sessions= --reuse-existing-virtualenvs --no-color --version --help' }],
  [
    'coverage',
    {
      options: '--version --help',
      verbs: {
        report: {
          options:
            '-im --show-missing --skip-covered --skip-empty --fail-under= --include= --omit= --sort= --precision= --format=text,markdown,total',
        },
        ...verbs('html xml json lcov combine', {}),
        ...verbs('run erase', { named: true }),
      },
    },
  ],
];
