/**
 * Which places a program sees. The home of the user is hidden but for what is named and for programs that the PATH finds; so is
 * what Troupe keeps. A place that does not exist needs no wall, but for one that must not be made.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { limits } from '../base/limits.ts';
import type { Program, Walls } from './port.ts';
import { liesIn, visiblePrograms } from './programs.ts';

/** In the words of the library. */
export interface PlacesInside {
  readonly denyRead: string[];
  readonly allowRead: string[];
  readonly allowWrite: string[];
  readonly denyWrite: string[];
}

export interface AlwaysHidden {
  /** The user's home; nothing of it is hidden when it is the whole system. */
  readonly home: string | undefined;
  /** What Troupe keeps: ledgers, keys, state. */
  readonly state: readonly string[];
  /** What the walls themselves are made of, wherever it lies. */
  readonly own: readonly string[];
  /** Hidden from a program that is kept apart from others. */
  readonly shared?: SharedTemporary | undefined;
}

export interface SharedTemporary {
  readonly folders: readonly string[];
  /** What must be seen there all the same. */
  readonly ways: readonly string[];
}

export function placesInside(
  program: Program,
  walls: Walls,
  { home, state, own, shared }: AlwaysHidden,
  temporary: string,
): PlacesInside {
  const at = (paths: readonly string[]): string[] => existing(paths.map((path) => inHome(path, home)));
  const write = at([...walls.write, temporary]);
  const hiddenHome = home !== undefined && isHideable(home) ? existing([home]) : [];
  const hidden = [...hiddenHome, ...existing(shared?.folders ?? [])];
  const needed = existing(own).filter((path) => hidden.some((place) => liesIn(place, path)));
  const read = at([...needed, ...walls.read, ...(shared?.ways ?? []), ...visiblePrograms(program, walls.programs ?? [], hidden)]);
  return {
    denyRead: [...hidden, ...existing([...state, ...walls.hide])],
    // What may be written lies perhaps where nothing is to be seen.
    allowRead: [...new Set([...read, ...write])],
    allowWrite: write,
    denyWrite: existing([...walls.keep, ...write.flatMap(gitFoldersOf).flatMap(ranByGit)]).concat(
      closed([...(walls.unmade ?? []), ...write.flatMap(gitFoldersOf).flatMap(notToBeMade)]),
    ),
  };
}

/** `~/` is the home. */
export const inHome = (path: string, home: string | undefined): string =>
  home !== undefined && (path === '~' || path.startsWith('~/')) ? join(home, path.slice(1)) : path;

/** Inside, these are others of the same name: nothing that lies there can be shown. */
export function isCovered(path: string): boolean {
  return ['/dev', '/proc', '/sys'].some((place) => path === place || liesIn(place, path));
}

/** A home that holds the system's own folders cannot be hidden. */
function isHideable(home: string): boolean {
  return isAbsolute(home) && !['/', '/usr', '/opt', '/var', '/tmp', '/home', '/Users'].includes(resolve(home));
}

/** The repository that lies in a folder, and those of its modules. */
function gitFoldersOf(folder: string): string[] {
  const top = join(folder, '.git');
  if (!existsSync(join(top, 'HEAD'))) return [];
  return [top, ...modulesIn(join(top, 'modules'))];
}

/** A name of a module may hold slashes, and a module may have modules. */
function modulesIn(folder: string, depth = 0): string[] {
  if (depth === limits.modulesDepth || !existsSync(folder)) return [];
  const below = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
  return below.flatMap(({ name }) => {
    const path = join(folder, name);
    return existsSync(join(path, 'HEAD')) ? [path, ...modulesIn(join(path, 'modules'), depth + 1)] : modulesIn(path, depth + 1);
  });
}

/** Code that git runs by itself, settings that name such code, and what leads other worktrees to theirs. */
const ranByGit = (git: string): string[] => ['hooks', 'config', 'worktrees'].map((name) => join(git, name));

/** What git would take for the same, were it there; an empty file in its place says nothing. */
const notToBeMade = (git: string): string[] => ['hooks', WORKTREE_SETTINGS].map((name) => join(git, name));

/** What is not there, too, as long as there is a folder to make it in. */
function closed(paths: readonly string[]): string[] {
  const there = paths.filter((path) => existsSync(dirname(path)));
  const real = [...new Set(there.map((path) => join(realpathSync(dirname(path)), basename(path))))];
  for (const path of real) if (basename(path) === WORKTREE_SETTINGS && areRead(path)) makeEmpty(path);
  return real;
}

const WORKTREE_SETTINGS = 'config.worktree';

/** Whether git reads settings of a worktree: what the package puts in the place of a missing file cannot be read inside. */
function areRead(path: string): boolean {
  const folder = dirname(path);
  const common = basename(dirname(folder)) === 'worktrees' ? dirname(dirname(folder)) : folder;
  try {
    return /worktreeconfig/i.test(readFileSync(join(common, 'config'), 'utf8'));
  } catch {
    return false;
  }
}

/** Git takes it for none. It stays: another program may stand inside its own walls around it. */
function makeEmpty(path: string): void {
  if (!existsSync(path)) writeFileSync(path, '', { flag: 'a' });
}

/** Real paths, each once: a wall around a link would be none around where it leads. */
function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => isAbsolute(path) && existsSync(path)).map((path) => realpathSync(path)))];
}
