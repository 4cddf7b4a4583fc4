/**
 * Whether the tests that pass at the end are still those that were there at the start. A test that was deleted, a line of one
 * that was changed, a runner told to pass over some: what passes then proves less than its name says. New tests, and lines
 * added to old ones, prove more. Read from the recorded changes alone; which files are tests is told by their names.
 */
import type { EventOf } from '../../events/envelope.ts';

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
  /(?:^|\/)(?:(?:vitest|jest|playwright|karma|cypress|ava|wdio)\.(?:config|conf|workspace)[^/]*|\.mocharc[^/]*|\.nycrc[^/]*|\.c8rc[^/]*|pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|conftest\.py|\.npmrc|\.yarnrc[^/]*|bunfig\.toml|phpunit\.xml[^/]*|\.rspec|nextest\.toml)$/;
/** Files that say so among other things. */
const BUILD =
  /(?:^|\/)(?:[Mm]akefile|GNUmakefile|[jJ]ustfile|Taskfile\.ya?ml|Rakefile|pyproject\.toml|Cargo\.toml|build\.gradle(?:\.kts)?|pom\.xml|composer\.json|deno\.jsonc?|mix\.exs)$/;
const PACKAGE = /(?:^|\/)package\.json$/;
const ABOUT_TESTS = /\b(?:tests?|check|spec|pytest|jest|vitest|mocha|addopts|harness)\b/i;
const PASSES_OVER =
  /exclude|ignore|passWithNoTests|pass-with-no-tests|deselect|norecursedirs|testpaths|testMatch|testRegex|script-shell|node-options|--exit-zero|skip/i;
const DISABLES =
  /\b(?:x?(?:it|describe|test|context|suite)\.(?:skip|only|todo|failing)\b|\bx(?:it|describe|test)\(|skip:\s*true|todo:\s*true|pytest\.(?:mark\.)?(?:skip|xfail)\b|unittest\.skip\b|@Disabled\b|@Ignore\b|#\[ignore|t\.Skip\(|\.skip\(\))|(?:process\.exit|os\._exit|sys\.exit)\(\s*0?\s*\)/;
const QUITS = /(?:process\.exit|os\._exit|sys\.exit)\(\s*0?\s*\)/;

/** A sentence for each file that makes the tests prove less; `changes` are those of the whole work, in order. */
export function weakenedTests(changes: readonly Change[]): readonly string[] {
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  const kept = new Set([...byPath].flatMap(([path, all]) => (isTest(path) ? [all.at(-1)?.after ?? ''] : [])));
  const unseen = changes.reduce((sum, { more = 0 }) => sum + more, 0);
  const weaker = [...byPath].flatMap(([path, all]) => {
    const why = weakening(path, all, kept);
    return why === undefined ? [] : [`${path} ${why}`];
  });
  return unseen === 0 ? weaker : [`${unseen} changes were too many to be recorded, and tests may be among them`, ...weaker];
}

const isTest = (path: string): boolean => TEST_PATH.test(path) && !PROSE.test(path) && !PACKAGE.test(path);

function weakening(path: string, changes: readonly Change[], kept: ReadonlySet<string>): string | undefined {
  const [before, after] = [changes[0]?.before ?? null, changes.at(-1)?.after ?? null];
  if (before === after) return undefined;
  const lines = changedLines(changes);
  if (isTest(path)) return weakenedTest(before, after, lines, kept);
  if (RUNNER.test(path)) return weakenedRunner(before, after, lines);
  if (before === null || after === null) return undefined;
  if (PACKAGE.test(path)) return weakenedPackage(lines);
  if (!BUILD.test(path)) return undefined;
  const about = lines.unknown || [...lines.removed, ...lines.added, ...lines.targets].some((line) => ABOUT_TESTS.test(line));
  return about ? 'says how tests are run, and was changed in this work' : undefined;
}

function weakenedTest(before: string | null, after: string | null, lines: Lines, kept: ReadonlySet<string>): string | undefined {
  if (before === null) {
    const quits = after === null ? undefined : lines.added.find((line) => QUITS.test(line));
    return quits === undefined ? undefined : `is new and may end the tests early: ${quits.slice(0, 80)}`;
  }
  if (after === null) return kept.has(before) ? undefined : 'was a test and was removed in this work';
  const disabled = lines.added.find((line) => DISABLES.test(line));
  if (disabled !== undefined) return `is a test and was told to pass over something: ${disabled.slice(0, 80)}`;
  if (lines.unknown) return 'is a test and was changed in this work, in a way that cannot be followed';
  const [gone] = lines.removed;
  return gone === undefined ? undefined : `is a test, and a line that was in it is gone or changed: ${gone.slice(0, 80)}`;
}

function weakenedRunner(before: string | null, after: string | null, lines: Lines): string | undefined {
  const passes = lines.added.find((line) => PASSES_OVER.test(line));
  if (before === null && after !== null)
    return passes === undefined ? undefined : `is new and says which tests are run: ${passes.slice(0, 80)}`;
  return lines.unknown || lines.removed.length > 0 || lines.added.length > 0
    ? 'says how tests are run, and was changed in this work'
    : undefined;
}

const VERSION = /^"[^"]+"\s*:\s*"(?:[\^~<>=*]|v?\d|latest\b|next\b|file:|link:|workspace:|npm:|git|https?:|github:)/;
const ABOUT_PACKAGE =
  /^"(?:(?:dev|peer|optional)?[dD]ependencies|scripts|name|version|description|license|author|type|main|module|exports|files|keywords|private|engines|repository|bin|types|homepage|bugs)"/;
/** What `npm init` writes. */
const PLACEHOLDER = /no test specified/;

function weakenedPackage({ removed, added, unknown }: Lines): string | undefined {
  const gone = removed.find((line) => !VERSION.test(line) && !ABOUT_PACKAGE.test(line) && !PLACEHOLDER.test(line));
  const passes = added.find((line) => !VERSION.test(line) && PASSES_OVER.test(line));
  if (gone === undefined && passes === undefined && !unknown) return undefined;
  return `has scripts, and was changed in this work: ${(gone ?? passes ?? '').slice(0, 80)}`;
}

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
  const modules = new Set(added.flatMap((line) => moduleOf(line) ?? []));
  const counts = (line: string): boolean =>
    line !== '' && !/^(?:\/\/|#(?!\[)|\*|\/\*|--\s|<!--)/.test(line) && !/^[)\]};,({[]+$/.test(line);
  return {
    removed: removed.filter((line) => counts(line) && !modules.has(moduleOf(line) ?? '\0')),
    added: added.filter(counts),
    targets,
    unknown,
  };
}

/** Without indentation, quotes of one kind and what ends a line: a formatter's work is no change. */
function bare(line: string): string {
  return line
    .slice(1)
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll("'", '"')
    .replace(/[;,]+$/, '');
}

function take(list: string[], line: string): boolean {
  const index = list.indexOf(line);
  if (index >= 0) list.splice(index, 1);
  return index >= 0;
}

/** What an import names, so that one more name from the same module is no change. */
function moduleOf(line: string): string | undefined {
  if (!/^(?:import|from|use|const|let|var|require|#include)\b/.test(line)) return undefined;
  return /(?:from|import|require\()\s*"([^"]+)"/.exec(line)?.[1] ?? /^from (\S+) import\b/.exec(line)?.[1];
}
