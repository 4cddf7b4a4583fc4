/** Node.js, package managers, and what JavaScript is built, checked and tested with. */
import { type KnownProgram, plain, programs, verbs } from './known.ts';

/** What runs of tests are told behind the name of a script, whichever program the script calls. */
const SCRIPT: KnownProgram = {
  passesOn: 'at once',
  options:
    '--run --watch=? --watchAll=? --no-watch --coverage --verbose --silent --quiet --bail=? --ci --runInBand --passWithNoTests ' +
    '--testNamePattern= --test-name-pattern= --grep= -t= --reporter=default,verbose,dot,spec,json,tap,list,min --check --no-color --noEmit',
};
const MANAGER_OPTIONS =
  '--silent --quiet --if-present --json --long --parseable --all --prod --production --dev ' +
  '--color=? --no-color --progress=? --no-progress --offline --prefer-offline --no-audit --no-fund --ignore-scripts --version --help';
/** In front of the verb only npm takes the next word for a value of these. */
const MANAGER_VALUES = '--loglevel= --depth= --omit= --include=';
const INSTALLS: KnownProgram = {
  named: true,
  options:
    '--omit= --include= -DEPO --save --save-dev --save-exact --save-optional --save-peer --save-prod --no-save --legacy-peer-deps --frozen-lockfile ' +
    '--no-frozen-lockfile --immutable --package-lock-only --no-package-lock --dry-run --exact --optional --peer',
};
const SCRIPT_NAMES = 'test t tst run run-script';
const SCRIPTS = verbs(SCRIPT_NAMES, { ...SCRIPT, options: `${SCRIPT.options} --filter=` });
const LOOKS: Readonly<Record<string, KnownProgram>> = {
  ...verbs('ls list ll la view info show outdated why explain search ping whoami help root bin', { options: MANAGER_VALUES }),
  audit: { options: `${MANAGER_VALUES} --audit-level= --level=`, words: /^fix$/ },
  config: { verbs: verbs('get list ls', {}) },
  ...verbs('install i ci add uninstall remove update up upgrade dedupe', INSTALLS),
  ...verbs('start stop restart build lint', { ...SCRIPT, named: true }),
};
const NPM = plain(`-adlpqsS -w= --workspace= --workspaces --include-workspace-root ${MANAGER_VALUES} ${MANAGER_OPTIONS}`, {
  verbs: {
    ...verbs(SCRIPT_NAMES, { ...SCRIPT, passesOn: 'behind --' }),
    ...LOOKS,
    query: {},
    fund: {},
    pack: { named: /(?:^| )--dry-run(?: |$)/, options: '--dry-run' },
  },
});
const PNPM = plain(
  `-rs -F= --recursive --filter= --reporter=default,silent,append-only,ndjson --stream --parallel ${MANAGER_OPTIONS}`,
  {
    verbs: { ...SCRIPTS, ...LOOKS, licenses: {} },
  },
);
const YARN = plain(`-s ${MANAGER_OPTIONS}`, { verbs: { ...SCRIPTS, ...LOOKS, versions: {}, licenses: {} } });
const BUN = plain('--silent --version --revision --if-present --no-color', {
  verbs: {
    ...verbs('test t', {
      options: '-t= --test-name-pattern= --bail=? --timeout= --coverage --rerun-each= --only --todo --concurrent',
    }),
    // It runs any program of that name where there is no such script.
    run: { ...SCRIPT, named: true },
    pm: { verbs: verbs('ls bin hash', { options: '--all' }) },
    ...verbs('outdated why', {}),
    ...verbs('install i add remove update', INSTALLS),
  },
});

/** Without what is loaded or written: `--require`, `--import`, `--loader`, `--env-file`, profiles, snapshots, another entry. */
const NODE: KnownProgram = {
  script: true,
  options:
    '-chv --test --check --watch --test-only --test-force-exit --test-name-pattern= --test-skip-pattern= --test-concurrency= --test-timeout= ' +
    '--test-shard= --test-reporter=spec,tap,dot,junit,lcov --experimental-test-coverage --experimental-strip-types ' +
    '--experimental-transform-types --no-warnings --trace-warnings --trace-uncaught --trace-deprecation --throw-deprecation ' +
    '--no-deprecation --pending-deprecation --unhandled-rejections=strict,warn,none,throw,warn-with-error-codes --enable-source-maps ' +
    '--max-old-space-size=? --stack-trace-limit=? --stack-size=? --expose-gc --preserve-symlinks --version --help',
};

const TSC: KnownProgram = {
  options:
    '-hv -mt= --noEmit --noCheck --pretty=? --strict --skipLibCheck --listFiles --listFilesOnly --explainFiles --showConfig ' +
    '--traceResolution --diagnostics --extendedDiagnostics --target= --module= --moduleResolution= --jsx= --esModuleInterop --allowJs ' +
    '--checkJs --lib= --noErrorTruncation --noUnusedLocals --noUnusedParameters --noImplicitAny --isolatedModules --resolveJsonModule ' +
    '--types= --strictNullChecks --allowImportingTsExtensions --preserveWatchOutput --verbatimModuleSyntax --erasableSyntaxOnly ' +
    '--version --help --all -p=.,tsconfig.json,./tsconfig.json,tsconfig.build.json,tsconfig.app.json,tsconfig.node.json,tsconfig.test.json ' +
    '--project=.,tsconfig.json,./tsconfig.json,tsconfig.build.json,tsconfig.app.json,tsconfig.node.json,tsconfig.test.json',
};

/** A formatter of another name is loaded. */
const FORMATS = 'stylish,json,json-with-metadata,compact,unix,html,string,verbose,tap';
const ESLINT: KnownProgram = {
  options:
    `-f=${FORMATS} --format=${FORMATS} --quiet --max-warnings= --ext= --no-color --color --cache --no-cache --ignore-pattern= --no-ignore ` +
    '--report-unused-disable-directives --no-error-on-unmatched-pattern --pass-on-no-patterns --debug --print-config= ' +
    '--no-inline-config --stats --rule= --env= --global= --no-warn-ignored --exit-on-fatal-error --version --help',
};
const STYLELINT: KnownProgram = {
  options:
    `-q -f=${FORMATS} --formatter=${FORMATS} --quiet --max-warnings= --color --no-color --allow-empty-input ` +
    '--ignore-pattern= --version --help',
};
const PARSERS = 'babel,babel-ts,typescript,flow,espree,json,json5,jsonc,markdown,mdx,yaml,css,scss,less,html,vue,angular,graphql';
const PRETTIER: KnownProgram = {
  options:
    `-clu --check --list-different --ignore-unknown --no-color --color --log-level= --loglevel= --no-config --no-editorconfig ` +
    `--parser=${PARSERS} --stdin-filepath= --tab-width= --print-width= --no-semi --single-quote --trailing-comma= --end-of-line= ` +
    '--prose-wrap= --use-tabs --no-bracket-spacing --no-error-on-unmatched-pattern --cache --file-info= --support-info --version --help',
};
const BIOME: KnownProgram = {
  options:
    '--diagnostic-level= --max-diagnostics= --no-errors-on-unmatched --error-on-warnings --colors= --files-ignore-unknown=? --verbose ' +
    '--reporter=default,json,json-pretty,github,junit,summary,gitlab --changed --staged --since= --skip-errors --only= --skip= ' +
    '--formatter-enabled= --linter-enabled= --assist-enabled= --organize-imports-enabled= --stdin-file-path= --version --help',
  verbs: verbs('check lint ci format explain version rage', {}),
};

const VITEST_REPORTERS = 'default,verbose,dot,json,basic,tap,tap-flat,hanging-process,github-actions,tree,minimal';
const VITEST: KnownProgram = {
  options:
    `-hv -t= --testNamePattern= --run --watch=false --no-watch --coverage --no-coverage --coverage.enabled=? --reporter=${VITEST_REPORTERS} ` +
    '--bail=? --maxWorkers= --minWorkers= --no-file-parallelism --fileParallelism=? --isolate=? --no-isolate --silent=? --passWithNoTests ' +
    '--allowOnly --retry= --testTimeout= --hookTimeout= --teardownTimeout= --logHeapUsage --hideSkippedTests --color --no-color ' +
    '--changed=? --shard= --project= --expandSnapshotDiff --globals --typecheck --typecheck.only --typecheck.enabled=? ' +
    '--sequence.shuffle=? --sequence.seed= --printConsoleTrace --disableConsoleIntercept --dom --pool=threads,forks,vmThreads,vmForks ' +
    '--exclude= --no-threads --slowTestThreshold= --maxConcurrency= --environment=node,jsdom,happy-dom,edge-runtime --version --help',
};
/** Without options that take several values: the words behind them could be files that are loaded. */
const JEST: KnownProgram = {
  options:
    '-befhiov -tw= --testNamePattern= --testPathPattern= --testPathPatterns= --runInBand --coverage=? --collectCoverage=? --no-coverage ' +
    '--ci=? --bail=? --verbose=? --silent=? --watchAll=false --watch=false --maxWorkers= --onlyChanged --onlyFailures --lastCommit ' +
    '--changedSince= --passWithNoTests --detectOpenHandles --forceExit --listTests --showConfig --noStackTrace --cache=? --no-cache ' +
    '--json --color --colors --no-color --no-colors --errorOnDeprecated --logHeapUsage --testTimeout= --shard= --findRelatedTests ' +
    '--runTestsByPath --expand --testLocationInResults --debug --randomize --showSeed --seed= --watchman=? --no-watchman --version --help',
};
const MOCHA_REPORTERS = 'spec,dot,min,tap,json,list,progress,nyan,landing,doc,markdown';
const MOCHA: KnownProgram = {
  options:
    `-AbhipSV -fgjst= -R=${MOCHA_REPORTERS} --reporter=${MOCHA_REPORTERS} --grep= --fgrep= --invert --bail --exit --no-exit --timeout= --slow= ` +
    '--recursive --color --no-color --colors --no-colors --parallel --no-parallel --jobs= --retries= --forbid-only --forbid-pending ' +
    '--full-trace --inline-diffs --no-diff --check-leaks --dry-run --sort --async-only --fail-zero --pass-on-failing-test-suite ' +
    '--version --help',
};
const PLAYWRIGHT: KnownProgram = {
  options: '--version --help',
  verbs: {
    test: {
      options:
        '-x -gj= --grep= --grep-invert= --headed --project= --reporter=list,line,dot,json,junit,github,blob,null --workers= ' +
        '--retries= --timeout= --list --max-failures= --pass-with-no-tests --last-failed --shard= --forbid-only --repeat-each= --quiet ' +
        '--fully-parallel --trace=on,off,on-first-retry,on-all-retries,retain-on-failure',
    },
  },
};
const DENO_CHECKS =
  '--quiet -q --no-check=? --check=? --json --filter= --fail-fast=? --parallel --no-lock --cached-only --no-remote';

export const JAVASCRIPT: readonly (readonly [string, KnownProgram])[] = [
  ['npm', NPM],
  ['pnpm', PNPM],
  ['yarn', YARN],
  ['bun', BUN],
  ...programs('node nodejs', NODE),
  [
    'deno',
    {
      options: '--version --help',
      verbs: {
        ...verbs('test check info doc types', { options: DENO_CHECKS }),
        lint: { options: '--quiet -q --json --compact --rules' },
      },
    },
  ],
  ['tsc', TSC],
  ['eslint', ESLINT],
  ['stylelint', STYLELINT],
  ['prettier', PRETTIER],
  ['biome', BIOME],
  ['vitest', VITEST],
  ['jest', JEST],
  ['mocha', MOCHA],
  ['playwright', PLAYWRIGHT],
];
