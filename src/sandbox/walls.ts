/**
 * Which places a program sees. The home of the user is hidden but for what is named and for programs that the PATH finds; so is
 * what Troupe keeps. A place that does not exist needs no wall, and one cannot be built around it.
 */
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
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
  { home, state, shared }: AlwaysHidden,
  temporary: string,
): PlacesInside {
  const at = (paths: readonly string[]): string[] => existing(paths.map((path) => inHome(path, home)));
  const write = at([...walls.write, temporary]);
  const hiddenHome = home !== undefined && isHideable(home) ? existing([home]) : [];
  const hidden = [...hiddenHome, ...existing(shared?.folders ?? [])];
  const read = at([...walls.read, ...(shared?.ways ?? []), ...visiblePrograms(program, walls.programs ?? [], hidden)]);
  return {
    denyRead: [...hidden, ...existing([...state, ...walls.hide])],
    // What may be written lies perhaps where nothing is to be seen.
    allowRead: [...new Set([...read, ...write])],
    allowWrite: write,
    denyWrite: existing([...walls.keep, ...write.flatMap(hooksOf)]),
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

/** Code that git runs by itself, and settings that name such code. */
const hooksOf = (folder: string): string[] => [join(folder, '.git', 'hooks'), join(folder, '.git', 'config')];

/** Real paths, each once: a wall around a link would be none around where it leads. */
function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => isAbsolute(path) && existsSync(path)).map((path) => realpathSync(path)))];
}
