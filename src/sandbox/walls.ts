/**
 * Which places a program sees. The home of the user is hidden but for what is named and for programs that the PATH finds; so is
 * what Troupe keeps. A place that does not exist needs no wall, and one cannot be built around it.
 */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { Program, Walls } from './port.ts';

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
}

export function placesInside(program: Program, walls: Walls, { home, state }: AlwaysHidden, temporary: string): PlacesInside {
  const write = existing([...walls.write, temporary]);
  const hiddenHome = home !== undefined && isHideable(home) ? existing([home]) : [];
  const read = existing([...walls.read, ...programsIn(program, hiddenHome[0])]);
  return {
    denyRead: [...hiddenHome, ...existing([...state, ...walls.hide])],
    // What may be written lies perhaps where nothing is to be seen.
    allowRead: [...new Set([...read, ...write])],
    allowWrite: write,
    denyWrite: existing([...walls.keep, ...write.flatMap(hooksOf)]),
  };
}

/** Inside, these are others of the same name: nothing that lies there can be shown. */
export function isCovered(path: string): boolean {
  return ['/dev', '/proc', '/sys'].some((place) => path === place || isWithin(place, path));
}

/** A home that holds the system's own folders cannot be hidden. */
function isHideable(home: string): boolean {
  return isAbsolute(home) && !['/', '/usr', '/opt', '/var', '/tmp', '/home', '/Users'].includes(resolve(home));
}

/** Tools that were installed into the home are still found: each folder of the PATH, and what it belongs to. */
function programsIn({ file, environment }: Program, home: string | undefined): readonly string[] {
  if (home === undefined) return [];
  const folders = [...(environment['PATH'] ?? '').split(delimiter), ...(isAbsolute(file) ? [dirname(file)] : [])];
  return folders.filter((folder) => isWithin(home, folder)).map((folder) => installationOf(home, folder));
}

/** `~/.nvm/versions/node/v24/bin` needs what lies beside it; `~/bin` only itself, or the whole home would be seen. */
function installationOf(home: string, folder: string): string {
  const above = dirname(folder);
  return /^s?bin$/.test(folder.slice(above.length + 1)) && isWithin(home, above) ? above : folder;
}

/** Code that git runs by itself, and settings that name such code: in a repository, and in that of a worktree. */
const hooksOf = (folder: string): string[] => [join(folder, '.git', 'hooks'), join(folder, '.git', 'config')];

/** Strictly inside. */
function isWithin(folder: string, path: string): boolean {
  const from = relative(folder, path);
  return from !== '' && !from.startsWith('..') && !isAbsolute(from);
}

/** Real paths, each once: a wall around a link would be none around where it leads. */
function existing(paths: readonly string[]): string[] {
  return [...new Set(paths.filter((path) => isAbsolute(path) && existsSync(path)).map((path) => realpathSync(path)))];
}
