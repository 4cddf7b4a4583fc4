/**
 * What exit code 0 of a command line says: which of its commands ran, and ended with 0. A command behind a pipe, before a
 * `;`, beside `|| true` or in the background is not among them, and neither is anything in a line that gives words another
 * meaning (functions, aliases, traps, PATH). In doubt nothing is proved.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { endsShell, mustFail, wordsAlone } from './ends.ts';
import { keptOutcome } from './kept-outcome.ts';
import { type LinePlace, movedByLine, placeBelow, START } from './line-folder.ts';
import { type Plain, plainCommand, riskyVariable, type Variables } from './plain-command.ts';
import {
  type Command,
  type CommandList,
  type ListItem,
  type Pipeline,
  parseCommandLine,
  type SimpleCommand,
} from './shell-syntax.ts';

export interface ProvedCommand extends Plain {
  /** Where it ran, relative to where the line did; a `..` in it goes up from where a link leads. */
  readonly folder: string;
  /** Something that may change files comes after it in the line. */
  readonly followed: boolean;
}

export interface ExitMeaning {
  readonly proved: readonly ProvedCommand[];
  /** Commands of the line that its exit code says nothing about, with the reason. */
  readonly hidden: readonly { readonly command: ProvedCommand; readonly why: string }[];
}

/** The failure says why nothing can be told about the line at all. */
export function exitMeaning(line: string): Result<ExitMeaning, string> {
  return meaningIn(line, 0, { variables: new Map(), exported: new Set(), place: START, keeps: true });
}

/** What a line begins with. */
interface Beginning {
  readonly variables: Variables;
  /** Which of these the programs see that are started. */
  readonly exported: ReadonlySet<string>;
  readonly place: LinePlace;
  /** Its shell is one that is known to have `$?` and `PIPESTATUS` as bash has them, or not at all. */
  readonly keeps: boolean;
}

function meaningIn(line: string, depth: number, { variables, exported, place, keeps }: Beginning): Result<ExitMeaning, string> {
  if (depth > DEPTH_MAX) return fail('shells are nested too deep in it');
  const parsed = parseCommandLine(line);
  if (!parsed.ok) return parsed;
  const walk: Walk = {
    ...{ depth, place, keeps },
    part: undefined,
    cameFrom: undefined,
    pushed: [],
    variables,
    exported,
    allExported: false,
    piped: false,
    lenient: false,
    uncertain: false,
    last: true,
    errexit: false,
    pipefail: false,
    poison: undefined,
    found: [],
  };
  walkList(walk, parsed.value, 'decides');
  if (walk.poison !== undefined) return fail(walk.poison);
  const found = walk.found.map((one, index) => {
    const later = walk.found.slice(index + 1).filter(({ shell }) => shell === undefined || shell !== one.shell);
    const followed = one.command.followed || later.some((other) => !(other.trivial || other.filters) || other.writes);
    return { ...one, command: { ...one.command, followed } };
  });
  const judged = found.map((one, index) => ({ ...one, why: one.why ?? between(walk.found, index) }));
  return ok({
    proved: judged.filter((one) => one.why === undefined && !one.trivial).map((one) => one.command),
    hidden: judged.flatMap(({ command, why, trivial }) => (why === undefined || trivial ? [] : [{ command, why }])),
  });
}

const MAKES = /^(?:touch|mkdir|cp|mv|ln|tee|install|truncate|dd|rsync|patch|unzip|tar)$/;
const TAKES = /^(?:rm|rmdir|unlink|mv|shred)$/;

/** A file that is there for this one command leaves no trace: what passed with it need not pass without. */
function between(found: Walk['found'], index: number): string | undefined {
  const { words } = found[index]?.command ?? { words: [] };
  if (MAKES.test(words[0] ?? '') || TAKES.test(words[0] ?? '')) return undefined;
  const made = found.slice(0, index).some(({ command, writes }) => writes || MAKES.test(command.words[0] ?? ''));
  const taken = found.slice(index + 1).some(({ command }) => TAKES.test(command.words[0] ?? ''));
  return made && taken ? 'what the line makes before it may be taken away again after it' : undefined;
}

const DEPTH_MAX = 4;

/** What the exit code of the whole says about a part: it must have ended with 0, or why nothing follows. */
type Says = 'decides' | { readonly nothing: string };

interface Walk {
  readonly depth: number;
  readonly keeps: boolean;
  place: LinePlace;
  /** Of the next pipeline only this part decides. */
  part: number | undefined;
  /** Where `cd -` goes. */
  cameFrom: LinePlace | undefined;
  /** Where `popd` goes, the next one last. */
  pushed: readonly LinePlace[];
  /** What was set so far, for all that follows. */
  variables: Variables;
  exported: ReadonlySet<string>;
  /** By `set -a`. */
  allExported: boolean;
  /** In a place where the shell passes over failures, `set -e` or not: before `&&` or `||`, behind `!`. */
  lenient: boolean;
  /** In a place that may not be reached: behind `&&` or `||`. */
  uncertain: boolean;
  /** Nothing of this shell comes after it, so that it may as well end here. */
  last: boolean;
  errexit: boolean;
  pipefail: boolean;
  /** Why nothing in the line means what it says. */
  poison: string | undefined;
  /** Behind a pipe. */
  piped: boolean;
  readonly found: Found[];
}

interface Found {
  command: ProvedCommand;
  why: string | undefined;
  trivial: boolean;
  writes: boolean;
  /** It has begun with what stands before the pipe, and only passes on what that prints. */
  filters?: boolean;
  /** The inner shell that it ran in: what follows it there is known. */
  shell?: object;
}

const FILTERS = /^(?:tee|[ef]?grep|sort|uniq|wc|nl|cut|tr)$/;

/** They cannot fail, or say nothing about the work. */
const TRIVIAL = new Set([
  ...['true', ':', 'echo', 'printf', 'test', '[', 'exit', 'return', 'cd', 'pushd', 'popd', 'pwd', 'set', 'export', 'unset'],
  ...['sleep', 'wait', 'which', 'type', 'date', 'whoami', 'umask', 'ls', 'cat', 'head', 'tail', 'false', 'readonly', 'uname'],
]);
/** They change what the words after them mean, or which exit code the line has. */
const MEDDLERS = new Set([
  ...['alias', 'unalias', 'trap', 'eval', 'source', '.', 'hash', 'enable', 'builtin', 'shopt', 'declare', 'typeset', 'local'],
  ...[
    'shift',
    'getopts',
    'read',
    'mapfile',
    'readarray',
    'bind',
    'complete',
    'kill',
    'setsid',
    'nohup',
    'disown',
    'bg',
    'fg',
    'let',
    'break',
  ],
]);
const SHELLS = /^(?:ba|da|z|k|a)?sh$/;

function walkList(walk: Walk, list: CommandList, says: Says): void {
  for (const [index, item] of list.entries()) {
    if (item.background) walk.poison ??= 'it leaves something running in the background';
    const last = index === list.length - 1;
    const kept = last ? undefined : keptOutcome(list, index, walk);
    walk.part = kept?.part;
    walkItem(walk, item, last || kept !== undefined ? says : saysBeforeOthers(walk, item, says), last);
  }
}

/** An item that others follow counts only where its failure ends the shell: `set -e`, or `… || exit 1`. */
function saysBeforeOthers(walk: Walk, item: ListItem, says: Says): Says {
  if (says !== 'decides') return says;
  if (walk.errexit && !walk.lenient && item.rest.length === 0 && !item.first.negated) return says;
  const end = item.rest.at(-1);
  if (end?.operator === '||' && mustFail(end.pipeline) && endsShell(end.pipeline)) return says;
  return { nothing: 'the line goes on after it, whatever its outcome' };
}

function walkItem(walk: Walk, item: ListItem, says: Says, isLast: boolean): void {
  const parts = [item.first, ...item.rest.map(({ pipeline }) => pipeline)];
  // `a && b || c`: as long as no `||` follows that might succeed, all that came before must have.
  const alternative = item.rest.findLastIndex(({ operator, pipeline }) => operator === '||' && !mustFail(pipeline));
  for (const [index, pipeline] of parts.entries()) {
    const operator = index === 0 ? '&&' : (item.rest[index - 1]?.operator ?? '&&');
    if (operator === '||' && mustFail(pipeline)) continue;
    const unsure = index <= alternative + 1 && alternative >= 0;
    const { lenient, uncertain, last } = walk;
    walk.last &&= isLast && index === parts.length - 1;
    checkExit(walk, pipeline);
    walk.lenient ||= index < parts.length - 1 || pipeline.negated;
    walk.uncertain ||= index > 0;
    walkPipeline(walk, pipeline, unsure ? { nothing: 'what follows `||` takes its place when it fails' } : says);
    Object.assign(walk, { lenient, uncertain, last });
  }
}

/** An `exit` that is not the end of the line may keep what follows from running at all. */
function checkExit(walk: Walk, pipeline: Pipeline): void {
  const words = wordsAlone(pipeline);
  if (!walk.last && (words?.[0] === 'exit' || words?.[0] === 'return' || words?.[0] === 'exec'))
    walk.poison ??= `it may end early, by \`${words.join(' ')}\``;
}

function walkPipeline(walk: Walk, { negated, commands }: Pipeline, says: Says): void {
  const { part } = walk;
  walk.part = undefined;
  for (const [index, command] of commands.entries()) {
    const decides = part === undefined ? walk.pipefail || index === commands.length - 1 : index === part;
    const own: Says = negated
      ? { nothing: '`!` turns its exit code round' }
      : decides || says !== 'decides'
        ? says
        : { nothing: 'the exit code is that of what stands behind the pipe' };
    // Each part of a pipeline has a shell of its own.
    const { piped } = walk;
    walk.piped = index > 0;
    if (commands.length > 1) inOwnShell(walk, () => walkCommand(walk, command, own));
    else walkCommand(walk, command, own);
    walk.piped = piped;
  }
}

function walkCommand(walk: Walk, command: Command, says: Says): void {
  if (command.kind === 'group') walkList(walk, command.body, says);
  else if (command.kind === 'subshell') inOwnShell(walk, () => walkList(walk, command.body, says));
  else walkSimple(walk, command, says);
}

/** What is set there ends there, and so does an `exit`. */
function inOwnShell(walk: Walk, inside: () => void): void {
  const { place, cameFrom, pushed, variables, exported, allExported, errexit, pipefail, last } = walk;
  walk.last = true;
  inside();
  Object.assign(walk, { place, cameFrom, pushed, variables, exported, allExported, errexit, pipefail, last });
}

function walkSimple(walk: Walk, command: SimpleCommand, says: Says): void {
  const plain = plainCommand(command, walk.variables, walk.exported);
  const [name] = plain.words;
  // Before a command it belongs to that command; set for the line, it steers all that follow without being seen there.
  if (name === undefined || name === 'export' || name === 'readonly') setForLine(walk, command);
  const risky = [...plain.given.keys(), ...setOnTheWay(command)].find((one) => riskyVariable(one) === 'always');
  if (risky !== undefined) walk.poison ??= decides(risky);
  if (name === undefined) return;
  if (MEDDLERS.has(name) || (name === 'printf' && plain.words[1]?.startsWith('-v'))) {
    walk.poison ??= `\`${name}\` may change what its commands or its exit code mean`;
    return;
  }
  const proved: ProvedCommand = { ...plain, folder: folderOf(walk.place.folder, plain.inFolder), followed: false };
  const why = says === 'decides' ? plain.proveNothing : says.nothing;
  if (SHELLS.test(name) && plain.words.some((word) => /^-\w*c$/.test(word))) {
    walkInner(walk, proved, why);
    return;
  }
  const filters = walk.piped && FILTERS.test(name);
  walk.found.push({ command: proved, why, trivial: TRIVIAL.has(name), writes: command.writes, filters });
  const moves = name === 'cd' || name === 'pushd' || name === 'popd';
  if ((moves || name === 'set') && walk.uncertain && says !== 'decides')
    walk.poison ??= `whether it comes to \`${name}\` is not known`;
  if (name === 'set') applySet(walk, plain.words);
  if (moves) applyMove(walk, plain);
}

/** `${PATH:=fake}`, and `unset PATH`, which leaves the choice to the shell. */
function setOnTheWay({ assignments, words }: SimpleCommand): readonly string[] {
  const texts = [...assignments.map(({ value }) => value), ...words.map(({ text }) => text)];
  const set = texts.flatMap((text) => [...text.matchAll(/\$\{([A-Za-z_]\w*):?=/g)].map(([, name = '']) => name));
  return words[0]?.text === 'unset' ? [...set, ...texts] : set;
}

const decides = (variable: string): string => `it sets ${variable}, which decides what its commands are`;

function setForLine(walk: Walk, { assignments, words }: SimpleCommand): void {
  const handsOn = words[0]?.text === 'export';
  const exported = new Set([...walk.exported, ...(walk.allExported ? assignments.map(({ name }) => name) : [])]);
  const variables = new Map([...walk.variables, ...assignments.map(({ name, value }): [string, string] => [name, value])]);
  for (const { text, dynamic } of words.slice(1)) {
    const [, name, value] = /^([A-Za-z_]\w*)(?:\+?=([\s\S]*))?$/.exec(text) ?? [];
    if (name !== undefined) {
      variables.set(name, value ?? variables.get(name) ?? `$${name}`);
      if (handsOn || walk.allExported) exported.add(name);
    } else if (dynamic) walk.poison ??= 'which variables it sets is known to the shell alone';
  }
  const risky = [...variables.keys()].find((one) => !walk.variables.has(one) && riskyVariable(one) !== undefined);
  if (risky !== undefined) walk.poison ??= decides(risky);
  walk.variables = variables;
  walk.exported = exported;
}

/** Where it goes must stand in the line; `cd` alone does not say it. */
function applyMove(walk: Walk, { words: [name = '', ...rest], dynamic }: Plain): void {
  const isBack = name === 'popd' || (name === 'cd' && rest.at(-1) === '-');
  const back = name === 'popd' ? walk.pushed.at(-1) : walk.cameFrom;
  const isPlain = rest.length === (name === 'popd' ? 0 : 1);
  const target = isBack ? (isPlain ? back : undefined) : movedByLine(walk.place, rest, dynamic, walk.variables);
  if (target === undefined) {
    walk.poison ??= `where it goes by \`${[name, ...rest].join(' ')}\` is known to the shell alone`;
    return;
  }
  if (name === 'pushd') walk.pushed = [...walk.pushed, walk.place];
  if (name === 'popd') walk.pushed = walk.pushed.slice(0, -1);
  walk.cameFrom = walk.place;
  walk.place = target;
}

/** `sh -c '…'`: the line inside. */
function walkInner(walk: Walk, command: ProvedCommand, why: string | undefined): void {
  const at = command.words.findIndex((word) => /^-\w*c$/.test(word));
  const flags = command.words.slice(1, at + 1);
  if (flags.some((flag) => /^-\w*[li]/.test(flag) || flag.startsWith('--') || flag.startsWith('+'))) {
    walk.poison ??= 'a login or interactive shell reads files that may give its commands another meaning';
    return;
  }
  const options = flags.map((flag) => flag.replace('c', '')).filter((flag) => /^-\w/.test(flag));
  const rest = command.words.slice(at + 1);
  const pipefail = rest[0] === 'pipefail' || flags.includes('pipefail');
  const script = rest[0] === 'pipefail' ? rest[1] : rest[0];
  const named = flags.flatMap((flag, index) => (/^-\w*o$/.test(flag) ? [flags[index + 1] ?? 'pipefail'] : []));
  const strange = named.find((option) => !SET_OPTIONS.test(option));
  if (strange !== undefined) walk.poison ??= `with \`-o ${strange}\` the shell may pass over commands`;
  if (script === undefined || command.dynamic) {
    walk.poison ??= 'what an inner shell runs is not in the line';
    return;
  }
  const before = options.length === 0 ? '' : `set ${options.join(' ')}${pipefail ? ' pipefail' : ''}\n`;
  const keeps = walk.keeps && /^(?:ba|da)?sh$/.test(command.words[0] ?? '');
  const place: LinePlace = { folder: command.folder, physical: walk.place.physical || command.inFolder !== undefined };
  const inner = meaningIn(before + script, walk.depth + 1, {
    variables: command.given,
    exported: command.handedOn,
    place,
    keeps,
  });
  if (!inner.ok) {
    walk.poison ??= inner.error;
    return;
  }
  const found = { trivial: false, writes: false, shell: {} };
  for (const one of inner.value.proved) walk.found.push({ command: one, why, ...found });
  for (const one of inner.value.hidden) walk.found.push({ command: one.command, why: one.why, ...found });
}

/** They change nothing about what is run, or where. */
const SET_OPTIONS =
  /^(?:errexit|pipefail|nounset|xtrace|verbose|noglob|noclobber|allexport|errtrace|functrace|braceexpand|hashall|notify|monitor)$/;

function applySet(walk: Walk, words: readonly string[]): void {
  for (const [index, word] of words.entries()) {
    const on = word.startsWith('-');
    if (word === '--') return;
    if (!on && !word.startsWith('+')) continue;
    const isNamed = /^[-+]\w*o$/.test(word);
    if (!/^[-+][abefhmouvxBCEHT]*$/.test(word) || (isNamed && !SET_OPTIONS.test(words[index + 1] ?? 'errexit')))
      walk.poison ??= `with \`set ${word}\` the shell may pass over commands`;
    if (/^[-+]\w*e/.test(word)) walk.errexit = on;
    if (/^[-+]\w*a/.test(word)) walk.allExported = on;
    if (!isNamed) continue;
    if (words[index + 1] === 'allexport') walk.allExported = on;
    if (words[index + 1] === 'errexit') walk.errexit = on;
    if (words[index + 1] === 'pipefail') walk.pipefail = on;
  }
}

/** A program that is told where to work goes there from where it was started. */
function folderOf(from: string, to: string | undefined): string {
  if (to === undefined || to === '') return from;
  return placeBelow({ folder: from, physical: true }, to);
}
