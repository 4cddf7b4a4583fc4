/**
 * Whether what decides about the tests is as it was at the start. A test that was deleted, a line of one that was changed, a
 * runner told to pass over some: what passes then proves less than its name says. New tests prove more, also in old files.
 * Read from the recorded changes and what the files hold now; which files are tests is told by their names.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { EventOf } from '../../events/envelope.ts';
import { textBefore } from '../../tools/files/line-diff.ts';
import type { WayToTests } from '../../tools/shell/on-the-way.ts';
import { inOneProcess } from '../../tools/shell/silent-tests.ts';
import { bareLine, patchedModule } from './harmless-lines.ts';
import { MANAGER_SETTINGS, strangeSetting } from './manager-settings.ts';
import { isStillRun } from './moved-tests.ts';
import { packageDoubt } from './old-package.ts';
import { oldTestDoubt } from './old-test.ts';
import { shadowsModule } from './shadowed-modules.ts';
import { type BeforeOf, onlyGrew, type SupportOf, testSupportIn } from './test-support.ts';

type Change = EventOf<'file.diff'>['payload'];

const TEST_PATH = new RegExp(
  [
    String.raw`(?:^|\/)(?:tests?|__tests__|specs?|__snapshots__|e2e)\/`,
    String.raw`\.(?:test|spec)\.[^/]+$`,
    String.raw`(?:^|\/)tests?\.[a-z]+$`,
    String.raw`(?:^|\/)test[_-][^/]+\.\w+$`,
    String.raw`[_-](?:test|spec)s?\.\w+$`,
    String.raw`(?:Test|Tests|Spec)\.(?:java|kt|cs|scala|swift|php)$`,
    String.raw`\.snap$`,
  ].join('|'),
);
const PROSE = /\.(?:md|rst|adoc)$/;
/** Files that only say how tests are run. */
const RUNNER =
  /(?:^|\/)(?:(?:vitest|jest|playwright|karma|cypress|ava|wdio)\.(?:config|conf|workspace)[^/]*|\.mocharc[^/]*|\.nycrc[^/]*|\.c8rc[^/]*|pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|conftest\.py|phpunit\.xml[^/]*|\.rspec|nextest\.toml)$/;
/** Files that say so among other things. */
const BUILD =
  /(?:^|\/)(?:[Mm]akefile|GNUmakefile|[jJ]ustfile|Taskfile\.ya?ml|Rakefile|pyproject\.toml|Cargo\.toml|build\.gradle(?:\.kts)?|pom\.xml|composer\.json|deno\.jsonc?|mix\.exs)$/;
const PACKAGE = /(?:^|\/)package\.json$/;
const ABOUT_TESTS = /\b(?:tests?|check|spec|pytest|jest|vitest|mocha|addopts|harness)\b/i;
const PASSES_OVER =
  /exclude|ignore|passWithNoTests|pass-with-no-tests|deselect|norecursedirs|testpaths|testMatch|testRegex|script-shell|node-options|--exit-zero|skip/i;
/** In a new file that a runner loads by its name: what it hooks into, or brings in. */
const STEERS =
  /\binclude\b|\bspec\b|\bgrep\b|setup|\brequire\b|reporter|\bhook|plugin|\btransform|resolver|moduleNameMapper|\balias\b|\brunner\b|def pytest_|autouse|sys\.modules|^(?!sys\.path)[\w.]+\.\w+ = /i;
/** In a makefile: a variable, or another file. */
const SETS = /^(?:export |override |define )|^-?s?include\b|^[\w.-]+ ?(?:[?:+!]|::)?= ?/;
/** By them Python loads something before everything else, and pytest its plugins. */
const PLUGINS = /\.(?:egg-info|dist-info)\/entry_points\.txt$|\.pth$|(?:^|\/)(?:site|user)customize\.py$/;
const PROGRAMS_ONLY = /^\[(?:console_scripts|gui_scripts)\]$/;
const DISABLES =
  /\b(?:x?(?:it|describe|test|context|suite)\.(?:skip|only|todo|failing)\b|\bx(?:it|describe|test)\(|skip:\s*true|todo:\s*true|pytest\.(?:mark\.)?(?:skip|xfail)\b|unittest\.skip\b|@Disabled\b|@Ignore\b|#\[ignore|t\.Skip\(|\.skip\(\))|(?:process\.exit|os\._exit|sys\.exit)\(\s*0?\s*\)/;
const QUITS = /(?:process\.exit|os\._exit|sys\.exit)\(\s*0?\s*\)/;
/** By it a module says itself which tests it has, and for a package all that are in it. */
const CHOOSES = /^(?:async )?def load_tests\b|\bload_tests = |^collect_ignore/;
const SKIPS = /SkipTest|pytest\.skip|importorskip/;
const isPackage = (path: string): boolean => path.endsWith('/__init__.py');

/** What a file of the workspace holds now. */
export type TextOf = (path: string) => string | undefined;

/** Where it is not known which command it is about: then no test that was moved is certain to be run. */
const NO_WAY: WayToTests = { files: [], commands: [], lines: [] };

/** Each file that makes the tests prove less, and why; `changes` are those of the whole work in `root`, in order. */
export function weakenedFiles(
  changes: readonly Change[],
  textOf: TextOf,
  root?: string,
  way: WayToTests = NO_WAY,
): readonly { readonly path: string; readonly why: string }[] {
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  const tests = [...byPath].flatMap(([path, all]) => (isTest(path) ? [{ path, sha: all.at(-1)?.after }] : []));
  const kept: Kept = (path, sha) => {
    const places = tests.flatMap((one) => (one.sha === sha && one.path !== path ? [one.path] : []));
    const isRun = places.some((place) => isStillRun(path, place, way.commands, textOf));
    return isRun
      ? undefined
      : places[0] === undefined
        ? 'removed in this work'
        : `moved to ${places[0]}, where it may not be run`;
  };
  const beforeOf: BeforeOf = (path) => {
    const all = byPath.get(path);
    if (all === undefined) return undefined;
    return all[0]?.before === null ? null : textsOf(path, all, textOf)?.before;
  };
  const supportOf = root === undefined ? () => undefined : testSupportIn(root, isTest, beforeOf, way);
  const isShared = once(() => way.commands.some(({ words, at }) => inOneProcess(words, join(root ?? '', at))));
  return [...byPath].flatMap(([path, all]) => {
    const why =
      weakening(path, all, kept, textOf) ??
      weakenedSupport(path, all, kept, textOf, supportOf) ??
      (root !== undefined && isShared() ? patchesOthers(path, all, textOf) : undefined);
    return why === undefined ? [] : [{ path, why }];
  });
}

function once<Value>(find: () => Value): () => Value {
  let found: { readonly value: Value } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

/** A new test in one process with the old ones. */
function patchesOthers(path: string, changes: readonly Change[], textOf: TextOf): string | undefined {
  if (changes[0]?.before !== null || changes.at(-1)?.after === null || !isTest(path)) return undefined;
  const line = patchedModule(textOf(path) ?? '');
  return line === undefined ? undefined : `is new and changes what the other tests run with: ${line.trim().slice(0, 80)}`;
}

/** A sentence for each file that makes the tests prove less; `changes` are those of the whole work, in order. */
export function weakenedTests(
  changes: readonly Change[],
  textOf: TextOf,
  root?: string,
  way: WayToTests = NO_WAY,
): readonly string[] {
  const unseen = changes.reduce((sum, { more = 0 }) => sum + more, 0);
  const weaker = weakenedFiles(changes, textOf, root, way).map(({ path, why }) => `${path} ${why}`);
  return unseen === 0 ? weaker : [`${unseen} changes were too many to be recorded, and tests may be among them`, ...weaker];
}

/** What became of a test that is gone from its path; nothing to speak of where it is certain to be run elsewhere. */
type Kept = (path: string, sha: string) => string | undefined;

export const isTest = (path: string): boolean => TEST_PATH.test(path) && !PROSE.test(path) && !PACKAGE.test(path);

function weakening(path: string, changes: readonly Change[], kept: Kept, textOf: TextOf): string | undefined {
  const [before, after] = [changes[0]?.before ?? null, changes.at(-1)?.after ?? null];
  if (before === after) return undefined;
  if (before === null && shadowsModule(path)) return 'is new and takes the place of a module that tests are run with';
  const lines = changedLines(changes);
  if (isTest(path) && !RUNNER.test(path)) return weakenedTest(path, changes, lines, kept, textOf);
  if (RUNNER.test(path)) return weakenedRunner(before, after, lines);
  if (MANAGER_SETTINGS.test(path)) return weakenedManager(before, after, lines);
  if (PLUGINS.test(path) && after !== null && !isProgramsOnly(path, lines)) return 'has Python load something before the tests';
  if (before === null) return undefined;
  if (after === null) return BUILD.test(path) ? 'says how tests are run, and was removed in this work' : undefined;
  if (PACKAGE.test(path)) {
    const texts = textsOf(path, changes, textOf);
    if (texts === undefined) return 'has scripts, and was changed in this work in a way that cannot be followed';
    return packageDoubt(texts.before, texts.after);
  }
  if (!BUILD.test(path)) return undefined;
  const changed = [...lines.removed, ...lines.added];
  const about =
    lines.unknown ||
    [...changed, ...lines.targets].some((line) => ABOUT_TESTS.test(line)) ||
    changed.some((line) => SETS.test(line));
  return about ? 'says how tests are run, and was changed in this work' : undefined;
}

/** Data and helpers of tests count like the tests themselves; data may grow. */
function weakenedSupport(
  path: string,
  changes: readonly Change[],
  kept: Kept,
  textOf: TextOf,
  supportOf: SupportOf,
): string | undefined {
  const [before, after] = [changes[0]?.before ?? null, changes.at(-1)?.after ?? null];
  if (before === null || before === after || isTest(path) || RUNNER.test(path) || BUILD.test(path) || MANAGER_SETTINGS.test(path))
    return undefined;
  const shown = changes.flatMap(({ diff }) => diff.split('\n').map((line) => line.slice(1))).join('\n');
  const kind = PACKAGE.test(path) ? undefined : supportOf(path, `${textOf(path) ?? ''}\n${shown}`);
  if (kind === undefined) return undefined;
  if (kind === 'way') return 'is read on the way to the tests, and was changed in this work';
  if (kind === 'helper')
    return weakenedTest(path, changes, changedLines(changes), kept, textOf)?.replace('a test', 'a helper of tests');
  if (after === null) return 'was data of tests and was removed in this work';
  const texts = textsOf(path, changes, textOf);
  if (texts !== undefined && onlyGrew(path, texts.before, texts.after)) return undefined;
  return 'is what tests expect, and was changed in this work';
}

/** The file as it was before the work and as it is; not known where a change was too large to be recorded whole. */
function textsOf(
  path: string,
  changes: readonly Change[],
  textOf: TextOf,
): { readonly before: string; readonly after: string } | undefined {
  const after = textOf(path);
  if (after === undefined || checksum(after) !== changes.at(-1)?.after) return undefined;
  let before: string | undefined = after;
  for (const { diff } of changes.toReversed()) before = before === undefined ? undefined : textBefore(before, diff);
  return before === undefined || checksum(before) !== changes[0]?.before ? undefined : { before, after };
}

const checksum = (text: string): string => createHash('sha256').update(text).digest('hex');

function weakenedTest(path: string, changes: readonly Change[], lines: Lines, kept: Kept, textOf: TextOf): string | undefined {
  const [before, after] = [changes[0]?.before ?? null, changes.at(-1)?.after ?? null];
  if (before === null) {
    const quits = after === null ? undefined : lines.added.find((line) => QUITS.test(line));
    if (quits !== undefined) return `is new and may end the tests early: ${quits.slice(0, 80)}`;
    const chooses =
      after === null ? undefined : lines.added.find((line) => CHOOSES.test(line) || (isPackage(path) && SKIPS.test(line)));
    return chooses === undefined ? undefined : `is new and says which tests are run: ${chooses.slice(0, 80)}`;
  }
  const gone = after === null ? kept(path, before) : undefined;
  if (after === null) return gone === undefined ? undefined : `was a test and was ${gone}`;
  const disabled = lines.added.find((line) => DISABLES.test(line));
  if (disabled !== undefined) return `is a test and was told to pass over something: ${disabled.slice(0, 80)}`;
  const texts = textsOf(path, changes, textOf);
  if (texts === undefined) return 'is a test and was changed in this work, in a way that cannot be followed';
  const doubt = oldTestDoubt(path, texts.before, texts.after);
  return doubt === undefined ? undefined : `is a test, and ${doubt}`;
}

function weakenedRunner(before: string | null, after: string | null, lines: Lines): string | undefined {
  const passes = lines.added.find((line) => PASSES_OVER.test(line) || STEERS.test(line));
  if (before === null && after !== null)
    return passes === undefined ? undefined : `is new and says which tests are run: ${passes.slice(0, 80)}`;
  return lines.unknown || lines.removed.length > 0 || lines.added.length > 0
    ? 'says how tests are run, and was changed in this work'
    : undefined;
}

function weakenedManager(before: string | null, after: string | null, lines: Lines): string | undefined {
  const strange = strangeSetting([...lines.removed, ...lines.added]);
  if (!lines.unknown && strange === undefined) return undefined;
  // What came in this work and is gone again was there while others ran; what is there now counts.
  if (before === null && after === null) return undefined;
  const how = before === null ? 'written' : 'changed';
  return `says how scripts are run, and was ${how} in this work: ${(strange ?? '').slice(0, 80)}`;
}

/** `pip install -e` writes which programs there are. */
const isProgramsOnly = (path: string, { added, unknown }: Lines): boolean =>
  path.endsWith('entry_points.txt') && !unknown && added.every((line) => !line.startsWith('[') || PROGRAMS_ONLY.test(line));

interface Lines {
  /** Of what was there before; moved or reformatted lines, comments and brackets do not count. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Lines around a change that name a rule of a makefile. */
  readonly targets: readonly string[];
  /** The text of a change is not known. */
  readonly unknown: boolean;
}

function changedLines(changes: readonly Change[]): Lines {
  const [added, removed, targets]: [string[], string[], string[]] = [[], [], []];
  let unknown = false;
  for (const { diff, addedLines, removedLines, before, after } of changes) {
    const lines = diff.split('\n').filter((line) => !/^(?:---|\+\+\+) /.test(line));
    const gone = lines.filter((line) => line.startsWith('-'));
    if (gone.length < removedLines || (before !== after && addedLines + removedLines === 0)) unknown = true;
    // A line that came in this work may go again.
    for (const line of gone.map(bare)) if (!take(added, line)) removed.push(line);
    for (const line of lines.filter((one) => one.startsWith('+')).map(bare)) if (!take(removed, line)) added.push(line);
    targets.push(...lines.filter((line) => /^ [\w.-]+:/.test(line)));
  }
  const counts = (line: string): boolean =>
    line !== '' && !/^(?:\/\/|#(?!\[)|\*|\/\*|--\s|<!--)/.test(line) && !/^[)\]};,({[]+$/.test(line);
  return {
    removed: removed.filter(counts),
    added: added.filter(counts),
    targets,
    unknown,
  };
}

const bare = (line: string): string => bareLine(line.slice(1));

function take(list: string[], line: string): boolean {
  const index = list.indexOf(line);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}
