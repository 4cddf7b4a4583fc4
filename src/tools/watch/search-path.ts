/**
 * The programs that commands find on the search path outside of the workspace, in folders that we may write to: whoever puts an
 * `npm` before the other one has every test pass. A look costs two `stat`s per program, and reads nothing. Installing changes
 * programs as well; told is what takes the place of another one, and is not as an installer leaves it.
 */
import { hash } from 'node:crypto';
import { accessSync, constants, lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { looksBinary } from '../files/file-content.ts';
import { installedElsewhere } from './installed-program.ts';
import type { WatchedChange, WatchedFile } from './watched-file.ts';

interface SearchFolder {
  /** It moves when an entry is made, renamed or removed, also one that is gone again. */
  readonly changed: string;
  readonly names: ReadonlySet<string>;
  /** What is known of those that are looked at: of many only those that decide about tests, and new ones. */
  readonly facts: ReadonlyMap<string, string>;
}

/** In the order of the search path. */
export type SearchPath = ReadonlyMap<string, SearchFolder>;

/** What all others are run by. */
const RUNS_ALL =
  /^(?:node|nodejs|npm|npx|env|sh|bash|dash|zsh|git|make|gmake|python[\d.]*|ruby|perl|php|cargo|rustc|go|java|deno|bun|dotnet|swift)$/;
/** What runs tests and checks. */
const RUNS_TESTS =
  /^(?:pnpm|yarn|corepack|jest|vitest|mocha|ava|tap|c8|nyc|tsx|ts-node|tsc|eslint|biome|prettier|playwright|cypress|pytest|py\.test|tox|nox|nose2|coverage|unittest|mypy|pyright|ruff|flake8|pylint|black|uv|uvx|poetry|hatch|pdm|pipenv|pip[\d.]*|rspec|rake|bundle|rubocop|phpunit|composer|mvn|mvnw|gradle|gradlew|sbt|cargo-\w+|rustup|golangci-lint|gotestsum|ctest|cmake|ninja|bazel|bazelisk|just|task|mix|elixir|stack|cabal|timeout|time|nice|setsid|xargs)$/;

const decides = (name: string): boolean => RUNS_ALL.test(name) || RUNS_TESTS.test(name);

/** Folders of the workspace are looked at elsewhere. */
export function searchPathOf(root: string, path: string, known: SearchPath | undefined): SearchPath {
  const folders = new Map<string, SearchFolder>();
  for (const folder of placesOf(root, path)) {
    const seen = readFolder(folder, known?.get(folder));
    if (seen !== undefined) folders.set(folder, seen);
  }
  return folders;
}

const placesOf = (root: string, path: string): readonly string[] =>
  [...new Set(path.split(':').filter(isAbsolute))].filter((place) => !`${resolve(place)}/`.startsWith(`${root}/`));

function readFolder(folder: string, known: SearchFolder | undefined): SearchFolder | undefined {
  try {
    accessSync(folder, constants.W_OK);
    const { ino, mtimeMs } = statSync(folder);
    const changed = `${ino}:${mtimeMs}`;
    const names = known?.changed === changed ? known.names : new Set(readdirSync(folder));
    const isNew = (name: string): boolean => known !== undefined && (!known.names.has(name) || known.facts.has(name));
    const looked =
      names.size > limits.searchPathPrograms ? [...names].filter((name) => decides(name) || isNew(name)) : [...names];
    const facts = new Map<string, string>();
    for (const name of looked) {
      const found = factsOf(join(folder, name));
      if (found !== undefined) facts.set(name, found);
    }
    return { changed, names, facts };
  } catch {
    return undefined;
  }
}

/** Of the entry, and of what it leads to. */
function factsOf(path: string): string | undefined {
  const [link, target] = [lstatSync(path, { throwIfNoEntry: false }), statSync(path, { throwIfNoEntry: false })];
  if (link === undefined || target?.isFile() !== true || (target.mode & 0o111) === 0) return undefined;
  const text = ({ size, mtimeMs, ctimeMs, ino, mode }: Stats): string => [size, mtimeMs, ctimeMs, ino, mode].join(':');
  return `${text(link)},${text(target)}`;
}

export interface ChangedSearchPath {
  /** What commands would now find in the place of what they found before; paths are absolute. */
  readonly programs: readonly WatchedChange[];
  /** A folder in which something came and went: nobody knows whether what ran meanwhile ran that. */
  readonly passing?: string | undefined;
}

export function changedSearchPath(root: string, path: string, before: SearchPath, after: SearchPath): ChangedSearchPath {
  const places = placesOf(root, path);
  let passing: string | undefined;
  const programs = places.flatMap((folder, index) => {
    const [known, now] = [before.get(folder), after.get(folder)];
    const names = new Set([...(known?.facts.keys() ?? []), ...(now?.facts.keys() ?? [])]);
    const different = [...names].filter((name) => known?.facts.get(name) !== now?.facts.get(name));
    if (different.length === 0 && known !== undefined && now !== undefined && known.changed !== now.changed)
      if (sameNames(known.names, now.names)) passing ??= folder;
    return different.flatMap((name): WatchedChange[] => {
      if (places.slice(0, index).some((earlier) => isProgram(join(earlier, name)))) return [];
      const program = doubtOf(join(folder, name), name, {
        had: known?.facts.has(name) === true,
        shadows: places.slice(index + 1).some((later) => isProgram(join(later, name))),
        isThere: now?.facts.has(name) === true,
      });
      const [was, is] = [fileOf(known?.facts.get(name)), fileOf(now?.facts.get(name))];
      return program === undefined ? [] : [{ path: join(folder, name), before: was, after: is, program }];
    });
  });
  return { programs, passing };
}

/** It matters to those only who run it: what stands there may be what the work is about. */
export const ANOTHER_TOOL = 'it is another one than before, and not as an installer leaves it';

interface Found {
  readonly had: boolean;
  readonly shadows: boolean;
  readonly isThere: boolean;
}

function doubtOf(path: string, name: string, { had, shadows, isThere }: Found): string | undefined {
  if (!isThere) return decides(name) ? `${name} was taken away, and another may take its place` : undefined;
  // What led nowhere before can be anything.
  if (!decides(name) && !had && !shadows) return undefined;
  const instead = `it takes the place of ${name}`;
  if (RUNS_ALL.test(name) && (had || shadows)) return instead;
  try {
    const bytes = statSync(path).size > limits.programBytes ? Buffer.from('\0large') : readFileSync(path);
    if (installedElsewhere(path, bytes)) return undefined;
    // A compiled program that is new: fetched, or built by an installer of another language.
    if (!had && !shadows && looksBinary(bytes)) return undefined;
    return decides(name) || shadows ? `${instead}, and is not as an installer leaves it` : ANOTHER_TOOL;
  } catch {
    return instead;
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const sameNames = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((name) => right.has(name));

const fileOf = (facts: string | undefined): WatchedFile | undefined =>
  facts === undefined ? undefined : { sha256: hash('sha256', facts), executable: true, binary: true };

/** The same as a look at the search path knows of it. */
export function programAt(path: string): WatchedFile | undefined {
  try {
    return fileOf(factsOf(path));
  } catch {
    return undefined;
  }
}
