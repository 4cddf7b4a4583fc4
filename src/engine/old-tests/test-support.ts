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
import { isNobodysOwn } from '../../tools/watch/workspace-files.ts';

/** What a path outside of the tests is to them; `text` is what was and is in it. */
export type SupportOf = (path: string, text: string) => 'data' | 'helper' | undefined;

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

/** `isTest` tells tests by their names. */
export function testSupportIn(root: string, isTest: (path: string) => boolean, beforeOf: BeforeOf): SupportOf {
  let known: Known | undefined;
  return (path, text) => {
    const mayHelp = CODE.test(path) && isHelper(path, text);
    const mayBeData = DATA.test(path) && !/^readme\b/i.test(basename(path));
    if (!mayHelp && !mayBeData) return undefined;
    known ??= knownIn(root, isTest, beforeOf);
    if (mayHelp && isImportedBy(path, known.tests)) return isImportedBy(path, known.sources) ? undefined : 'helper';
    return mayBeData && isKnownToTests(path, known) && !isNamedBy(path, known.sources) ? 'data' : undefined;
  };
}

const isHelper = (path: string, text: string): boolean =>
  HELPERS.test(path) || DATA.test(path) || JUDGES.test(text) || (JUDGING.test(path) && ASSERTS.test(text));

interface Known {
  /** Texts by their paths: of tests and their helpers, and of other code. */
  readonly tests: Map<string, string>;
  readonly sources: Map<string, string>;
  /** There is more than was looked at. */
  readonly cut: boolean;
}

function knownIn(root: string, isTest: (path: string) => boolean, beforeOf: BeforeOf): Known {
  const [tests, sources] = [new Map<string, string>(), new Map<string, string>()];
  const open = [''];
  let [seen, bytes] = [0, 0];
  for (let folder = open.shift(); folder !== undefined; folder = open.shift()) {
    for (const entry of entriesOf(join(root, folder))) {
      const path = posix.join(folder, entry.name);
      if (isNobodysOwn(path, true)) continue;
      seen += 1;
      if (seen > limits.supportFiles || bytes > limits.supportBytes) return { tests, sources, cut: true };
      if (entry.isDirectory()) open.push(path);
      if (!entry.isFile() || !(CODE.test(path) || path.endsWith('package.json'))) continue;
      const text = beforeOf(path) ?? textIn(join(root, path));
      bytes += text.length;
      // New tests know what they bring along; new sources say nothing about what was there.
      if (isTest(path)) tests.set(path, text);
      else if (beforeOf(path) !== null) sources.set(path, text);
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
  return { tests, sources, cut: false };
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
