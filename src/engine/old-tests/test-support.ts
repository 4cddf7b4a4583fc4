/**
 * What tests rest on outside of their own folders: the data that they expect, and helpers that judge for them. Emptying one of
 * those is as good as emptying the test. Told by the names of folders, and by who knows the file: a test does, and no source.
 * A source that only tests import is a source all the same. Who knew it is looked for in the files as they were before the work:
 * otherwise a line in a source would be enough. The look is bounded, and taken once, when such a file was changed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { WayToTests } from '../../tools/shell/on-the-way.ts';
import { isNobodysOwn } from '../../tools/watch/workspace-files.ts';

/** What a path outside of the tests is to them; `text` is what was and is in it. */
export type SupportOf = (path: string, text: string) => 'data' | 'helper' | 'way' | undefined;

/** A file as it was before the work: `null` where there was none, `undefined` where it is as it was. */
export type BeforeOf = (path: string) => string | null | undefined;

const DATA =
  /(?:^|\/)(?:__fixtures__|fixtures?|testdata|test[-_]data|__goldens?__|goldens?|golden[-_]files?|expected|__expected__|snapshots?|cassettes|approvals?)\//i;
const HELPERS =
  /(?:^|\/)(?:support|helpers?|testing|test[-_]?(?:utils?|helpers?|support|lib|kit|tools?)|harness|matchers?|assertions?|__mocks__)\/|(?:^|\/)[^/]*(?:assert|expect|matcher|test[-_]?(?:util|helper|support))[^/]*$/i;
/** Names of those that judge, where the text does. */
const JUDGING = /(?:^|[/._-])(?:check|verify|compare|same|equals?|should|must)[^/]*$/i;
const ASSERTS = /\bassert\b|AssertionError/;
const CODE = /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|php|cs|exs?|swift|scala)$/;
/** Libraries that only tests have a use for. */
const JUDGES =
  /["'](?:vitest|chai|expect|@jest\/globals|node:test|@testing-library\/[\w-]+|should|power-assert)["']|^\s*(?:import|from) (?:unittest|pytest|hamcrest)\b/m;

/** Files that commands go through on their way to the tests, and the lines of scripts. */
export type ReadOnTheWay = Pick<WayToTests, 'files' | 'lines'>;

/** What is no source, no text for people and no list of packages may be data of tests, wherever it lies. */
const NO_DATA =
  /\.(?:[chm]|cc|cxx|[ch]pp|hh|mm|zig|lua|p[lm]|r|jl|hs|mli?|erl|clj[cs]?|dart|vue|svelte|astro|s?css|less|html?|proto|graphql|md|rst|adoc|lock|sum|svg|png|jpe?g|gif|ico|woff2?|pdf)$|(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|LICENSE|CHANGELOG|README|\.git\w+)$/i;

/** `isTest` tells tests by their names. */
export function testSupportIn(
  root: string,
  isTest: (path: string) => boolean,
  beforeOf: BeforeOf,
  way: ReadOnTheWay = { files: [], lines: [] },
): SupportOf {
  let known: Known | undefined;
  return (path, text) => {
    const mayHelp = CODE.test(path) && isHelper(path, text);
    const isInFolder = DATA.test(path) && !/^readme\b/i.test(basename(path));
    const mayBeData = isInFolder || (!CODE.test(path) && !NO_DATA.test(path));
    if (!mayHelp && !mayBeData && (way.files.length === 0 || !CODE.test(path))) return undefined;
    known ??= knownIn(root, isTest, beforeOf, way);
    if (isOnTheWay(path, known, mayBeData)) return 'way';
    if (mayHelp && isImportedBy(path, known.tests)) return isImportedBy(path, known.sources) ? undefined : 'helper';
    if (!mayBeData || isNamedBy(path, known.sources)) return undefined;
    if (isInFolder) return isKnownToTests(path, known) ? 'data' : undefined;
    return isReadBy(path, known.tests) && !isReadBy(path, known.sources) ? 'data' : undefined;
  };
}

/** A list that they read, or a module that nothing else loads. */
function isOnTheWay(path: string, { tests, sources, way }: Known, mayBeData: boolean): boolean {
  if (way.has(path) || way.size === 0) return false;
  if (mayBeData) return isNamedAlone(path, way) && !isNamedBy(path, sources);
  return isImportedBy(path, way) && !isImportedBy(path, sources) && !isImportedBy(path, tests);
}

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
const aloneIn = (name: string): string => `(?<![\\w.-])${quoted(name)}(?![\\w-])`;

function isNamedAlone(path: string, texts: ReadonlyMap<string, string>): boolean {
  const name = new RegExp(aloneIn(basename(path)));
  return [...texts.values()].some((text) => name.test(text));
}

/** By its name in a text, by its folder's, or by how its name ends: `'.case'`. */
function isReadBy(path: string, texts: ReadonlyMap<string, string>): boolean {
  const [name, end, folder] = [basename(path), extname(path), basename(dirname(path))];
  const ways = [
    aloneIn(name),
    ...(end === '' ? [] : [`["'\`*]${quoted(end)}["'\`]`]),
    ...(folder === '.' ? [] : [`["'\`/]${quoted(folder)}/?["'\`]`]),
  ];
  const pattern = new RegExp(ways.join('|'));
  return [...texts.values()].some((text) => pattern.test(text));
}

const isHelper = (path: string, text: string): boolean =>
  HELPERS.test(path) || DATA.test(path) || JUDGES.test(text) || (JUDGING.test(path) && ASSERTS.test(text));

interface Known {
  /** Texts by their paths: of tests and their helpers, and of other code. */
  readonly tests: Map<string, string>;
  readonly sources: Map<string, string>;
  /** Of what commands go through. */
  readonly way: ReadonlyMap<string, string>;
  /** There is more than was looked at. */
  readonly cut: boolean;
}

function knownIn(root: string, isTest: (path: string) => boolean, beforeOf: BeforeOf, through: ReadOnTheWay): Known {
  const way = new Map(through.files.map((path) => [path, beforeOf(path) ?? textIn(join(root, path))] as const));
  if (through.lines.length > 0) way.set('', through.lines.join('\n'));
  const [tests, sources] = [new Map<string, string>(), new Map<string, string>()];
  const open = [''];
  let [seen, bytes] = [0, 0];
  for (let folder = open.shift(); folder !== undefined; folder = open.shift()) {
    for (const entry of entriesOf(join(root, folder))) {
      const path = posix.join(folder, entry.name);
      if (isNobodysOwn(path, true)) continue;
      seen += 1;
      if (seen > limits.supportFiles || bytes > limits.supportBytes) return { tests, sources, way, cut: true };
      if (entry.isDirectory()) open.push(path);
      if (!entry.isFile() || !(CODE.test(path) || path.endsWith('package.json'))) continue;
      const text = beforeOf(path) ?? textIn(join(root, path));
      bytes += text.length;
      // New tests know what they bring along; new sources say nothing about what was there.
      if (isTest(path)) tests.set(path, text);
      else if (beforeOf(path) !== null && !way.has(path)) sources.set(path, text);
    }
  }
  // A helper may be one of several behind another.
  const helpers = [...sources].filter(([path, text]) => isHelper(path, text) && isImportedBy(path, tests));
  const others = new Map([...sources].filter(([path]) => !helpers.some(([one]) => one === path)));
  for (const [path, text] of helpers) {
    if (isImportedBy(path, others)) continue;
    tests.set(path, text);
    sources.delete(path);
  }
  return { tests, sources, way, cut: false };
}

/** By its name, or by that of its folder: many are read one after the other. */
function isKnownToTests(path: string, { tests, cut }: Known): boolean {
  if (cut) return true;
  const folder = DATA.exec(path)?.[0].replaceAll('/', '') ?? '';
  return [...tests.values()].some((text) => text.includes(basename(path)) || text.includes(folder));
}

const isNamedBy = (path: string, texts: ReadonlyMap<string, string>): boolean =>
  [...texts.values()].some((text) => text.includes(basename(path)));

const IMPORTS =
  /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(?\s*)["']([.@#~][^"'\n]*)["']|\brequire_relative\s*\(?\s*["']([^"'\n]+)["']/g;
const PYTHON_IMPORTS = /^\s*(?:from\s+(\.*[\w.]*)\s+import\s+([\w, ]+)|import\s+([\w.]+))/gm;
const BY_PATH = /\.(?:[cm]?[jt]sx?|rb)$/;

function isImportedBy(path: string, texts: ReadonlyMap<string, string>): boolean {
  const bare = withoutEnd(path);
  const isEnd = (name: string): boolean => name !== '' && (bare === name || bare.endsWith(`/${name}`));
  return [...texts].some(([from, text]) => {
    if (from === path) return false;
    if (from.endsWith('package.json')) return text.includes(path) || text.includes(`${bare}"`);
    if (extname(path) === '.py') return from.endsWith('.py') && pythonImports(from, text).some(isEnd);
    if (!BY_PATH.test(path)) return extname(from) === extname(path) && isNamedIn(text, path);
    return [...text.matchAll(IMPORTS)].some(([, name, relative]) => {
      const near = relative ?? (name?.startsWith('.') === true ? name : undefined);
      if (near !== undefined) return withoutEnd(posix.join(dirname(from), near)) === bare;
      return isEnd(withoutEnd((name ?? '').replace(/^[@#~][^/]*\/|^[#~]/, '')));
    });
  });
}

/** Where imports name packages or classes: by the last folder or the file. */
function isNamedIn(text: string, path: string): boolean {
  const words = new Set(text.split(/\W+/));
  return words.has(basename(dirname(path))) || words.has(basename(path, extname(path)));
}

const withoutEnd = (path: string): string => path.replace(CODE, '').replace(/\/(?:index|__init__)$/, '');

/** Ends of paths: where a package begins is not known. */
function pythonImports(from: string, text: string): readonly string[] {
  return [...text.matchAll(PYTHON_IMPORTS)].flatMap(([, module = '', names = '', plain = '']) => {
    const dots = /^\.*/.exec(module)?.[0].length ?? 0;
    const base = (module || plain).slice(dots).replaceAll('.', '/');
    const near = dots === 0 ? base : posix.join(dirname(from), '../'.repeat(dots - 1), base);
    return [near, ...names.split(',').map((name) => posix.join(near, name.trim()))].filter((name) => name !== '');
  });
}

/** Whether data only grew: a reader of the old finds all of it, in its place. */
export function onlyGrew(path: string, before: string, after: string): boolean {
  if (/\.(?:csv|tsv|jsonl|ndjson)$/.test(path)) return after.startsWith(before.trimEnd());
  if (!path.endsWith('.json')) return false;
  const [old, now] = [parseJson(before), parseJson(after)];
  return old.ok && now.ok && holds(now.value, old.value);
}

function holds(now: Json, old: Json): boolean {
  if (Array.isArray(old))
    return Array.isArray(now) && old.every((item, index) => index < now.length && holds(now[index] ?? null, item));
  if (!isJsonObject(old)) return now === old;
  return isJsonObject(now) && Object.entries(old).every(([key, value]) => key in now && holds(now[key] ?? null, value ?? null));
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function textIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, limits.fingerprintTextBytes);
  } catch {
    return '';
  }
}
