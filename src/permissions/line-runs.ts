/**
 * What a command line runs: each command in it, and below a command that runs others (`env`, `xargs`, `find -exec`, `sh -c`)
 * those that it runs. Where that cannot be told, the run says so, and no rule with a star covers it.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { type LinePart, type LineWord, lineParts, RESERVED } from './line-parts.ts';
import { exposedWords, knownProgram, namesInput, unseenProgram } from './programs/exposed-words.ts';

export interface Run {
  /** Variables that are set for it, the program, its arguments. */
  readonly words: readonly LineWord[];
  /** Where in the words the program stands; the end when there is none. */
  readonly program: number;
  /** Words that a star does not cover, by their places. */
  readonly exposed: ReadonlySet<number>;
  /** Words of which nobody knows what is done with them: each of them may be a program that is run. */
  readonly loose: readonly LineWord[];
  readonly redirected: boolean;
  /** Why nobody can tell what it would do. */
  readonly unseen?: string | undefined;
  /** What it runs. */
  readonly below: readonly Run[];
}

const DEPTH_MAX = 8;

export function lineRuns(line: string): Result<readonly Run[], string> {
  return runsIn(line, 0);
}

function runsIn(line: string, depth: number): Result<readonly Run[], string> {
  if (depth > DEPTH_MAX) return fail('it is nested too deep');
  const parts = lineParts(line);
  return parts.ok ? ok(parts.value.map((part) => runOf(part, depth))) : parts;
}

function runOf({ assignments, words, redirected }: LinePart, depth: number): Run {
  const program = assignments.length;
  const all = [...assignments, ...words];
  const [first, ...args] = words;
  const set = new Set(assignments.keys());
  if (first === undefined) return { words: all, program, exposed: set, loose: assignments, redirected, below: [] };
  const name = programName(first.text);
  const texts = args.map(({ text }) => text);
  const known = first.dynamic ? 'its program is not known before it runs' : unseenProgram(name, texts);
  const below: Below = depth >= DEPTH_MAX ? { unseen: 'it is nested too deep' } : runBelow(name, args, depth + 1);
  const own = texts.slice(0, below.own);
  const exposed = new Set([...set, ...[...exposedWords(name, own)].map((index) => program + 1 + index)]);
  const isPlain = exposed.size === 0 && (below.own === 0 || knownProgram(name) !== undefined);
  const loose = isPlain ? [] : [...assignments, ...args.slice(0, below.own)];
  return { words: all, program, exposed, loose, redirected, unseen: known ?? below.unseen, below: below.runs ?? [] };
}

/** The name behind a path, in the case that a file system without case would take it for; `gfind` is GNU's `find`. */
export function programName(text: string): string {
  const name = text.slice(text.lastIndexOf('/') + 1).toLowerCase();
  return GNU.exec(name)?.[1] ?? name;
}

const GNU = new RegExp(
  '^g((?:find|xargs|env|timeout|nice|nohup|stdbuf|sed|tar|sort|dd|date|split|shuf|uniq|tee|truncate|install)|' +
    '(?:rm|rmdir|mv|cp|ln|chmod|chown|unlink|mkdir|touch|cat|ls|head|tail|grep))$',
);

interface Below {
  readonly runs?: readonly Run[] | undefined;
  /** So many words in front are its own and not of the command that it runs; none where they are understood already. */
  readonly own?: number | undefined;
  readonly unseen?: string | undefined;
}

interface Wrapper {
  /** Options without a value; any other that is not in `valued` makes it unseen. */
  readonly flags?: RegExp;
  /** Options whose value is the next word. */
  readonly valued?: readonly string[];
  /** Words before the command that belong to the wrapper. */
  readonly skip?: number;
  /** `NAME=value` may stand in front of the command. */
  readonly sets?: boolean;
  /** Arguments are added that nobody knows. */
  readonly adds?: boolean;
  /** What it runs when nothing is named. */
  readonly alone?: string;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  // In bash it is a word of the shell, and variables may be set behind it.
  ['time', { flags: /^-[pv]$/, sets: true }],
  ['nice', { flags: /^(?:-\d+|--adjustment=-?\d+|-n-?\d+)$/, valued: ['-n'] }],
  ['nohup', {}],
  ['timeout', { flags: /^(?:--foreground|--preserve-status|-v|--signal=\w+|--kill-after=\w+)$/, valued: ['-s', '-k'], skip: 1 }],
  ['env', { sets: true }],
  ['command', { flags: /^-p$/ }],
  ['builtin', {}],
  ['exec', {}],
  ['setsid', { flags: /^-[cfw]+$/ }],
  ['stdbuf', { flags: /^-[ioe][0L]$/ }],
  ['ionice', { flags: /^-c\d$/, valued: ['-c', '-n'] }],
  ['sudo', { flags: /^-[nkH]$/, valued: ['-u', '-g'], sets: true }],
  ['doas', { flags: /^-n$/, valued: ['-u'] }],
  [
    'xargs',
    {
      flags: /^(?:-[0rt]+|-[nPL]\d+|--null|--no-run-if-empty)$/,
      valued: ['-n', '-P', '-L', '-d', '-s'],
      adds: true,
      alone: 'echo',
    },
  ],
  ['arch', { flags: /^-(?:x86_64h?|arm64e?|i386|\d+)$/ }],
  ['linux32', {}],
  ['linux64', {}],
  ['setarch', { skip: 1 }],
  ['caffeinate', { flags: /^-[disum]+$/, valued: ['-t', '-w'] }],
  ['cross-env', { sets: true }],
  ['cross-env-shell', { sets: true }],
  ['busybox', {}],
  ['toybox', {}],
  ['npx', { flags: /^(?:-y|--yes|--no|--no-install|--)$/ }],
  ['bunx', { flags: /^--$/ }],
  ['pnpx', { flags: /^--$/ }],
  ['uvx', {}],
]);

/** Programs that run a command behind one of these verbs, and how many words stand between. */
const VERB_RUNS: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(
  Object.entries({
    npm: { exec: 0, x: 0 },
    pnpm: { exec: 0, dlx: 0 },
    yarn: { exec: 0, dlx: 0 },
    bun: { x: 0 },
    uv: { run: 0 },
    poetry: { run: 0 },
    pipenv: { run: 0 },
    pdm: { run: 0 },
    rye: { run: 0 },
    hatch: { run: 0 },
    pipx: { run: 0 },
    bundle: { exec: 0 },
    conda: { run: 0 },
    mamba: { run: 0 },
    mise: { exec: 0, x: 0 },
    asdf: { exec: 0 },
    pyenv: { exec: 0 },
    rbenv: { exec: 0 },
    nodenv: { exec: 0 },
    volta: { run: 0 },
    fnm: { exec: 0 },
    corepack: { npm: 0, pnpm: 0, yarn: 0 },
    rustup: { run: 1 },
    op: { run: 0 },
  }),
);

const SHELLS =
  /^(?:sh|bash|bash-static|dash|ksh|ksh93|ksh2020|rksh|pdksh|oksh|loksh|lksh|ash|mksh|mksh-static|rbash|yash|posh|bosh|static-sh)$/;
/** Shells with a language of their own. */
const OTHER_SHELLS =
  /^(?:r?zsh\d?|zsh-static|fish|csh|tcsh|pwsh|powershell|nu|xonsh|elvish|cmd|cmd\.exe|rc|es|scsh|sash|osh|ysh|murex|lshell|rssh)$/;

function runBelow(name: string, args: readonly LineWord[], depth: number): Below {
  if (SHELLS.test(name)) return shellBelow(args, depth);
  if (OTHER_SHELLS.test(name)) return { unseen: `the language of ${name} is not gone into` };
  if (name === 'find') return findBelow(args, depth);
  if (name === 'fd' || name === 'fdfind') return fdBelow(args, depth);
  if (name === 'git') return gitBelow(args);
  const verbs = VERB_RUNS.get(name);
  if (verbs !== undefined) return verbBelow(verbs, args, depth);
  const taking = COMMAND_OPTIONS.get(name);
  if (taking !== undefined) return optionBelow(taking, args, depth);
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return {};
  // It only looks something up.
  if (name === 'command' && /^-[vV]$/.test(args[0]?.text ?? '')) return {};
  return wrapped(wrapper, args, depth);
}

function wrapped({ flags, valued = [], skip = 0, sets, adds, alone }: Wrapper, args: readonly LineWord[], depth: number): Below {
  const unseen = { unseen: 'what it runs cannot be told from its options' };
  let index = 0;
  for (; index < args.length; index += 1) {
    const { text, dynamic } = args[index] ?? { text: '', dynamic: true };
    if (dynamic) return unseen;
    if (!text.startsWith('-')) break;
    if (valued.includes(text)) {
      index += 1;
      if (args[index]?.dynamic !== false) return unseen;
    } else if (flags?.test(text) !== true) return unseen;
  }
  if (args.slice(index, index + skip).some(({ dynamic }) => dynamic)) return unseen;
  index += skip;
  const assignments: LineWord[] = [];
  for (; sets === true && /^[A-Za-z_]\w*=/.test(args[index]?.text ?? ''); index += 1) {
    const word = args[index];
    if (word !== undefined) assignments.push(word);
  }
  const rest = args.slice(index);
  const named = rest.length === 0 && alone !== undefined ? [{ text: alone, dynamic: false }] : rest;
  const [first] = named;
  if (first === undefined) return { own: 0 };
  if (RESERVED.has(first.text)) return unseen;
  const words = adds === true ? [...named, { text: '…', dynamic: true }] : named;
  return { own: 0, runs: [runOf({ assignments, words, redirected: false }, depth)] };
}

/** `sh -c LINE` is that line; a script is a file like any argument; without either it reads commands from its input. */
function shellBelow(args: readonly LineWord[], depth: number): Below {
  const [first, second] = args;
  if (first === undefined || first.dynamic || namesInput(first.text)) return { unseen: 'a shell reads commands from its input' };
  if (!first.text.startsWith('-') && !first.text.startsWith('+')) return {};
  if (!/^-[eux]*c$/.test(first.text) || second === undefined || second.dynamic || second.text.startsWith('-'))
    return { unseen: 'what this shell runs cannot be told from its options' };
  const runs = runsIn(second.text, depth);
  return runs.ok ? { own: 0, runs: runs.value } : { unseen: runs.error };
}

function findBelow(args: readonly LineWord[], depth: number): Below {
  const runs: Run[] = [];
  for (let index = 0; index < args.length; index += 1) {
    if (!/^-(?:exec|ok)(?:dir)?$/.test(args[index]?.text ?? '')) continue;
    const from = index + 1;
    while (index < args.length && args[index]?.text !== ';' && !(args[index]?.text === '+' && args[index - 1]?.text === '{}'))
      index += 1;
    const words = args.slice(from, index).map((word) => (word.text.includes('{}') ? { ...word, dynamic: true } : word));
    if (index >= args.length || words.length === 0) return { unseen: 'what find runs has no end' };
    runs.push(runOf({ assignments: [], words, redirected: false }, depth));
  }
  return { runs };
}

/** Options whose value is a command that the program runs. */
interface CommandOptions {
  readonly long: readonly string[];
  readonly short?: string;
}

const COMMAND_OPTIONS: ReadonlyMap<string, CommandOptions> = new Map<string, CommandOptions>([
  [
    'tar',
    {
      long: [
        'to-command',
        'use-compress-program',
        'info-script',
        'new-volume-script',
        'rmt-command',
        'rsh-command',
        'checkpoint-action',
      ],
      short: 'IF',
    },
  ],
  ['rsync', { long: ['rsh', 'rsync-path'], short: 'e' }],
  ['split', { long: ['filter'] }],
  ['sort', { long: ['compress-program'] }],
  ['rg', { long: ['pre', 'hostname-bin'] }],
  ['go', { long: ['exec', 'toolexec', 'vettool'] }],
  ['zip', { long: ['unzip-command'] }],
]);

/** What tar may do at a checkpoint beside running a command. */
const HARMLESS_ACTION = /^(?:dot|\.|echo|bell|ttyout|sleep|totals|wait)/;

/** A command among the options is looked at as one of the line; where it cannot be told, nobody can see what runs. */
function optionBelow({ long, short = '' }: CommandOptions, args: readonly LineWord[], depth: number): Below {
  const runs: Run[] = [];
  for (const [index, word] of args.entries()) {
    const [, name, given] = /^--?([a-z][a-z-]+)(?:=([\s\S]*))?$/.exec(word.text) ?? [];
    const letter = short === '' || word.text.startsWith('--') ? -1 : word.text.search(new RegExp(`[${short}]`));
    const isLong =
      name !== undefined && long.some((one) => one.startsWith(name)) && (word.text.startsWith('--') || long.includes(name));
    const isShort = !isLong && word.text.startsWith('-') && letter > 0;
    if (!isLong && !isShort) continue;
    const attached = isLong ? given : word.text.slice(letter + 1) || undefined;
    const value = attached === undefined ? args[index + 1] : { text: attached, dynamic: word.dynamic };
    if (name?.startsWith('checkpoint-') === true && HARMLESS_ACTION.test(value?.text ?? '')) continue;
    const found = value === undefined || value.dynamic ? undefined : runsIn(value.text.replace(/^exec=/, ''), depth);
    if (found?.ok !== true) return { unseen: 'what an option of it runs cannot be told' };
    runs.push(...found.value);
  }
  return { runs };
}

/** Where the verb is not the first word, or options follow it, nobody can tell which word is the command. */
function verbBelow(verbs: Readonly<Record<string, number>>, args: readonly LineWord[], depth: number): Below {
  const at = args.findIndex(({ text }) => Object.hasOwn(verbs, text));
  const first = args.findIndex(({ text, dynamic }) => dynamic || !text.startsWith('-'));
  if (args[first]?.dynamic === true) return { unseen: 'what it does is not known before it runs' };
  if (at < 0 || (at > first && !args.slice(0, first).some(({ text }) => text.startsWith('-')))) return {};
  const unseen = { unseen: 'what it runs cannot be told from its options' };
  const skip = verbs[args[at]?.text ?? ''] ?? 0;
  const behind = args.slice(at + 1);
  const words = (behind[0]?.text === '--' ? behind.slice(1) : behind).slice(skip);
  const [command] = words;
  if (at > 0 || command === undefined || command.dynamic || command.text.startsWith('-')) return unseen;
  return { own: at + 1, runs: [runOf({ assignments: [], words, redirected: false }, depth)] };
}

/** What follows `-x` is run for each file, with its name put in. */
function fdBelow(args: readonly LineWord[], depth: number): Below {
  const at = args.findIndex(({ text }) => /^(?:-[A-Za-z]*[xX]|--exec(?:-batch)?(?:=.*)?$)/.test(text));
  if (at < 0) return {};
  const words = args.slice(at + 1).map((word) => (word.text.includes('{') ? { ...word, dynamic: true } : word));
  if (words.length === 0 || !/^(?:-[A-Za-z]*[xX]|--exec(?:-batch)?)$/.test(args[at]?.text ?? ''))
    return { unseen: 'what it runs cannot be told from its options' };
  const named = [...words, { text: '…', dynamic: true }];
  return { own: at + 1, runs: [runOf({ assignments: [], words: named, redirected: false }, depth)] };
}

const GIT_VALUED: readonly string[] = ['-C', '--git-dir', '--work-tree', '--namespace', '--super-prefix'];

/** Its settings can name any command, also as an alias. */
function gitBelow(args: readonly LineWord[]): Below {
  for (let index = 0; index < args.length; index += 1) {
    const { text, dynamic } = args[index] ?? { text: '', dynamic: true };
    if (!dynamic && !text.startsWith('-'))
      return runsCommand(text, args.slice(index + 1)) ? { unseen: `git ${text} runs it` } : {};
    if (dynamic || /^(?:-c|--config-env|--exec-path)/.test(text)) return { unseen: `git with ${text} can run anything` };
    if (GIT_VALUED.includes(text)) index += 1;
  }
  return {};
}

/** Whether git runs a command that stands behind the verb: no rule sees it. */
function runsCommand(verb: string, args: readonly LineWord[]): boolean {
  const has = (words: RegExp): boolean => args.some(({ text }) => words.test(text));
  switch (verb) {
    case 'submodule':
      return has(/^foreach$/);
    case 'bisect':
    case 'hook':
      return has(/^run$/);
    case 'rebase':
      return has(/^(?:-[A-Za-z]*x|--ex)/);
    case 'difftool':
      return has(/^(?:-[A-Za-z]*x|--ex)/);
    case 'grep':
      return has(/^(?:-[A-Za-z]*O|--op)/);
    default:
      return verb === 'filter-branch';
  }
}
