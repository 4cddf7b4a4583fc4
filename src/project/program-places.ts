/**
 * What the running program is loaded from, where that lies in the project: whoever writes there has code run with the owner's
 * keys the next time somebody calls it. It is the whole folder of packages, not Troupe's and those that it needs alone: a folder
 * that may be written around them can be moved away and put there anew, and a package that is missing could be added.
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';

const PACKAGES = 'node_modules';
/** With these a package manager is told what to load before anything that it starts. */
const STARTERS = ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml'];

/** `here`: a folder of the program. One that is not installed, or elsewhere, has nothing in the project. */
export function programPlaces(project: string, here: string): readonly string[] {
  const parts = realOf(here).split(sep);
  const at = parts.indexOf(PACKAGES);
  if (at < 0) return [];
  const packages = parts.slice(0, at + 1).join(sep);
  const way = relative(realOf(project), packages);
  if (way.startsWith('..') || isAbsolute(way)) return [];
  return [packages, ...STARTERS.map((name) => join(packages, '..', name))];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
