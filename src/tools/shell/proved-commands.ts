/**
 * What a command line that ended with 0 has proved, as it is recorded. The line is taken apart, the programs are looked for
 * where the shell found them, and a script that cannot fail proves nothing.
 */

import { accessSync, constants, realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { exitMeaning, type ProvedCommand } from '../../permissions/exit-code.ts';
import { folderNamed } from './folder-named.ts';
import { filesOnTheWay, idleMake, RUNS_OTHERS } from './on-the-way.ts';
import { strangeScriptShell } from './script-shell.ts';
import { silentTests } from './silent-tests.ts';
import { looksLikeTestRun } from './test-commands.ts';

/** A script that could not be read as commands: a file below the folder of the line, or a script of a package.json there. */
export interface Unread {
  path: string;
  script?: string;
}

export interface Proof {
  readonly proves: {
    command: string;
    folder?: string;
    program?: string;
    followed?: boolean;
    unread?: Unread;
    through?: string[];
  }[];
  readonly unproved: { command: string; why: string }[];
}

/** The one form in which commands are compared: words as they would have to be written, variables that steer it in front. */
export function commandText({ words, variables }: Pick<ProvedCommand, 'words' | 'variables'>): string {
  return [...variables, ...words]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/** What the output says: how many tests passed, where it says so, and whether some ended before they ran. */
export interface TestOutput {
  readonly tests: number | undefined;
  readonly early: string | undefined;
  readonly output: string;
}

/** `environment` is the one that the line ran in. */
export async function proofOf(line: string, folder: string, environment: Environment, printed: TestOutput): Promise<Proof> {
  const searchPath = environment['PATH'] ?? '';
  const { tests, early } = printed;
  const meaning = exitMeaning(line);
  if (!meaning.ok) return { proves: [], unproved: [{ command: line.slice(0, 200), why: meaning.error }] };
  const proves: Proof['proves'] = [];
  const unproved: Proof['unproved'] = meaning.value.hidden.map(({ command, why }) => ({ command: commandText(command), why }));
  for (const [index, command] of meaning.value.proved.entries()) {
    const at = folderNamed(folder, command.folder);
    const { words, program } = located(command, at, searchPath);
    const text = commandText({ ...command, words: relativeWords(words, at) });
    const without =
      early ??
      withoutTests(text, line, tests) ??
      silentTests(words, { after: before(meaning.value.proved, index), folder: at, output: printed.output }) ??
      idleMake(words, at, printed.output) ??
      (INTERPRETERS.test(words[0] ?? '')
        ? undefined
        : await strangeScriptShell({ folder: at, home: environment['HOME'], program: lookUp('npm', at, searchPath) }));
    const behind = without === undefined ? await behindScript(words, at, printed, 0) : { empty: without };
    if (behind?.empty !== undefined) {
      unproved.push({ command: text, why: behind.empty });
      continue;
    }
    const place = relative(folder, at);
    const through = filesOnTheWay(words, folder, at);
    proves.push({
      command: text,
      ...(place === '' ? {} : { folder: place }),
      ...present({ program }),
      ...(command.followed ? { followed: true } : {}),
      ...present({ unread: behind && { ...behind.unread, path: relative(folder, behind.unread.path) } }),
      ...(through.length === 0 ? {} : { through: [...through] }),
    });
  }
  return { proves, unproved };
}

/** Arguments that name a place below the folder by its whole path mean the same as without it. */
export function relativeWords(words: readonly string[], folder: string): string[] {
  return words.map((word) => (isAbsolute(word) && word.startsWith(`${folder}/`) ? word.slice(folder.length + 1) : word));
}

/** `/tmp/npm` is not npm: a path counts as the program's name only if the name, looked for, leads to the same file. */
function located(command: ProvedCommand, folder: string, searchPath: string): { words: readonly string[]; program?: string } {
  const [name = '', ...rest] = command.words;
  const found = realPath(name.includes('/') ? resolve(folder, name) : lookUp(name, folder, searchPath));
  if (command.program === undefined) return { words: command.words, ...present({ program: found }) };
  const written = realPath(resolve(folder, command.program));
  const base = present({ program: written });
  const isBin = command.program.includes('node_modules/.bin/');
  if (written === found || isBin || !command.program.startsWith('/')) return { words: command.words, ...base };
  return { words: [command.program, ...rest], ...base };
}

function lookUp(name: string, folder: string, searchPath: string): string | undefined {
  for (const place of searchPath.split(':')) {
    const path = join(resolve(folder, place), name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return undefined;
}

function realPath(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : realpathSync(path);
  } catch {
    return undefined;
  }
}

const SCRIPT_DEPTH = 3;
const NO_TESTS_NEEDED = /--pass-?with-?no-?tests/i;

/** A test run without tests passes, with some runners and some flags. */
function withoutTests(command: string, line: string, tests: number | undefined): string | undefined {
  if (tests === 0 && looksLikeTestRun(command)) return 'no test passed in it';
  return tests === undefined && NO_TESTS_NEEDED.test(line)
    ? 'it passes without any test, and how many ran is not known'
    : undefined;
}

/** What speaks against a script behind a command: it cannot fail, or nobody can tell. */
type Behind = { readonly empty: string; readonly untold?: true } | { readonly empty?: undefined; readonly unread: Unread };

/** Why a script behind the command cannot fail, if it cannot: `"test": "true"`, a file with `exit 0` at its end. */
async function behindScript(
  words: readonly string[],
  folder: string,
  printed: TestOutput,
  depth: number,
): Promise<Behind | undefined> {
  const [name = '', verb = '', script = ''] = words;
  if (depth > SCRIPT_DEPTH) return undefined;
  if (/^(?:npm|pnpm|yarn|bun)$/.test(name)) {
    const key = verb === 'run' ? script : verb;
    const found = await packageScripts(folder);
    const text = found?.scripts[key];
    if (found === undefined || typeof text !== 'string') return undefined;
    const without = withoutTests('', text, printed.tests);
    if (without !== undefined) return { empty: without };
    const source = { what: `its script \`${text.slice(0, 80)}\``, unread: { path: found.path, script: key } };
    return await behindLine(text, folder, printed, depth, source);
  }
  const path = resolve(folder, name);
  const text = /\.(?:sh|bash)$|\//.test(name) ? await textIn(path) : undefined;
  const isShell = /\.(?:sh|bash)$/.test(name) || /^#!.*sh\b/.test(text ?? '');
  if (!isShell && name.startsWith('./')) return { unread: { path } };
  if (!isShell) return await behindProgram(words, folder);
  if (text === undefined) return { unread: { path } };
  return await behindLine(text, folder, printed, depth, { what: `the script ${name}`, unread: { path } });
}

const INTERPRETED = /^(?!-).*\.(?:[cm]?[jt]s|py|rb|pl|php)$/;
const INTERPRETERS = /^(?:node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php)$/;

/** A program that runs others can swallow how they end, and nobody can read that from it. */
async function behindProgram([name = '', ...rest]: readonly string[], folder: string): Promise<Behind | undefined> {
  if (rest.includes('--test')) return undefined;
  const file = INTERPRETED.test(name) ? name : INTERPRETERS.test(name) ? rest.find((word) => INTERPRETED.test(word)) : undefined;
  if (file === undefined) return undefined;
  const path = resolve(folder, file);
  const text = await textIn(path);
  return text !== undefined && RUNS_OTHERS.test(text) ? { unread: { path } } : undefined;
}

async function behindLine(
  text: string,
  folder: string,
  printed: TestOutput,
  depth: number,
  { what, unread }: { readonly what: string; readonly unread: Unread },
): Promise<Behind | undefined> {
  const meaning = exitMeaning(text);
  // What is not understood may well fail; functions and loops are the daily bread of scripts. It depends on who wrote it.
  if (!meaning.ok) return /^`trap`|ends? early/.test(meaning.error) ? { empty: `${what}: ${meaning.error}` } : { unread };
  const [hidden] = meaning.value.hidden;
  if (meaning.value.proved.length === 0)
    return {
      empty:
        hidden === undefined
          ? `${what} cannot fail`
          : `${what} hides the exit code of ${commandText(hidden.command)}: ${hidden.why}`,
    };
  const all: (Behind | undefined)[] = [];
  for (const [index, { words, folder: place }] of meaning.value.proved.entries()) {
    const at = folderNamed(folder, place);
    const silent = silentTests(words, { after: before(meaning.value.proved, index), folder: at, output: printed.output });
    if (silent !== undefined) return { empty: `${what}: ${silent}`, untold: true };
    all.push(await behindScript(words, at, printed, depth + 1));
  }
  // Another command that may fail says nothing about tests that did not run.
  return all.find((one) => one?.empty !== undefined && one.untold) ?? (all.includes(undefined) ? undefined : all.at(-1));
}

const before = (commands: readonly ProvedCommand[], index: number): (readonly string[])[] =>
  commands.slice(0, index).map(({ words }) => words);

async function packageScripts(
  folder: string,
): Promise<{ readonly path: string; readonly scripts: Readonly<Record<string, unknown>> } | undefined> {
  let text: string | undefined;
  let path = '';
  // npm goes up to the nearest one.
  for (let at = folder; text === undefined; at = dirname(at)) {
    path = join(at, 'package.json');
    text = await textIn(path);
    if (dirname(at) === at) break;
  }
  const parsed = text === undefined ? undefined : parseJson(text);
  const scripts = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value['scripts'] : undefined;
  return scripts !== undefined && isJsonObject(scripts) ? { path, scripts } : undefined;
}

async function textIn(path: string): Promise<string | undefined> {
  try {
    const bytes = await readFile(path);
    return bytes.length > limits.scriptBytes ? undefined : bytes.toString();
  } catch {
    return undefined;
  }
}
