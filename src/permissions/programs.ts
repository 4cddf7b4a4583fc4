/**
 * What is known of programs: which words behind them make them run or write something. A star in a rule does not cover such a
 * word; whoever wants it allowed writes it out. Which they are is in `program-table.ts`.
 */

import { list, type Program, type Verb } from './program.ts';
import { ANY, PROGRAMS, PYTHON } from './program-table.ts';

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
  ...list('xvfb-run hyperfine valgrind ssh-agent gpg-agent watchexec chokidar onchange nodemon concurrently tini dumb-init gosu'),
  ...list('su-exec faketime systemd-inhibit dbus-launch chpst softlimit setuidgid envdir dtach choom fzf direnv nix-shell nix'),
  ...list(
    'c8 nyc start-server-and-test env-cmd dotenv dotenvx npm-run-all run-s run-p wireit doppler chamber aws-vault mongo mongosh duckdb mariadb sqlite',
  ),
]);

const INTERPRETERS =
  /^(?:node|nodejs|bun|python[\d.]*|ruby|perl|php|lua[\d.]*|rscript|tclsh|guile|irb|iex|ghci|julia|racket|octave)$/;

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
  const { long = [], verbs, notVerbs = [], first, before, code = 0, writesFrom = Number.POSITIVE_INFINITY, words } = program;
  const options = { ...program, long: [...ANY, ...long] };
  const exposed = new Set(program.below === undefined ? [] : exposedBelow(program.below, args));
  let operands = 0;
  for (const [index, word] of args.entries()) {
    if (isOption(word) && optionExposed(word, options)) exposed.add(index);
    if (words?.test(word) || (operands === 0 && before?.test(word))) exposed.add(index);
    if (isOption(word)) continue;
    if (notVerbs.includes(word)) exposed.add(index);
    if (operands === 0 && (first?.test(word) || (verbs !== undefined && !verbs.includes(word)))) exposed.add(index);
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
  const { verbs, notVerbs = [], words, onlyShows } = verb;
  const next = args.findIndex((word, index) => index > at && !isOption(word));
  const shows = onlyShows?.test(args.slice(at + 1).join(' ')) ?? true;
  return args.flatMap((word, index) => {
    if (index <= at) return [];
    if (isOption(word)) return optionExposed(word, verb) || words?.test(word) || !shows ? [index] : [];
    const isMeant = index === next && (notVerbs.includes(word) || (verbs !== undefined && !verbs.includes(word)));
    return isMeant || words?.test(word) || !shows ? [index] : [];
  });
}

const isOption = (word: string): boolean => word.startsWith('-') && word !== '-';

function optionExposed(word: string, { short = '', long = [], whole = [] }: Pick<Program, 'short' | 'long' | 'whole'>): boolean {
  if (!word.startsWith('--')) return [...word.slice(1)].some((letter) => short.includes(letter));
  const name = spelled(word.slice(2).split('=', 1)[0] ?? '');
  const plain = name.replaceAll('-', '');
  const isLonger = (one: string): boolean => name.startsWith(`${one}-`) || name.startsWith(`${one}.`);
  return (
    name !== '' &&
    (long.some((one) => one.startsWith(name) || isLonger(one) || one.replaceAll('-', '').startsWith(plain)) ||
      whole.some((one) => isLonger(one) || one.replaceAll('-', '') === plain))
  );
}

/** `outputFile` and `output_file` as `output-file`. */
const spelled = (name: string): string =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
