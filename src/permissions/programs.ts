/**
 * What is known of programs: which words behind them make them run or write something. A star in a rule does not cover such a
 * word; whoever wants it allowed writes it out. Long options count in every short form that a program would take for them.
 */

import { GIT_VERBS, type Verb } from './git-verbs.ts';

interface Program {
  /** Letters of short options, alone or among others behind one dash. */
  readonly short?: string;
  readonly long?: readonly string[];
  /** The first operand says what is done, and a star stands for these only. */
  readonly verbs?: readonly string[];
  /** First operands that a star does not stand for. */
  readonly notVerbs?: readonly string[];
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
const ANY: readonly string[] = list(
  'exec exec-path command to-command use-compress-program compress-program rsh rsh-command rsync-path pager ' +
    'editor ext-diff textconv upload-pack receive-pack output output-file out-file config config-file init-file rcfile eval ' +
    'prefix shell script-shell plugin require import loader preload log-file use-askpass in-place inplace',
);

const HARMLESS_GIT = list(
  'status diff log show add rm mv blame branch tag stash ls-files ls-tree cat-file rev-parse rev-list describe shortlog grep ' +
    'reflog merge-base name-rev show-ref for-each-ref diff-tree diff-index diff-files count-objects whatchanged cherry ' +
    'checkout switch restore reset commit merge pull push fetch clone rebase cherry-pick revert init apply clean version',
);
const PACKAGE_MANAGER: Program = {
  short: 'Cc',
  long: list('prefix userconfig globalconfig node-options dir cwd call package viewer git cache ignore-workspace workspace-root'),
  verbs: list('test t tst run run-script ls list view info outdated why explain search ping whoami help root'),
};
const AWK: Program = { code: 1, short: 'fielE', long: list('file source exec load include profile dump-variables') };
const COMPILER: Program = {
  words: /^(?:@|-B|-o|-wrapper|-fplugin|-specs|-Xclang|-load)|^--?(?:specs|load|driver-mode|sysroot)(?:=|$)/,
};
const PYTEST: Program = { short: 'pco', long: list('rootdir pdbcls confcutdir override-ini basetemp junit-xml') };
const LINTER: Program = {
  short: 'cof',
  long: list('rulesdir resolve-plugins-relative-to parser format fix fix-dry-run fix-type write cache-location cache-file'),
};
const CONTAINERS: Program = { verbs: list('ps images logs inspect version info top stats port') };

const PROGRAMS: ReadonlyMap<string, Program> = new Map<string, Program>([
  [
    'git',
    {
      short: 'cCOoxu',
      long: list(
        'git-dir work-tree namespace config-env attr-source super-prefix open-files-in-pager template edit upload-pack ' +
          'gpg-sign output-directory',
      ),
      verbs: HARMLESS_GIT,
      below: GIT_VERBS,
      words: /^(?:ext|fd)::/,
    },
  ],
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, PACKAGE_MANAGER] as const),
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, AWK] as const),
  ...['docker', 'podman', 'kubectl', 'nerdctl'].map((name) => [name, CONTAINERS] as const),
  ['sed', { code: 1, short: 'ief', long: list('in-place expression file') }],
  [
    'tar',
    {
      short: 'IFC',
      long: list('info-script new-volume-script rmt-command directory checkpoint-action'),
      words: /^[A-Za-z]*[IFC][A-Za-z]*$/,
    },
  ],
  ['rsync', { short: 'eM', long: list('remote-option daemon') }],
  ['ssh', { short: 'oFJDLRwWESI', code: 2 }],
  ['scp', { short: 'SoFJ' }],
  ['sftp', { short: 'bSoFDJ' }],
  ['find', { words: /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from)$/ }],
  ['sort', { short: 'oT', long: list('temporary-directory') }],
  ['uniq', { writesFrom: 1 }],
  ['split', { long: ['filter'] }],
  ['shuf', { short: 'o' }],
  ['xxd', { writesFrom: 1 }],
  ['dd', { words: /^of=/ }],
  ['ssh-keygen', { short: 'D' }],
  ['openssl', { notVerbs: ['engine'], words: /^-(?:engine|provider|provider-path|out|config)$/ }],
  ['mypy', { long: list('python-executable install-types junit-xml cache-dir') }],
  ...['pytest', 'py.test'].map((name) => [name, PYTEST] as const),
  ...['eslint', 'prettier', 'stylelint', 'ruff', 'biome'].map((name) => [name, LINTER] as const),
  ...['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++'].map((name) => [name, COMPILER] as const),
  [
    'curl',
    {
      short: 'oOKTFdXxcDJEHw',
      long: list(
        'remote-name upload-file data form dump-header cookie-jar trace proxy netrc-file engine libcurl stderr unix-socket json write-out ' +
          'request header url',
      ),
    },
  ],
  [
    'wget',
    {
      short: 'OoPieaxU',
      long: list('execute post-file post-data body-file body-data directory-prefix append-output input-file method'),
    },
  ],
  ['make', { short: 'fCIE', long: list('file makefile directory include-dir'), words: /^[A-Za-z_][\w.]*[:+?!]*=/ }],
  ['gmake', { short: 'fCIE', long: list('file makefile directory include-dir'), words: /^[A-Za-z_][\w.]*[:+?!]*=/ }],
  ['uv', { notVerbs: ['run', 'tool', 'x'] }],
  ['poetry', { notVerbs: ['run', 'shell', 'config'] }],
  ['bundle', { notVerbs: ['exec', 'config', 'console'] }],
  ['pipx', { notVerbs: ['run', 'install'] }],
  ['cargo', { notVerbs: ['run', 'install'], long: ['manifest-path', 'config'] }],
  [
    'go',
    {
      notVerbs: ['run', 'generate', 'install', 'tool', 'env'],
      short: 'C',
      words: /^--?(?:exec|toolexec|overlay|modfile|C|o)(?:=|$)/,
    },
  ],
  ['dotnet', { notVerbs: ['run', 'exec', 'tool'] }],
  ['node', { short: 'eprcCi', long: list('print experimental-loader inspect inspect-brk env-file conditions') }],
  ['nodejs', { short: 'eprcCi', long: list('print experimental-loader inspect inspect-brk env-file conditions') }],
  ['deno', { notVerbs: ['eval', 'repl', 'run', 'install', 'task'] }],
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
  ['fd', { short: 'xX', long: ['exec-batch'] }],
  ['tree', { short: 'o' }],
  ['date', { short: 's', long: ['set'] }],
  ['hostname', { writesFrom: 0 }],
]);

/** Python's versions share an entry. */
const PYTHON: Program = { short: 'cmi' };

/** Nothing of these is covered by a star: they change what everything behind them means, or run what nobody sees. */
const UNSEEN_PROGRAMS: ReadonlySet<string> = new Set([
  ...list('cd pushd popd export set unset alias unalias trap . source eval readonly declare typeset local let read enable hash'),
  ...list('shopt bind complete compgen mapfile readarray getopts caller fc history return break continue shift'),
  ...list(
    'watch parallel su script chroot unshare nsenter flock strace ltrace gdb lldb perf systemd-run runuser pkexec at batch',
  ),
  ...list('crontab screen tmux entr expect start-stop-daemon setpriv capsh dbus-run-session xterm open xdg-open osascript'),
  ...list('vi vim view nvim ex ed emacs nano pico less more most man info pager psql mysql sqlite3 ftp telnet socat nc ncat'),
  ...list('cpulimit prlimit chrt taskset numactl proot fakeroot firejail bwrap torsocks proxychains rlwrap unbuffer ld.so'),
]);

const INTERPRETERS = /^(?:node|nodejs|bun|python[\d.]*|ruby|perl|php|lua[\d.]*|Rscript|tclsh|guile|irb|iex|ghci)$/;

/** Why nobody can tell what it would run. */
export function unseenProgram(name: string, operands: readonly string[]): string | undefined {
  if (UNSEEN_PROGRAMS.has(name)) return `\`${name}\` changes what follows, or runs what is not seen`;
  if (INTERPRETERS.test(name) && name !== 'bun' && (operands.length === 0 || operands[0] === '-'))
    return `\`${name}\` reads its program from its input`;
  return undefined;
}

/** Which of the words behind a program a star does not cover, by their places. */
export function exposedWords(name: string, args: readonly string[]): ReadonlySet<number> {
  const program = PROGRAMS.get(name) ?? (/^python[\d.]*$/.test(name) ? PYTHON : {});
  const { short = '', long = [], verbs, notVerbs = [], code = 0, writesFrom = Number.POSITIVE_INFINITY, words } = program;
  const exposed = new Set(program.below === undefined ? [] : exposedBelow(program.below, args));
  let operands = 0;
  for (const [index, word] of args.entries()) {
    if (isOption(word) && optionExposed(word, short, [...ANY, ...long])) exposed.add(index);
    if (words?.test(word)) exposed.add(index);
    if (isOption(word)) continue;
    if (operands === 0 && (notVerbs.includes(word) || (verbs !== undefined && !verbs.includes(word)))) exposed.add(index);
    if (operands < code || operands >= writesFrom) exposed.add(index);
    operands += 1;
  }
  return exposed;
}

/** Of the words behind the first operand, those that matter because of it. */
function exposedBelow(below: ReadonlyMap<string, Verb>, args: readonly string[]): readonly number[] {
  const at = args.findIndex((word) => !isOption(word));
  const verb = below.get(args[at] ?? '');
  if (verb === undefined) return [];
  const { short = '', long = [], verbs, notVerbs = [], words, onlyShows } = verb;
  const next = args.findIndex((word, index) => index > at && !isOption(word));
  const shows = onlyShows?.test(args[at + 1] ?? '') ?? true;
  return args.flatMap((word, index) => {
    if (index <= at) return [];
    if (isOption(word)) return optionExposed(word, short, long) || words?.test(word) || !shows ? [index] : [];
    const isMeant = index === next && (notVerbs.includes(word) || (verbs !== undefined && !verbs.includes(word)));
    return isMeant || words?.test(word) || !shows ? [index] : [];
  });
}

const isOption = (word: string): boolean => word.startsWith('-') && word !== '-';

function optionExposed(word: string, short: string, long: readonly string[]): boolean {
  if (!word.startsWith('--')) return [...word.slice(1)].some((letter) => short.includes(letter));
  const name = word.slice(2).split('=', 1)[0] ?? '';
  return name !== '' && long.some((one) => one.startsWith(name) || name.startsWith(`${one}-`));
}
