/**
 * Programs that look at something, test or check it: what they are allowed for. Some of their options run a program, load code
 * or write a file that is named, and those a star does not stand for.
 */

import { list, type Program } from './program.ts';

const BAT: Program = {
  // It asks nobody with `--paging=never`, which is what most write.
  words: /^--paging(?:=(?!never$)|$)/,
  whole: list('generate-config-file lessopen diagnostic diagnostics'),
  first: /^cache$/,
};
/** Formatters and spelling checkers that only say what they would change, until they are told to. */
const REWRITES = (short: string): Program => ({ short, long: list('write-changes inplace') });
const GO_FORMATTER: Program = { words: /^--?(?:w|\w*profile|trace)(?:=|$)/ };
const APT: Program = { short: 'oc', long: ['option'] };
const HTTPIE: Program = { short: 'do', long: list('download session cert-key') };
const STRUCTURED: Program = { words: /^--?(?:o|output|shell|writesubtree|L|inplace|O|catalogs|loaddtd|path)(?:=|$)/ };

export const LOOKING: readonly (readonly [string, Program])[] = [
  ['bat', BAT],
  ['batcat', BAT],
  ['delta', BAT],
  ['file', { short: 'CzZ', long: list('compile uncompress') }],
  // It starts the program that it is given.
  ['ldd', { code: Number.POSITIVE_INFINITY }],
  ['ack', { long: ['ackrc'] }],
  ['cloc', { whole: list('extract-with report-file sum-reports write-lang-def') }],
  ['scc', { short: 'o' }],
  ['ctags', { short: 'of', long: ['options'] }],
  ['xmllint', STRUCTURED],
  ['xsltproc', STRUCTURED],
  ['xmlstarlet', STRUCTURED],
  ['tidy', { words: /^--?(?:m|modify|o|output|f|file|config)/ }],
  [
    'exiftool',
    {
      words: new RegExp(
        '^-(?:config|if\\d?|p|o|w[+!]*|textout|tagout|overwrite_original\\w*|tagsfromfile|(?:delete|restore)_original|execute|@|' +
          'argfile|geotag)$|^-[\\w:#*-]+[-+^]?<?=',
        'i',
      ),
    },
  ],
  ['shfmt', REWRITES('w')],
  ...['codespell', 'typos'].map((name) => [name, REWRITES('wi')] as const),
  ...['clang-format', 'autopep8', 'yapf', 'jsonlint'].map((name) => [name, REWRITES('i')] as const),
  ...['gofmt', 'goimports', 'gofumpt'].map((name) => [name, GO_FORMATTER] as const),
  ['markdownlint', { short: 'rofc', long: list('rules') }],
  ['asciidoctor', { short: 'roDTIE', long: list('template-dir destination-dir load-path') }],
  ['flake8', { long: list('append-config tee enable-extensions') }],
  ['pyright', { short: 'pv', long: list('pythonpath createstub project venvpath typeshedpath') }],
  ['golangci-lint', { short: 'c' }],
  ['clang-tidy', { words: /^--?(?:fix|load|export-fixes|config|vfsoverlay|p|store-check-profile)/ }],
  ['cppcheck', { long: list('addon plist-output dump cppcheck-build-dir clang rule-file') }],
  ['phpstan', { short: 'ac', long: list('autoload-file configuration generate-baseline') }],
  ['phpcs', { long: list('standard bootstrap report-file runtime-set'), words: /^--report-\w+=/ }],
  ['psalm', { short: 'cr', long: list('alter plugin root set-baseline update-baseline') }],
  ['pre-commit', { short: 'c', notVerbs: list('try-repo install autoupdate init-templatedir') }],
  ['ctest', { short: 'SDTMO', long: list('test-dir script dashboard build-and-test test-action extra-submit overwrite') }],
  ['prove', { short: 'eIPaM', long: list('archive formatter harness source') }],
  ...['cabal', 'stack'].map(
    (name) =>
      [name, { notVerbs: list('run exec repl ghci runghc script eval install'), long: list('test-wrapper with-ghc') }] as const,
  ),
  ['mix', { notVerbs: list('run eval cmd do archive.install escript.install') }],
  ['rails', { notVerbs: list('runner r console c dbconsole generate g destroy d new plugin') }],
  ['dart', { notVerbs: list('run compile') }],
  ['composer', { short: 'd', long: ['working-dir'] }],
  ['svn', { notVerbs: list('export propedit') }],
  ['hg', { short: 'R', long: list('tool repository debugger') }],
  ['jj', { short: 'R', long: list('tool repository') }],
  ['bzr', { long: ['using'] }],
  ['helm', { long: list('post-renderer kubeconfig kube-apiserver registry-config repository-config plugin') }],
  ['terraform', { words: /^--?(?:out|chdir|state|backup|plugin-dir|generate-config-out)/ }],
  ['cdk', { short: 'apo', long: ['app'] }],
  ...['http', 'https', 'xh', 'xhs'].map((name) => [name, HTTPIE] as const),
  ...['apt', 'apt-get', 'apt-cache'].map((name) => [name, APT] as const),
  ['dpkg', { long: list('pre-invoke post-invoke status-logger') }],
  ['rpm', { short: 'ED', long: list('pipe define macros load dbpath root') }],
  [
    'journalctl',
    { long: list('vacuum-size vacuum-time vacuum-files rotate flush relinquish-var cursor-file setup-keys update-catalog') },
  ],
  ['dmesg', { short: 'cCDEn', long: list('clear read-clear console-off console-on console-level') }],
  ['ip', { words: /^-(?:b|batch|force)/, notVerbs: list('exec add del delete set flush change replace append') }],
  ['ss', { short: 'KD', long: list('kill diag') }],
  ['sysctl', { short: 'wp', long: list('write load system'), words: /=/ }],
];
