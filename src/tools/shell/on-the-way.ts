/**
 * Which files of the project a command goes through before it comes to what it is about: scripts of `package.json`, shell
 * scripts and what they source, makefiles and what they include, programs that run others. Whoever changes one of them decides
 * what the command does. Read from their texts, generously: a file too many does no harm unless somebody changed it.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { looksLikeTestRun } from './test-commands.ts';

const DEPTH = 4;
const WRAPPER = /^(?:env|time|timeout|command|exec|nice|npx|sudo|-y|--yes|[\d.]+[smhd]?|[A-Za-z_]\w*=.*|@|-|!|then|do|else|if)$/;
const MANAGER = /^(?:npm|pnpm|yarn|bun)$/;
const SHELL = /^(?:ba|da|z|k)?sh$/;
const SOURCES = /^(?:\.|source)$/;
const INTERPRETER = /^(?:node|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php)$/;
const MAKE = /^g?make$/;
const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const BRINGS =
  /^(?:--import|--require|-r|--loader|--experimental-loader|--(?:test-)?reporter|--config|-c|--setupFiles|-f|--file)$/;
/** It starts other programs, or loads tests itself: then its exit code is not theirs. */
export const RUNS_OTHERS =
  /child_process|\bexeca\b|\bzx\b|\bsubprocess\b|\bos\.(?:system|popen|exec|spawn)|Deno\.Command|Bun\.(?:spawn|\$)|\b(?:system|popen|shell_exec|passthru)\s*\(|\brunpy\b|\bpytest\.main\b|\btests?\/|[._]test\b|\.spec\b/;

/** Paths below `folder`. */
export function filesOnTheWay(words: readonly string[], folder: string, at: string): readonly string[] {
  return wayOf(words, folder, at).files;
}

/** A command of the line, or behind it; its quotes are gone. */
export interface CommandOnTheWay {
  readonly words: readonly string[];
  /** Below the folder. */
  readonly at: string;
}

export interface WayToTests {
  readonly files: readonly string[];
  readonly commands: readonly CommandOnTheWay[];
  /** What stands behind the command that was given. */
  readonly lines: readonly string[];
}

export function wayOf(words: readonly string[], folder: string, at: string): WayToTests {
  const [found, commands] = [new Set<string>(), [] as CommandOnTheWay[]];
  visitCommand(words, at, { folder, found, commands, depth: 0 });
  return {
    files: [...found].map((path) => relative(folder, path)).filter((path) => !path.startsWith('..')),
    commands,
    lines: linesOf(commands),
  };
}

const linesOf = (commands: readonly CommandOnTheWay[]): string[] => commands.slice(1).map((one) => one.words.join(' '));

interface Way {
  readonly folder: string;
  readonly found: Set<string>;
  readonly commands: CommandOnTheWay[];
  readonly depth: number;
}

function visitText(text: string, at: string, way: Way): void {
  if (way.depth > DEPTH) return;
  let here = at;
  for (const part of text.replaceAll('\\\n', ' ').split(/&&|\|\||[;|\n()`]|\$\(/)) {
    const words = part.trim().replaceAll(/["']/g, '').split(/\s+/);
    if (words[0] === 'cd' && words[1] !== undefined) here = resolve(here, words[1]);
    else visitCommand(words, here, { ...way, depth: way.depth + 1 });
  }
}

function visitCommand(given: readonly string[], at: string, way: Way): void {
  const from = given.findIndex((word) => !WRAPPER.test(word));
  const [first = '', ...rest] = from < 0 ? [] : given.slice(from);
  const name = first.replace(/^[@+-]+/, '');
  if (name === '') return;
  way.commands.push({ words: [name, ...rest], at: relative(way.folder, at) });
  for (const [index, word] of rest.entries()) {
    const [flag = '', value = rest[index + 1]] = word.split('=');
    if (BRINGS.test(flag) && value !== undefined) visitFile(resolve(at, value), at, way);
  }
  if (MANAGER.test(name)) visitPackage(rest, at, way);
  else if (MAKE.test(name)) visitMake(at, way);
  else if (SOURCES.test(name) && rest[0] !== undefined) visitFile(resolve(at, rest[0]), at, way, 'shell');
  else if (SHELL.test(name) || INTERPRETER.test(name)) {
    const file = rest.find((word) => !word.startsWith('-'));
    if (file !== undefined && !rest.includes('--test'))
      visitFile(resolve(at, file), at, way, SHELL.test(name) ? 'shell' : undefined);
  } else if (name.includes('/') || /\.\w+$/.test(name)) visitFile(resolve(at, name), at, way);
}

function visitFile(path: string, at: string, way: Way, kind?: 'shell'): void {
  const text = textIn(path);
  if (text === undefined || way.found.has(path)) return;
  way.found.add(path);
  if (kind === 'shell' || /\.(?:sh|bash)$/.test(path) || /^#!.*sh\b/.test(text)) visitText(text, at, way);
  else visitImports(path, text, way);
}

/** Of what a program loads only that which runs others: the rest may well be the sources that are worked on. */
function visitImports(path: string, text: string, way: Way): void {
  if (way.depth > DEPTH) return;
  const named = [...text.matchAll(/(?:require\(|from |import )\s*["'](\.[^"']+)["']/g)].map(([, name = '']) => name);
  const python = [...text.matchAll(/^(?:from|import) ([\w.]+)/gm)].map(([, name = '']) => `./${name.replaceAll('.', '/')}`);
  for (const name of path.endsWith('.py') ? python : named) {
    const base = resolve(dirname(path), name);
    const file = ['', '.js', '.cjs', '.mjs', '.ts', '.py', '/index.js']
      .map((end) => base + end)
      .find((one) => textIn(one) !== undefined);
    const inside = file === undefined ? undefined : textIn(file);
    if (file === undefined || inside === undefined || way.found.has(file) || !RUNS_OTHERS.test(inside)) continue;
    way.found.add(file);
    visitImports(file, inside, { ...way, depth: way.depth + 1 });
  }
}

function visitPackage(words: readonly string[], at: string, way: Way): void {
  const [verb = '', script = ''] = words.filter((word) => !word.startsWith('-'));
  const key = verb === 'run' || verb === 'run-script' ? script : verb === 't' ? 'test' : verb;
  for (let place = at; ; place = dirname(place)) {
    const text = textIn(join(place, 'package.json'));
    const parsed = text === undefined ? undefined : parseJson(text);
    const scripts = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value['scripts'] : undefined;
    if (scripts !== undefined && isJsonObject(scripts)) {
      for (const name of [`pre${key}`, key, `post${key}`]) {
        const line = scripts[name];
        if (typeof line === 'string') visitText(line, place, way);
      }
    }
    if (text !== undefined || place === way.folder || dirname(place) === place) return;
  }
}

function visitMake(at: string, way: Way): void {
  const name = MAKEFILES.find((one) => textIn(join(at, one)) !== undefined);
  const queue = name === undefined ? [] : [join(at, name)];
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    const text = textIn(path);
    if (text === undefined || way.found.has(path)) continue;
    way.found.add(path);
    for (const [, files = ''] of text.matchAll(/^-?s?include\s+(.+)$/gm))
      queue.push(
        ...files
          .trim()
          .split(/\s+/)
          .map((one) => resolve(at, one)),
      );
    visitText(
      text
        .split('\n')
        .filter((line) => line.startsWith('\t'))
        .join('\n'),
      at,
      way,
    );
  }
}

function textIn(path: string): string | undefined {
  try {
    const facts = statSync(path);
    return facts.isFile() && facts.size <= limits.scriptBytes ? readFileSync(path, 'utf8') : undefined;
  } catch {
    return undefined;
  }
}

/** Why `make` did not do what it was asked for, if it says so or cannot have. */
export function idleMake([name = '', ...rest]: readonly string[], at: string, output: string): string | undefined {
  if (!MAKE.test(name)) return undefined;
  if (/^g?make(?:\[\d+\])?: .*(?:is up to date|Nothing to be done)/m.test(output)) return 'make did nothing';
  const file = MAKEFILES.map((one) => textIn(join(at, one))).find((text) => text !== undefined) ?? '';
  const phony = new Set([...file.matchAll(/^\.PHONY\s*:(.*)$/gm)].flatMap(([, names = '']) => names.trim().split(/\s+/)));
  const shadowed = rest.find(
    (word) => /^[\w.-]+$/.test(word) && !word.startsWith('-') && !phony.has(word) && exists(join(at, word)),
  );
  const passedOver = shadowed ?? stampOf(file, rest, phony, at, output);
  return passedOver === undefined ? undefined : `there is a file called ${passedOver}, so make may have done nothing`;
}

/** A file on the way to what was asked for whose rule runs tests, and make has not shown that it did. */
function stampOf(
  file: string,
  words: readonly string[],
  phony: ReadonlySet<string>,
  at: string,
  output: string,
): string | undefined {
  const rules = new Map(
    [...file.matchAll(/^([\w./-]+)\s*:(?!=)([^\n=]*)\n((?:\t[^\n]*\n?)*)/gm)].map(([, name = '', needs = '', recipe = '']) => [
      name,
      { needs: needs.trim().split(/\s+/), lines: recipe.split('\n').map((line) => line.trim()) },
    ]),
  );
  const wanted = new Set(words.filter((word) => rules.has(word)));
  // A set visits what is added while it is walked.
  for (const name of wanted) for (const need of rules.get(name)?.needs ?? []) if (rules.has(need)) wanted.add(need);
  return [...wanted].find((name) => {
    const tests = (rules.get(name)?.lines ?? []).filter((line) => looksLikeTestRun(line.replace(/^[@+-]+/, '')));
    const isShown = tests.some((line) => output.includes(line));
    return tests.length > 0 && !isShown && !phony.has(name) && exists(join(at, name));
  });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
