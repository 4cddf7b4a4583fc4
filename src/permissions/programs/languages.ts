/** What other languages are built, checked and tested with. */
import { type KnownProgram, plain, programs, verbs } from './known.ts';

/** Without `--target`, whose value may be a file that names a linker. */
const CARGO_BUILD =
  '-r -jpF= --release --all-targets --all-features --no-default-features --features= --package= --workspace --all --exclude= --lib ' +
  '--bin= --bins --example= --examples --test= --tests --bench= --benches --profile= --jobs= --keep-going --message-format= ' +
  '--timings=? --no-run --no-fail-fast --doc';
const CARGO_TESTS = '--nocapture --no-capture --test-threads= --ignored --include-ignored --exact --show-output --list --skip=';
const CARGO: KnownProgram = {
  options: '-qvV --quiet --verbose --color= --offline --locked --frozen --version --help --list',
  words: /^\+/,
  verbs: {
    ...verbs('build b check c bench', { options: CARGO_BUILD }),
    ...verbs('test t', { options: `${CARGO_BUILD} ${CARGO_TESTS}` }),
    clippy: { options: `${CARGO_BUILD} -AWD= --no-deps` },
    ...verbs('doc d', { options: `${CARGO_BUILD} --no-deps --document-private-items` }),
    fmt: { named: /(?:^| )--check(?: |$)/, options: '-p= --all --check --package=' },
    metadata: { options: '--format-version= --no-deps' },
    tree: {
      options:
        '-d -eip= --edges= --invert= --depth= --duplicates --prefix= --package= --workspace --all-features --no-dedupe --format=',
    },
    search: { options: '--limit=' },
    ...verbs('version pkgid locate-project read-manifest help', { options: '--message-format= --workspace' }),
    ...verbs('update add remove run r clean', { named: true, options: `${CARGO_BUILD} --dev` }),
  },
};

const GO_BUILD =
  '-v -x -n -a -race -msan -asan -trimpath -work -json -cover -tags= -p= -mod=vendor,readonly -buildvcs=? -coverpkg= -covermode=';
const GO: KnownProgram = {
  oneDash: true,
  options: '-h --help',
  verbs: {
    build: { options: GO_BUILD },
    test: {
      options:
        `${GO_BUILD} -run= -count= -short -timeout= -bench= -benchmem -benchtime= -parallel= -cpu= -failfast -shuffle= -skip= -list= ` +
        '-vet=off,all -fullpath',
    },
    vet: { options: '-v -x -n -json -c= -tags= -mod=vendor,readonly' },
    list: { options: '-m -u -e -f= -json=? -deps -test -versions -find -compiled -retracted -tags= -mod=vendor,readonly' },
    fmt: { named: /^-n(?: |$)/, options: '-n -x' },
    doc: { options: '-all -short -src -u -c -cmd' },
    env: { options: '-json -changed' },
    version: { options: '-m -v' },
    mod: {
      verbs: {
        ...verbs('graph verify', {}),
        why: { options: '-m -vendor' },
        tidy: { named: /^-diff(?: |$)/, options: '-v -x -diff' },
        download: { named: true, options: '-x -json' },
      },
    },
    help: {},
    ...verbs('run get install generate', { named: true, options: '-v -x -n -u -t' }),
  },
};
const MAKE: KnownProgram = {
  options:
    '-BbdikmnpqrRsSvw -jlO=? --jobs=? --load-average=? --output-sync=? --keep-going --silent --quiet --dry-run --just-print --recon ' +
    '--always-make --question --print-directory --no-print-directory --trace --debug=? --ignore-errors --warn-undefined-variables ' +
    '--no-builtin-rules --print-data-base --version --help',
  words: /^[^-].*=|^=/,
};
const MAVEN: KnownProgram = {
  oneDash: true,
  options:
    '-B -q -o -U -e -X -v -V -am -amd -fae -ff -fn -N -ntp -nsu -T= -pl= -rf= -P= --batch-mode --quiet --offline --errors --debug ' +
    '--no-transfer-progress --update-snapshots --also-make --projects= --threads= --fail-at-end --version --help -DskipTests=? ' +
    '-DskipITs=? -Dtest=? -Dit.test=? -Dmaven.test.skip=? -DfailIfNoTests=? -Dsurefire.failIfNoSpecifiedTests=? -Dstyle.color=?',
  words: /:/,
};
const GRADLE: KnownProgram = {
  options:
    '-dimqsSwv -x= --info --debug --quiet --warn --stacktrace --full-stacktrace --no-daemon --daemon --offline --parallel --no-parallel ' +
    '--continue --dry-run --rerun-tasks --build-cache --no-build-cache --console= --warning-mode= --tests= --exclude-task= --profile ' +
    '--refresh-dependencies --configuration-cache --no-configuration-cache --max-workers= --configure-on-demand --status --all ' +
    '--version --help',
};
/** Without what names a file that is written or a program that is run: `-o`, `-B`, `-specs`, `-Wl,`, `-fplugin`, `-M`. */
const COMPILER: KnownProgram = {
  harmless: new RegExp(
    '^-(?:[cSEvw]|g\\d?|O[0-3sgz]?|std=[\\w+]+|ansi|pedantic(?:-errors)?|pipe|pthread|shared|static|W[a-z][\\w-]*(?:=\\w+)?|' +
      'f(?:no-)?(?:PIC|pic|PIE|exceptions|rtti|common|syntax-only|omit-frame-pointer|strict-aliasing)|fsanitize=[\\w,-]+|' +
      'm(?:32|64|arch=[\\w.-]+|tune=[\\w.-]+)|[IDUL].+|l(?!oad)\\w+|-version|-help)$',
  ),
};

const DOTNET_BUILD = '-c= -v= -f= -r= --configuration= --verbosity= --framework= --no-restore --no-build';
/** What is in another folder is built from other files. */
const BUILDS = '.,build,./build,out,_build,cmake-build-debug,cmake-build-release';

export const LANGUAGES: readonly (readonly [string, KnownProgram])[] = [
  ['cargo', CARGO],
  ['go', GO],
  [
    'golangci-lint',
    {
      options: '-v --verbose --color= --version --help',
      verbs: {
        run: {
          options: '-DE= --timeout= --enable= --disable= --fast --new --new-from-rev= --tests=? --concurrency= --build-tags=',
        },
        ...verbs('linters formatters version help', {}),
      },
    },
  ],
  ['gofmt', { options: '-delrs' }],
  ...programs('make gmake', MAKE),
  ...programs('mvn mvnw', MAVEN),
  ...programs('gradle gradlew', GRADLE),
  ...programs('gcc g++ cc c++ clang clang++', COMPILER),
  ['rustfmt', { options: '--check --edition= -q -v --version' }],
  ['cmake', { options: `-v -jG= -B=${BUILDS} --build=${BUILDS} --target= --config= --parallel=? --verbose --version --help` }],
  [
    'ctest',
    {
      oneDash: true,
      options:
        '-V -VV -N -Q -R= -E= -L= -LE= -C= -j=? --output-on-failure --rerun-failed --stop-on-failure --timeout= --show-only --version',
    },
  ],
  ['ninja', { options: '-nvh -jk= -d=stats,explain --version' }],
  [
    'just',
    {
      options: '-lnqsuv --list --dry-run --summary --show= --unsorted --color= --quiet --verbose --version --help',
      words: /^\w+=/,
    },
  ],
  [
    'rake',
    {
      options: '-AmnPqstT -jD=? --tasks=? --dry-run --trace=? --silent --quiet --all --prereqs --version --help',
      words: /^\w+=/,
    },
  ],
  [
    'rspec',
    {
      options:
        '-bcnpw -et= -f=p,progress,d,doc,documentation,j,json,f,failures --format=p,progress,d,doc,documentation,j,json,f,failures ' +
        '--example= --tag= --fail-fast=? --no-fail-fast --seed= --order= --only-failures --next-failure --color --no-color --force-color ' +
        '--backtrace --profile=? --no-profile --dry-run --version --help',
    },
  ],
  [
    'rubocop',
    {
      options:
        '-dDELPSvV -f=p,progress,s,simple,c,clang,e,emacs,j,json,q,quiet,g,github,w,worst,o,offenses,files --lint --only= --except= ' +
        '--format=progress,simple,clang,emacs,json,quiet,github,worst,offenses,files --display-cop-names --parallel --no-parallel ' +
        '--fail-level= --display-style-guide --list-target-files --debug --color --no-color --extra-details --force-exclusion --version',
    },
  ],
  [
    'bundle',
    {
      options: '--version --help --verbose --no-color',
      verbs: {
        ...verbs('list show check outdated info platform version', {
          options: '--groups --parseable --strict --paths --name-only',
        }),
        ...verbs('exec install add', { named: true }),
      },
    },
  ],
  [
    'prove',
    { options: '-fqrsv -j= --verbose --quiet --recurse --failures --timer --color --nocolor --shuffle --version --help' },
  ],
  ['shfmt', { options: '-dls -i= --diff --list --simplify --indent= --version --help' }],
  ['xmllint', { options: '--noout --format --xpath= --valid --nowarning --nonet --version' }],
  [
    'pre-commit',
    {
      options: '--version --help',
      verbs: { run: { options: '-av --all-files --files --from-ref= --to-ref= --show-diff-on-failure --verbose --color=' } },
    },
  ],
  ['ruby', { script: true, options: '-cvw --version --help' }],
  ['perl', { script: true, options: '-cvw --version --help' }],
  ['php', { script: true, options: '-ilmv --version --help' }],
  [
    'phpunit',
    {
      options:
        '-v --filter= --testdox --stop-on-failure --stop-on-error --stop-on-defect --colors=? --group= --exclude-group= --testsuite= ' +
        '--verbose --debug --no-coverage --list-tests --list-groups --order-by= --random-order --fail-on-warning --fail-on-risky ' +
        '--no-progress --display-warnings --display-deprecations --version --help',
    },
  ],
  [
    'composer',
    {
      options: '-nqvV --no-interaction --quiet --verbose --no-ansi --ansi --version --help',
      verbs: {
        ...verbs('show info outdated licenses why depends why-not prohibits validate check-platform-reqs diagnose audit status', {
          options:
            '-aDiloPtAs --all --direct --installed --latest --outdated --tree --strict --no-check-publish --no-dev --locked --format=',
        }),
        ...verbs('install update require remove run-script run test exec', {
          named: true,
          options: '--no-dev --dev --prefer-dist --dry-run',
        }),
      },
    },
  ],
  [
    'dotnet',
    {
      oneDash: true,
      options: '--nologo --version --info --help --list-sdks --list-runtimes',
      // It takes options with a slash in front, too.
      words: /^\/[A-Za-z]+(?::|$)/,
      verbs: {
        build: { options: `${DOTNET_BUILD} --no-incremental --no-dependencies` },
        test: { options: `${DOTNET_BUILD} -t --filter= --list-tests --blame` },
        list: { options: '--outdated --include-transitive --vulnerable --deprecated' },
        ...verbs('restore clean run publish pack', { named: true, options: DOTNET_BUILD }),
        format: { named: /(?:^| )--verify-no-changes(?: |$)/, options: '--verify-no-changes --severity=' },
      },
    },
  ],
  ...programs('sh bash dash ksh ash mksh rbash', { script: true, at: true }),
  [
    'swift',
    {
      options: '--version',
      verbs: {
        ...verbs('build test', {
          options: '-v -j= -c=debug,release --configuration=debug,release --filter= --skip= --parallel --verbose --quiet',
        }),
        package: { verbs: verbs('describe show-dependencies', {}) },
      },
    },
  ],
  [
    'terraform',
    plain('-no-color -json -help -version --version --help', {
      oneDash: true,
      verbs: {
        ...verbs('version validate output show providers graph', {}),
        plan: { options: '-input=? -lock=? -detailed-exitcode -refresh=? -compact-warnings' },
        fmt: { named: /(?:^| )-check(?: |$)/, options: '-check -diff -recursive' },
        state: { verbs: verbs('list show', {}) },
        workspace: { verbs: verbs('list show', {}) },
      },
    }),
  ],
];
