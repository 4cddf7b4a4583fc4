/**
 * One command without what does not change its meaning: wrappers such as `time`, `env` and `npx`, harmless variables and
 * flags, the many ways to write `npm test`. Two that come out the same did the same.
 */
import { posix } from 'node:path';
import { present } from '../base/present.ts';
import type { SimpleCommand } from './shell-syntax.ts';
import { startsUnseen } from './starters.ts';
import { strangeWrapper, unwrapped } from './wrappers.ts';

/** By name; the value as it is written. */
export type Variables = ReadonlyMap<string, string>;

export interface Plain {
  /** The program and its arguments, in the one form that is compared. */
  readonly words: readonly string[];
  /** The program as it was written, where that was a path. */
  readonly program?: string | undefined;
  /** Variables that steer the program and therefore belong to the command. */
  readonly variables: readonly string[];
  /** All variables that it is started with, as far as the line says so; an inner shell hands them on. */
  readonly given: Variables;
  /** Which of these a program sees that it starts. */
  readonly handedOn: ReadonlySet<string>;
  /** A part of it is known to the shell alone. */
  readonly dynamic: boolean;
  /** The folder it is told to work in, by a flag of its own. */
  readonly inFolder?: string | undefined;
  /** Why its exit code says nothing: it runs nothing, or only what stands in the line itself. */
  readonly proveNothing?: string | undefined;
}

/** Whoever sets one of these decides what runs, so that nothing in the line means what it says. */
const HIJACKING =
  /^(?:PATH|ENV|BASH_ENV|SHELL|SHELLOPTS|BASHOPTS|IFS|HOME|CDPATH|LD_\w+|DYLD_\w+|BASH_FUNC\w*|npm_config_\w+|NPM_CONFIG_\w+)$/;
/** These steer a program: a command with one is another command than the one without. */
const STEERING = new RegExp(
  `^(?:${[
    ...['NODE_\\w+', 'DENO_\\w+', 'BUN_\\w+', 'JEST_\\w+', 'VITEST\\w*', 'MOCHA_\\w+', 'TS_NODE_\\w+', 'TSX_\\w+'],
    ...['PYTHON\\w+', 'PYTEST_\\w+', 'TOX\\w*', 'NOX\\w*', 'PERL5\\w+', 'RUBY\\w+', 'SPEC_OPTS', 'TESTOPTS', 'BUNDLE_\\w+'],
    ...['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS', 'MAVEN_\\w+', 'GRADLE_\\w+', 'DOTNET_\\w+', 'GTEST_\\w+', 'CTEST_\\w+'],
    ...['MAKE\\w*', 'GOFLAGS', 'GOENV', 'RUST\\w+', 'CARGO_\\w+', 'XDG_CONFIG_HOME', 'GIT_\\w+'],
  ].join('|')})$`,
);

/** A makefile sees every variable of the shell that runs it, handed on or not. */
const MAKE = /^(?:[gb]?make|just|task|rake)$/;
/** Tests see every variable, so a command with one is another command (`SKIP=1 npm test`), except for these. */
const NEUTRAL = new RegExp(
  `^(?:${[
    ...['CI', 'TERM', 'TZ', 'LANG', 'LC_\\w+', 'NO_COLOR', 'FORCE_COLOR', 'CLICOLOR(?:_FORCE)?', 'PY_COLORS', 'COLUMNS', 'LINES'],
    ...['DEBUG', 'NODE_ENV', 'NODE_NO_WARNINGS', 'PYTHONUNBUFFERED', 'PYTHONDONTWRITEBYTECODE', 'RUST_BACKTRACE', 'RUST_LOG'],
    ...['PAGER', 'GIT_PAGER', 'EDITOR', 'TMPDIR', 'NO_UPDATE_NOTIFIER', 'DO_NOT_TRACK', '\\w+_TELEMETRY_DISABLED'],
  ].join('|')})$`,
);

export function riskyVariable(name: string): 'always' | 'when_unsaid' | undefined {
  if (HIJACKING.test(name)) return 'always';
  return STEERING.test(name) && !NEUTRAL.test(name) ? 'when_unsaid' : undefined;
}

const INTERPRETERS = /^(?:node|nodejs|deno|bun|python[\d.]*|ruby|perl|php|lua|Rscript|tsx|ts-node)$/;
const INLINE = new Set(['-e', '-c', '-p', '-pe', '-r', '-E', '--eval', '--print', 'eval', '-']);
/** With one of these it says something about itself, or shows what it would do. */
const IDLE = new Set([
  ...['--version', '--help', '-h', '--collect-only', '--co', '--list', '--listTests', '--no-run', '--dry-run', '--if-present'],
  ...['--showConfig', '--show-config', '--just-print', '--recon', '--ignore-errors', '--exit-zero', '--exit-0'],
  ...['--list-tests', '--setup-plan', '--fixtures', '--markers', '-DskipTests', '-DskipTests=true'],
  ...['-Dmaven.test.skip', '-Dmaven.test.skip=true'],
]);
/** A reporter of one's own is a part of what runs: it may end the runner as it likes. These come with the runners. */
const REPORTERS =
  'agent|basic|default|dot|dots|github-actions|hanging-process|html|json|junit|landing|lcov|line|list|markdown|min|minimal|nyan|progress|silent|spec|summary|tap|tap-flat|tree|verbose';
const HARMLESS = new RegExp(
  `^(?:--silent|--color|--no-color|--colors|--no-colors|--no-progress|--color=.*|--(?:test-)?reporter=(?:${REPORTERS})|--loglevel=.*)$`,
);
const SHELL = /^(?:ba|da|z|k|a)?sh$/;
const MANAGERS = new Set(['npm', 'pnpm', 'yarn', 'bun']);

/** `around` is what was set before it in the line, or for the shell it runs in, and `exported` which of it programs see. */
export function plainCommand(command: SimpleCommand, around: Variables, exported: ReadonlySet<string> = NONE): Plain {
  const dynamic = command.words.some((word) => word.dynamic);
  const { words: own, ...before } = unwrapped(command.words.map(({ text }) => text));
  const assigned = new Map([...command.assignments.map(({ name, value }) => [name, value] as const), ...before.assigned]);
  const [first = '', ...rest] = own;
  const program = first.includes('/') ? first : undefined;
  const { words, inFolder } = canonical(program === undefined ? first : programName(first), rest);
  const fedCode = command.fed && isInterpreter(words) ? INLINE_CODE : undefined;
  const proveNothing = strangeWrapper(own) ?? idle(words) ?? startsUnseen(words) ?? fedCode;
  const given = new Map([...around, ...assigned]);
  const isSeen = (name: string): boolean => (assigned.has(name) || exported.has(name)) && !NEUTRAL.test(name);
  const steering = [...given].filter(([name]) => riskyVariable(name) !== undefined || isSeen(name) || steersMake(name, words));
  const variables = steering.map(([name, value]) => `${name}=${value}`).sort();
  const handedOn = new Set([...exported, ...assigned.keys()]);
  return { words, program, variables, given, handedOn, dynamic, inFolder: within(before.inFolder, inFolder), proveNothing };
}

const NONE: ReadonlySet<string> = new Set();

/** `env -C web npm --prefix inner test`. */
function within(outer: string | undefined, inner: string | undefined): string | undefined {
  if (outer === undefined || inner === undefined) return inner ?? outer;
  return inner.startsWith('/') ? inner : `${outer}/${inner}`;
}

function steersMake(variable: string, [name = '']: readonly string[]): boolean {
  return MAKE.test(name) && !NEUTRAL.test(variable);
}

export const INLINE_CODE = 'its code stands in the line itself, so it shows no more than whoever wrote the line wanted';

/** `/usr/bin/npm` may be npm, or not: whoever compares also looks at the file. A script keeps its path. */
function programName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (path.startsWith('/') || path.includes('node_modules/.bin/')) return name;
  const bare = path.replace(/^(?:\.\/)+/, '');
  // `./npm` is a file of this folder and not npm; `./check.sh` is the same as `sh check.sh`.
  return /^[^/.]+$/.test(bare) ? `./${bare}` : bare;
}

function canonical(name: string, rest: readonly string[]): { words: readonly string[]; inFolder?: string | undefined } {
  // The line of an inner shell is none of its arguments.
  const isLine = SHELL.test(name) && rest.some((word) => /^-\w*c$/.test(word));
  if (isLine) return { words: [name, ...rest] };
  const args = rest.filter((word) => !HARMLESS.test(word)).map((word) => word.replace(/^(?:\.\/)+(?=.)/, ''));
  if (MANAGERS.has(name)) return manager(name, args);
  if (name === 'npx' || name === 'bunx' || name === 'pnpx')
    return canonical('', args).words.length > 0 ? runBy(args) : { words: [name] };
  if (/^python[\d.]*$/.test(name) && args[0] === '-m' && args[1] !== undefined)
    return { words: withoutShow(args[1], args.slice(2)) };
  if (/^(?:ba|da)?sh$/.test(name) && args[0] !== undefined && !args[0].startsWith('-')) return { words: args };
  if (name === 'make' || name === 'gmake') {
    // They change what it prints.
    const own = args.filter((word) => word !== '-s' && word !== '--no-print-directory');
    return own[0] === '-C' && own[1] !== undefined
      ? { words: ['make', ...own.slice(2)], inFolder: own[1] }
      : { words: [name, ...own] };
  }
  return { words: name === '' ? args : withoutShow(name === 'nodejs' ? 'node' : name, args) };
}

/** Options of runners that change how tests are shown, or that make them stricter; those with a value first. */
const SHOWS: readonly (readonly [runner: RegExp, options: RegExp])[] = [
  [
    /^node .*(?<!\S)--test(?!\S)/,
    new RegExp(`^--test-reporter (?:${REPORTERS})$|^--test-concurrency[ =]\\d+$|^--experimental-test-coverage$`),
  ],
  [/^(?:vitest|jest)(?!\S)/, new RegExp(`^--reporter (?:${REPORTERS})$|^--(?:coverage|verbose|ci|runInBand|no-cache)$`)],
  [/^(?:pytest|unittest)(?!\S)/, /^(?:-v+|-q+|-x|-s|--verbose|--quiet|--tb=\w+)$/],
];

function withoutShow(name: string, args: readonly string[]): string[] {
  const line = [name, ...args].join(' ');
  const shows = SHOWS.find(([runner]) => runner.test(line))?.[1];
  const words = [name];
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? '';
    if (shows?.test(`${word} ${args[at + 1] ?? ''}`) === true) at += 1;
    else if (shows?.test(word) !== true) words.push(word);
  }
  return words;
}

function runBy(args: readonly string[]): { words: readonly string[] } {
  const from = args.findIndex((word) => !/^(?:-y|--yes|--no-install|--no|--)$/.test(word));
  const [name, ...rest] = from < 0 ? ['npx'] : args.slice(from);
  return { words: withoutShow(name ?? '', rest) };
}

/** `npm t`, `npm run test`, `npm --prefix web run-script test`: all of them `npm test`. */
function manager(name: string, given: readonly string[]): { words: readonly string[]; inFolder?: string | undefined } {
  const words: string[] = [];
  let inFolder: string | undefined;
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? '';
    const inline = /^--(?:prefix|dir|cwd)=(.*)$/.exec(word)?.[1];
    if (word === '--') {
      words.push(...given.slice(index));
      break;
    }
    if (inline !== undefined) inFolder = inline;
    else if (word === '--prefix' || word === '-C' || word === '--dir' || word === '--cwd') {
      index += 1;
      inFolder = given[index];
    } else if ((word === '-w' || word === '--workspace') && given[index + 1] !== undefined) {
      index += 1;
      words.push(`--workspace=${given[index]}`);
    } else if (word !== '-s') words.push(word === '-ws' ? '--workspaces' : word);
  }
  const [verb, script, ...more] = words;
  // They take it apart themselves, and do not look where links lead.
  const place = inFolder === undefined ? undefined : posix.normalize(inFolder);
  const placed = (list: readonly string[]) => ({ words: list, ...present({ inFolder: place }) });
  if ((verb === 'exec' || verb === 'dlx' || verb === 'x') && script !== undefined) return placed(runBy(words.slice(1)).words);
  if (verb === 't' || verb === 'tst') return placed([name, 'test', ...words.slice(1)]);
  if ((verb === 'run' || verb === 'run-script') && script === 'test') return placed([name, 'test', ...more]);
  if (verb === 'run-script') return placed([name, 'run', ...words.slice(1)]);
  return placed([name, ...words]);
}

function isInterpreter([name = '']: readonly string[]): boolean {
  return INTERPRETERS.test(name) || SHELL.test(name);
}

function idle(words: readonly string[]): string | undefined {
  const [name = '', ...rest] = words;
  const end = rest.indexOf('--');
  const own = end < 0 ? rest : rest.slice(0, end);
  const flag = own.find((word) => IDLE.has(word)) ?? rest.slice(end + 1).find((word) => end >= 0 && IDLE.has(word));
  if (flag !== undefined) return `with ${flag} it need not run anything`;
  if ((MANAGERS.has(name) || name === 'node') && own.includes('-v')) return 'with -v it only shows its version';
  if (/^g?make$/.test(name) && own.some((word) => /^-[a-z]*[nikqt]/.test(word)))
    return 'with these flags it runs nothing, or passes over failures';
  if (INTERPRETERS.test(name) && own.some((word) => INLINE.has(word) || /^--eval=/.test(word))) return INLINE_CODE;
  return undefined;
}
