/**
 * The table of programs: which words behind them make them run, write or load something else. Long options count in every short
 * form and spelling that a program would take for them: `--outputFile` is `--output-file`.
 */

import { GIT_VERBS } from './git-verbs.ts';
import { LOOKING } from './looking-programs.ts';
import { list, type Program, type Verb } from './program.ts';

/** Of whatever program: names that are used for the same thing again and again. */
export const ANY: readonly string[] = list(
  'exec exec-path command to-command use-compress-program compress-program rsh rsh-command rsync-path pager ' +
    'editor ext-diff textconv upload-pack receive-pack output output-file out-file config config-file init-file rcfile eval ' +
    'prefix shell script-shell plugin require import loader preload log-file use-askpass in-place inplace init-script init-hook ' +
    'diff-program diff-cmd diff3-cmd merge-cmd fix write cwd out-dir',
);

/** Programs that run tests load what these name. */
const TEST_OPTIONS = list(
  'global-setup global-teardown setup-files setup-files-after-env test-runner runner reporter reporters test-environment ' +
    'environment transform resolver root root-dir module-name-mapper module-directories test-results-processor test-sequencer ' +
    'watch-plugins preset projects coverage coverage-directory coverage-dir coverage-reporters coverage-provider cache-directory ' +
    'ui file extension package opts node-option node-options node-arg node-args node-arguments dir pool snapshot-serializers ' +
    'filter update update-snapshot update-snapshots haste dependency-extractor prettier-path attachments-dir reporter-outfile ' +
    'browser before after test-arg exec-argv',
);
const LINTER_LONG = list(
  'rulesdir resolve-plugins-relative-to parser format fix fix-dry-run fix-type write cache-location cache-file apply apply-unsafe ' +
    'add-noqa unsafe-fixes custom-formatter custom-syntax',
);
/** A script of the project hands on whatever follows it to a program that tests, checks or builds. */
const SCRIPT: Verb = { short: 'ruRofpe', whole: [...TEST_OPTIONS, ...LINTER_LONG].filter((name) => name !== 'filter') };

const HARMLESS_GIT = list(
  'status diff log show add rm mv blame branch tag stash ls-files ls-tree cat-file rev-parse rev-list describe shortlog grep ' +
    'reflog merge-base name-rev show-ref for-each-ref diff-tree diff-index diff-files count-objects whatchanged cherry ' +
    'checkout switch restore reset commit merge pull push fetch clone rebase cherry-pick revert init apply clean version',
);
const PACKAGE_MANAGER: Program = {
  short: 'Cc',
  long: list(
    'prefix local-prefix userconfig globalconfig node-options dir cwd call package viewer browser git cache ignore-workspace ' +
      'workspace-root use-yarnrc pack-destination registry',
  ),
  below: new Map(list('test t tst run run-script').map((verb) => [verb, SCRIPT])),
  words: /^--config\./,
  verbs: list('test t tst run run-script ls list view info outdated why explain search ping whoami help root'),
};
const AWK: Program = { code: 1, short: 'fielE', long: list('file source exec load include profile dump-variables') };
const COMPILER: Program = {
  words: new RegExp(
    '^(?:@|-B|-o|-wrapper|-fplugin|-specs|-X|-load|-W[alp],|-M[FMD]|-aux-info|-fdump|-fuse-ld|-fprofile|-save-temps|-dump)' +
      '|^--?(?:specs|load|driver-mode|sysroot)(?:=|$)',
  ),
};
const PYTEST: Program = {
  short: 'pco',
  long: list(
    'rootdir pdbcls confcutdir override-ini basetemp junit-xml debug pastebin cov-report report-log html result-log cov-config ' +
      'trace tx rsyncdir ds dc snapshot-update inline-snapshot force-regen regen-all benchmark-json benchmark-save alluredir ' +
      'json-report-file',
  ),
};
const LINTER: Program = { short: 'cof', long: LINTER_LONG };
const CONTAINERS: Program = {
  short: 'H',
  long: list('host context tlscacert'),
  verbs: list('ps images logs inspect version info top stats port'),
};
const TESTS: Program = { short: 'cruR', whole: TEST_OPTIONS, words: /^--coverage\./ };
/** Languages whose program can stand in the command line. */
const CODE: Program = { short: 'eEc', long: list('eval print execute') };
const TYPESCRIPT_RUN: Program = { short: 'eprOPCT', long: list('print compiler project'), whole: TEST_OPTIONS };
/** Options that are never shortened. */
const NODE: Program = {
  short: 'eprcCi',
  whole: list(
    'print experimental-loader inspect inspect-brk env-file conditions run prof cpu-prof heap-prof heapsnapshot-signal ' +
      'heapsnapshot-near-heap-limit redirect-warnings report report-dir report-directory report-filename trace-event-file-pattern ' +
      'build-snapshot build-sea snapshot-blob experimental-config-file experimental-default-config-file experimental-sea-config ' +
      'openssl-config icu-data-dir diagnostic-dir test-reporter test-global-setup test-update-snapshots localstorage-file logfile ' +
      'redirect-code-traces-to experimental-test-coverage',
  ),
};
const DOTNET: Program = {
  notVerbs: list('run exec tool new add nuget'),
  long: list('settings logger test-adapter-path results-directory property diag collect'),
  words: /^-[slod]$|^@|^[-/]{1,2}(?:p|property|l|logger|dl|distributedlogger|bl|fl|flp|rp|t|target|r)[:=]/i,
};
const MAVEN: Program = { words: /:|^-(?:f|s|gs|t|gt|l|D|b)|^--(?:file|settings|global|toolchains|log|define|builder)/ };
const GRADLE: Program = {
  words:
    /^-(?:b|c|I|p|D|P|g)|^--(?:build-file|settings-file|project-dir|system-prop|project-prop|gradle-user-home|include-build|write)/,
};
const MAKE: Program = { short: 'fCIE', long: list('file makefile directory include-dir'), words: /^[^-].*=|^=/ };
const FD: Program = { short: 'xX', long: ['exec-batch'] };
const TYPESCRIPT: Program = {
  short: 'pbdo',
  long: list(
    'out-file out-dir declaration-dir ts-build-info-file generate-trace generate-cpu-profile project build root-dir no-emit init',
  ),
};

export const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...LOOKING,
  [
    'git',
    {
      short: 'cCOoxu',
      long: list(
        'git-dir work-tree namespace config-env attr-source super-prefix open-files-in-pager template edit upload-pack ' +
          'gpg-sign output-directory separate-git-dir',
      ),
      // A pager is a program that the settings name.
      before: /^(?:-p|--paginate)$/,
      verbs: HARMLESS_GIT,
      below: GIT_VERBS,
      // A helper is a program of that name.
      words: /^[a-z\d+.-]+::/i,
    },
  ],
  ...['npm', 'pnpm', 'yarn'].map((name) => [name, PACKAGE_MANAGER] as const),
  ['bun', { ...PACKAGE_MANAGER, short: 'Ccre' }],
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, AWK] as const),
  ...['docker', 'podman', 'nerdctl'].map((name) => [name, CONTAINERS] as const),
  [
    'kubectl',
    { short: 's', long: list('kubeconfig server token user as cluster context client-key'), verbs: list('logs version top') },
  ],
  ...['mvn', 'mvnw'].map((name) => [name, MAVEN] as const),
  ...['gradle', 'gradlew'].map((name) => [name, GRADLE] as const),
  ...['jest', 'vitest', 'mocha', 'ava', 'jasmine', 'playwright', 'tap', 'newman'].map((name) => [name, TESTS] as const),
  ['cypress', { ...TESTS, short: 'cruRCbPo' }],
  ['cucumber-js', { ...TESTS, short: 'crif' }],
  ...['webpack', 'rollup', 'vite'].map((name) => [name, { short: 'cpod' }] as const),
  ...['tsx', 'ts-node'].map((name) => [name, TYPESCRIPT_RUN] as const),
  ['swift', { ...CODE, notVerbs: list('run package sdk') }],
  ['r', { ...CODE, notVerbs: ['CMD'] }],
  ...['julia', 'rscript', 'groovy', 'scala', 'clojure', 'clj', 'elixir'].map((name) => [name, CODE] as const),
  ...['erl', 'ghc', 'racket', 'guile', 'gnuplot', 'octave', 'tclsh', 'sbcl'].map((name) => [name, CODE] as const),
  ...['fd', 'fdfind'].map((name) => [name, FD] as const),
  ...['make', 'gmake'].map((name) => [name, MAKE] as const),
  ...['pip', 'pip3'].map(
    (name) => [name, { verbs: list('list show check freeze help'), long: list('python log cache-dir proxy cert') }] as const,
  ),
  ['tsc', TYPESCRIPT],
  ['sed', { code: 1, short: 'ief', long: list('in-place expression file') }],
  [
    'tar',
    {
      short: 'IFCTPg',
      long: list(
        'info-script new-volume-script rmt-command directory checkpoint-action files-from absolute-names remove-files index-file ' +
          'volno-file listed-incremental recursive-unlink',
      ),
      first: /^[A-Za-z]*[IFCTPg][A-Za-z]*$/,
    },
  ],
  [
    'rsync',
    { short: 'eM', long: list('remote-option daemon delete del remove-source-files write-batch only-write-batch backup-dir') },
  ],
  ['ssh', { short: 'oFJDLRwWESI', code: 2 }],
  ['scp', { short: 'SoFJD' }],
  ['sftp', { short: 'bSoFDJ' }],
  ['find', { words: /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)$/ }],
  ['sort', { short: 'oT', long: list('temporary-directory') }],
  ['uniq', { writesFrom: 1 }],
  ['split', { long: ['filter'] }],
  ['shuf', { short: 'o' }],
  ['xxd', { writesFrom: 1 }],
  ['dd', { words: /^of=/ }],
  ['ssh-keygen', { short: 'D' }],
  [
    'openssl',
    { notVerbs: ['engine'], words: /^-(?:engine|provider|provider-path|config|out|keyout|certsout|writerand|CAserial)$/ },
  ],
  ['mypy', { long: list('python-executable install-types junit-xml cache-dir'), words: /^--[\w-]+-report/ }],
  ...['pytest', 'py.test'].map((name) => [name, PYTEST] as const),
  ...['eslint', 'stylelint', 'biome'].map((name) => [name, LINTER] as const),
  ['prettier', { short: 'cofw', long: LINTER_LONG }],
  ['ruff', { ...LINTER, notVerbs: list('format clean') }],
  ...['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++'].map((name) => [name, COMPILER] as const),
  [
    'curl',
    {
      short: 'oOKTFdXxcDJEHwQt',
      long: list(
        'remote-name upload-file data form dump-header cookie-jar trace proxy netrc-file engine libcurl stderr unix-socket json write-out ' +
          'request header url variable expand hsts alt-svc etag-save ssl-sessions connect-to resolve preproxy socks4 socks5 doh-url ' +
          'quote prequote postquote telnet-option',
      ),
    },
  ],
  [
    'wget',
    {
      short: 'OoPieaxUNcrmp',
      long: list(
        'execute post-file post-data body-file body-data directory-prefix append-output input-file method timestamping continue ' +
          'recursive mirror page-requisites save-cookies warc-file hsts-file rejected-log',
      ),
    },
  ],
  ['uv', { notVerbs: list('run tool x pip add sync publish') }],
  ['poetry', { notVerbs: list('run shell config add install publish self') }],
  ['bundle', { notVerbs: list('exec config console install add open') }],
  ['pipx', { notVerbs: list('run install inject upgrade') }],
  [
    'cargo',
    {
      verbs: list(
        'build b check c test t doc d bench clippy metadata tree version search pkgid locate-project read-manifest help',
      ),
      short: 'CZ',
      long: list('manifest-path config fix target-dir artifact-dir open lockfile-path registry index'),
      words: /^\+/,
    },
  ],
  [
    'go',
    {
      notVerbs: list('run generate install tool env fmt fix clean get mod work bug telemetry'),
      short: 'C',
      words: new RegExp(
        '^--?(?:test\\.)?(?:exec|toolexec|overlay|modfile|C|c|o|vettool|ldflags|gcflags|asmflags|gccgoflags|compiler|pkgdir|outputdir|' +
          'gocoverdir|fuzz|http|fix|debug-actiongraph|debug-trace|trace|\\w*profile)(?:=|$)|^--?mod=mod$',
      ),
    },
  ],
  ['dotnet', DOTNET],
  ['gh', { short: 'w', long: ['web'], notVerbs: list('alias extension ext config auth api delete') }],
  ['bazel', { notVerbs: ['run'], long: list('run-under bazelrc') }],
  ['coverage', { notVerbs: ['run'], long: ['rcfile'] }],
  ['cmake', { short: 'PEC', long: ['install'] }],
  ['ninja', { short: 'Cft' }],
  ['meson', { long: list('wrap gdb gdb-path') }],
  ['just', { short: 'fdc', long: list('justfile working-directory set shell-arg dotenv-path') }],
  ['ant', { words: /^-(?:f|file|buildfile|lib|D|logger|listener|main|propertyfile|inputhandler)/ }],
  ['rake', { short: 'fIrepg', long: list('rakefile libdir execute') }],
  ['rspec', { short: 'rIOo', long: list('options out') }],
  ['rubocop', { short: 'raAxco', long: list('autocorrect auto-correct out') }],
  ['phpunit', { short: 'c', long: list('bootstrap configuration include-path log-junit coverage testdox-html extension') }],
  ['pylint', { long: list('load-plugins rcfile') }],
  ['tox', { short: 'c', long: list('workdir work-dir root override') }],
  ['nox', { short: 'f', long: list('noxfile envdir') }],
  ['pandoc', { short: 'oFLd', long: list('filter lua-filter extract-media data-dir pdf-engine template defaults') }],
  ...['latex', 'pdflatex', 'xelatex', 'lualatex'].map(
    (name) => [name, { words: /^--?(?:shell|enable-write18|output|lua)/ }] as const,
  ),
  ...['dot', 'neato', 'sdiff', 'iconv'].map((name) => [name, { short: 'oO' }] as const),
  ...['ug', 'ugrep'].map((name) => [name, { long: list('filter view save-config') }] as const),
  ['yq', { short: 'is', long: ['split-exp'] }],
  ...['node', 'nodejs'].map((name) => [name, NODE] as const),
  [
    'deno',
    {
      short: 'A',
      whole: list('allow allow-all coverage junit-path import-map env-file cert lock vendor inspect'),
      notVerbs: list('eval repl run install task serve x fmt compile add remove init upgrade publish clean'),
    },
  ],
  ['perl', { short: 'eEMmIinpdx' }],
  ['ruby', { short: 'erIiCSx' }],
  ['php', { short: 'rdBRFEScz' }],
  ['lua', { short: 'eli' }],
  ['printf', { words: /^-v/ }],
  ['test', { words: /^-[vR]$/ }],
  ['[', { words: /^-[vR]$/ }],
  ['zip', { short: 'T', long: ['unzip-command', 'test'] }],
  ['tcpdump', { short: 'zwW' }],
  ['jq', { short: 'fL', long: ['from-file'] }],
  ['rg', { short: 'z', long: ['pre', 'hostname-bin', 'search-zip'] }],
  ['tree', { short: 'o' }],
  ['date', { short: 's', long: ['set'] }],
  ['hostname', { writesFrom: 0 }],
]);

/** Python's versions share an entry. */
/** A class of warnings is loaded from the module that it names. */
export const PYTHON: Program = { short: 'cmi', words: /^(?:-\w*W)?[a-z]+:[^:]*:\w+\.|^(?:-\w*X)?(?:pycache_prefix|presite)=/ };
