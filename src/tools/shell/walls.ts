/** What a command sees inside a sandbox: the workspace, as far as agents may change it, and of its repository what git needs. */
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Sandbox, Walls } from '../../sandbox/port.ts';
import type { ProtectedPlaces } from '../files/guard.ts';
import { AGENT_FOLDERS, AGENTS_FOLDER, SETTINGS_FILES } from '../protected-names.ts';

export function insideOf(
  sandbox: Sandbox | undefined,
  workspace: string,
  places: ProtectedPlaces | undefined,
): { readonly sandbox: Sandbox; readonly walls: Walls } | undefined {
  return sandbox === undefined ? undefined : { sandbox, walls: commandWalls(workspace, places) };
}

function commandWalls(workspace: string, places: ProtectedPlaces | undefined): Walls {
  const repository = repositoryOf(workspace);
  const folders = [...new Set([workspace, ...(places === undefined ? [] : [places.project])])];
  const rights = [AGENTS_FOLDER, ...AGENT_FOLDERS, ...SETTINGS_FILES];
  return {
    write: [workspace, ...repository],
    read: [],
    // Whoever can write these gives itself rights.
    keep: [
      ...folders.flatMap((folder) => rights.map((name) => join(folder, name))),
      ...repository.flatMap((folder) => [join(folder, 'hooks'), join(folder, 'config')]),
    ],
    hide: places === undefined ? [] : [...places.ledgers, places.keys, places.user],
    hosts: [],
  };
}

/** A worktree keeps its commits in the repository that it belongs to. */
function repositoryOf(workspace: string): readonly string[] {
  const dotGit = join(workspace, '.git');
  try {
    if (!statSync(dotGit).isFile()) return [];
    const folder = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, 'utf8'))?.[1];
    if (folder === undefined) return [];
    const own = resolve(workspace, folder);
    const common = readFileSync(join(own, 'commondir'), 'utf8').trim();
    return [resolve(own, common)];
  } catch {
    return [];
  }
}
