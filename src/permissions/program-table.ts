/**
 * The table of programs: which words behind them make them run, write or load something else. Long options count in every short
 * form and spelling that a program would take for them: `--outputFile` is `--output-file`.
 */

import { GIT_VERBS, type Verb } from './git-verbs.ts';

export interface Program {
  /** Letters of short options, alone or among others behind one dash. */
  readonly short?: string;
  readonly long?: readonly string[];
  /** The first operand says what is done, and a star stands for these only. */
  readonly verbs?: readonly string[];
  /** Operands that a star does not stand for: an option's value may stand before the one that says what is done. */
  readonly notVerbs?: readonly string[];
  /** A first operand that a star does not stand for: letters of options without a dash. */
  readonly first?: RegExp;
  /** So many operands in front are code. */
  readonly code?: number;
  /** Operands from here on are files that are written. */
  readonly writesFrom?: number;
  readonly words?: RegExp;
  /** What counts behind the first operand, by what it is. */
  readonly below?: ReadonlyMap<string, Verb>;
}

const list = (text: string): readonly string[] => text.split(' ');

/** Of whatever program: names that are used for the same thing again and again. */
export const ANY: readonly string[] = list(
  'exec exec-path command to-command use-compress-program compress-program rsh rsh-command rsync-path pager ' +
    'editor ext-diff textconv upload-pack receive-pack output output-file out-file config config-file init-file rcfile eval ' +
    'prefix shell script-shell plugin require import loader preload log-file use-askpass in-place inplace init-script init-hook',
);

const HARMLESS_GIT = list(
  'status diff log show add rm mv blame branch tag stash ls-files ls-tree cat-file rev-parse rev-list describe shortlog grep ' +
    'reflog merge-base name-rev show-ref for-each-ref diff-tree diff-index diff-files count-objects whatchanged cherry ' +
    'checkout switch restore reset commit merge pull push fetch clone rebase cherry-pick revert init apply clean version',
);
const PACKAGE_MANAGER: Program = {
  short: 'Cc',
  long: list(
    'prefix local-prefix userconfig globalconfig node-options dir cwd call package viewer browser git cache ignore-workspace ' +
      'workspace-root use-yarnrc pack-destination',
  ),
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
  long: list('rootdir pdbcls confcutdir override-ini basetemp junit-xml debug pastebin cov-report report-log html result-log'),
};
const LINTER_LONG = list(
  'rulesdir resolve-plugins-relative-to parser format fix fix-dry-run fix-type write cache-location cache-file apply apply-unsafe ' +
    'add-noqa unsafe-fixes custom-formatter custom-syntax',
);
const LINTER: Program = { short: 'cof', long: LINTER_LONG };
const CONTAINERS: Program = {
  short: 'H',
  long: list('host context tlscacert'),
  verbs: list('ps images logs inspect version info top stats port'),
};
/** Programs that run tests: they load what options name. */
const TESTS: Program = {
  short: 'cru',
  long: list(
    'global-setup global-teardown setup-files test-runner runner reporter reporters test-environment environment transform resolver ' +
      'root root-dir module-name-mapper module-directories test-results-processor test-sequencer watch-plugins preset projects ' +
      'coverage-directory cache-directory coverage-provider ui file extension package opts node-option node-options dir pool ' +
      'snapshot-serializers filter update update-snapshot haste dependency-extractor prettier-path attachments-dir',
  ),
  words: /^--coverage\./,
};
/** Languages whose program can stand in the command line. */
const CODE: Program = { short: 'eEc', long: list('eval print execute') };
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
  [
    'git',
    {
      short: 'cCOoxu',
      long: list(
        'git-dir work-tree namespace config-env attr-source super-prefix open-files-in-pager template edit upload-pack ' +
          'gpg-sign output-directory separate-git-dir',
      ),
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
  ...['jest', 'vitest', 'mocha', 'ava', 'jasmine', 'playwright', 'cypress'].map((name) => [name, TESTS] as const),
  ...['tsx', 'ts-node', 'julia', 'rscript', 'r', 'swift', 'groovy', 'scala', 'clojure', 'clj', 'elixir'].map(
    (name) => [name, CODE] as const,
  ),
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
      long: list('manifest-path config fix target-dir'),
      words: /^\+/,
    },
  ],
  [
    'go',
    {
      notVerbs: list('run generate install tool env fmt fix clean get mod work bug telemetry'),
      short: 'C',
      words: new RegExp(
        '^--?(?:test\\.)?(?:exec|toolexec|overlay|modfile|C|o|vettool|ldflags|gcflags|asmflags|gccgoflags|compiler|pkgdir|outputdir|' +
          'trace|\\w*profile)(?:=|$)',
      ),
    },
  ],
  ['dotnet', { notVerbs: list('run exec tool new add nuget') }],
  ['gh', { notVerbs: list('alias extension ext config auth api delete') }],
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
  ['node', { short: 'eprcCi', long: list('print experimental-loader inspect inspect-brk env-file conditions') }],
  ['nodejs', { short: 'eprcCi', long: list('print experimental-loader inspect inspect-brk env-file conditions') }],
  ['deno', { notVerbs: list('eval repl run install task serve x fmt compile add remove init upgrade publish clean') }],
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
  ['rg', { long: ['pre', 'hostname-bin', 'search-zip'] }],
  ['tree', { short: 'o' }],
  ['date', { short: 's', long: ['set'] }],
  ['hostname', { writesFrom: 0 }],
]);

/** Python's versions share an entry. */
export const PYTHON: Program = { short: 'cmi' };
