/**
 * Where a repository keeps its Squad team: `.squad/`, or `.ai-team/` from before. The files may be a stranger's: they are read
 * only inside the folder, links included, and only up to a size.
 */
import { opendir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { ok, type Result } from '../../base/result.ts';
import { confinedPath, isInside } from '../text/confined-path.ts';
import { type Diagnostic, warningAt } from '../text/diagnostics.ts';
import { type ReadFailure, readText } from '../text/read-text.ts';

/** The first one that holds a `team.md` counts. */
export const SQUAD_FOLDERS = ['.squad', '.ai-team'] as const;
export const TEAM_FILE = 'team.md';

export interface SquadFolder {
  readonly root: string;
  /** As it is called in the project: `.squad` or `.ai-team`. */
  readonly name: string;
  readonly path: string;
}

export interface FoundSquad {
  readonly folder?: SquadFolder | undefined;
  readonly warnings: readonly Diagnostic[];
}

export async function findSquadFolder(root: string): Promise<FoundSquad> {
  const warnings: Diagnostic[] = [];
  for (const name of SQUAD_FOLDERS) {
    const path = await confinedPath(root, join(root, name));
    if (!path.ok) {
      if (path.error.message !== 'does not exist') warnings.push(problem(name, path.error));
      continue;
    }
    const folder = { root, name, path: path.value };
    const team = await readSquadFile(folder, TEAM_FILE);
    if (!team.ok) warnings.push(problem(`${name}/${TEAM_FILE}`, team.error));
    else if (team.value !== undefined) return { folder, warnings };
  }
  return { warnings };
}

/** `undefined` when there is no such file. The path is relative to the folder. */
export async function readSquadFile(
  folder: SquadFolder,
  file: string,
  options: { readonly keepMark?: boolean } = {},
): Promise<Result<string | undefined, ReadFailure>> {
  const path = await confinedPath(folder.path, join(folder.path, file));
  if (path.ok) return await readText(path.value, options);
  return path.error.message === 'does not exist' ? ok(undefined) : path;
}

/**
 * The path inside the folder that a roster means: relative to the project (`.squad/agents/…`, or `.ai-team/…` from before a
 * move) or to the folder itself. `undefined` when it leads out.
 */
export function pathInFolder(folder: SquadFolder, said: string): string | undefined {
  const path = said.replaceAll('\\', '/').replace(/^\.\//, '');
  const inside = SQUAD_FOLDERS.reduce((rest, name) => (rest.startsWith(`${name}/`) ? rest.slice(name.length + 1) : rest), path);
  if (inside.startsWith('/') || /^[a-z]:/i.test(inside) || inside.split('/').includes('..')) return undefined;
  return isInside(folder.path, resolve(folder.path, inside)) ? inside : undefined;
}

/** The folders below `agents/`, without alumni and whatever else has `_` or `.` in front. */
export async function agentFolders(folder: SquadFolder): Promise<readonly string[]> {
  const path = await confinedPath(folder.path, join(folder.path, 'agents'));
  if (!path.ok) return [];
  const names: string[] = [];
  try {
    for await (const entry of await opendir(path.value)) {
      if (entry.isDirectory() && !/^[._]/.test(entry.name)) names.push(entry.name);
      if (names.length >= limits.squadAgentFolders) break;
    }
  } catch {
    return [];
  }
  return names.sort();
}

export function problem(file: string, failure: ReadFailure, line = 1): Diagnostic {
  return warningAt({ file, line, column: 1 }, failure.message, failure.fix);
}
