/**
 * Programs that lie where nothing is to be seen, and can be run all the same: each folder of the PATH with what it belongs to,
 * and files that are named. What a command line names does not count by itself: whoever wrote it would open what it likes.
 */
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { limits } from '../base/limits.ts';
import type { Program } from './port.ts';

export function visiblePrograms(
  { file, environment }: Program,
  programs: readonly string[],
  hidden: readonly string[],
): readonly string[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const named = [file, ...programs].filter((path) => isAbsolute(path) && existsSync(path)).map((path) => realpathSync(path));
  return hidden.flatMap((place) => [
    ...folders.filter((folder) => liesIn(place, folder)).flatMap((folder) => installationOf(place, folder)),
    ...named.filter((path) => liesIn(place, path)).map((path) => packageOf(place, path)),
  ]);
}

/** `~/.nvm/versions/node/v24/bin` needs what lies beside it; `~/bin` only itself, or the whole home would be seen. */
function installationOf(place: string, folder: string): readonly string[] {
  const above = dirname(folder);
  if (!/^s?bin$/.test(folder.slice(above.length + 1)) || !liesIn(place, above)) return [folder, ...behind(place, folder)];
  // Beside these programs lies what all of them keep, secrets among it.
  return above.endsWith('/.local') ? [folder, join(above, 'lib'), ...behind(place, folder)] : [above];
}

/** What the links in a folder of programs lead to. */
function behind(place: string, folder: string): readonly string[] {
  try {
    const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());
    const targets = links.slice(0, limits.sandboxPaths).flatMap(({ name }) => {
      const path = join(folder, name);
      return existsSync(path) ? [realpathSync(path)] : [];
    });
    return [...new Set(targets.filter((path) => liesIn(place, path)).map((path) => packageOf(place, path)))];
  } catch {
    return [];
  }
}

/** What a file needs of what lies around it: its package, or its installation, or the file alone. */
function packageOf(place: string, path: string): string {
  for (let folder = dirname(path); liesIn(place, folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || existsSync(join(folder, 'pyvenv.cfg'))) return packagesAround(place, folder);
  }
  return path;
}

/** What a package depends on lies beside it where others depend on it, too. */
function packagesAround(place: string, folder: string): string {
  const at = folder.indexOf('/node_modules/');
  const around = at === -1 ? folder : folder.slice(0, at);
  return liesIn(place, around) ? around : folder;
}

/** Strictly inside. */
export function liesIn(folder: string, path: string): boolean {
  const from = relative(folder, resolve(path));
  return from !== '' && !from.startsWith('..') && !isAbsolute(from);
}
