/** What a command sees inside a sandbox: the workspace, as far as agents may change it, and of its repository what git needs. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
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

export function commandWalls(workspace: string, places: ProtectedPlaces | undefined): Walls {
  const repository = worktreeOf(workspace);
  const folders = [...new Set([workspace, ...(places === undefined ? [] : [places.project])])];
  const rights = [AGENTS_FOLDER, ...AGENT_FOLDERS, ...SETTINGS_FILES];
  return {
    // What a commit on no branch needs; of the rest nothing: branches, stash and history are the user's.
    write: [workspace, ...(repository === undefined ? [] : [repository.own, join(repository.common, OBJECTS)])],
    read: repository === undefined ? [] : [...READ.map((name) => join(repository.common, name)), ...installedFor(repository)],
    // Whoever can write these gives itself rights.
    keep: [
      ...folders.flatMap((folder) => rights.map((name) => join(folder, name))),
      ...(repository === undefined
        ? []
        : [repository.link, ...LEADING.map((name) => join(repository.own, name)), ...packedIn(repository)]),
    ],
    unmade: repository === undefined ? [] : [join(repository.own, 'config.worktree')],
    hide: places === undefined ? [] : [...places.ledgers, places.keys, places.user],
    hosts: [],
  };
}

/** What all worktrees write to when something is committed in one. */
const OBJECTS = 'objects';
/** Objects that were packed, and where others are. Of loose ones every folder takes new ones, too. */
const packedIn = ({ common }: Worktree): string[] => ['pack', 'info'].map((name) => join(common, OBJECTS, name));
/** What git reads beside these. Named one by one: where all of it can be read, none of it can be written. */
const READ = ['HEAD', 'refs', 'logs', 'config', 'config.worktree', 'packed-refs', 'shallow', 'info', 'hooks', 'lfs'];
/** Packages that were installed where the repository is: Node looks for them in the folders above a worktree. */
const installedFor = ({ common }: Worktree): string[] =>
  basename(common) === '.git' ? [join(dirname(common), 'node_modules')] : [];
/** What says where the repository of a worktree is, and with that whose settings hold. */
const LEADING = ['commondir', 'gitdir', 'config.worktree'];

interface Worktree {
  /** The file that says where the rest is. */
  readonly link: string;
  /** What belongs to this worktree alone. */
  readonly own: string;
  /** The repository that it keeps its commits in. */
  readonly common: string;
}

/** Of a folder in a worktree; nothing for one in the repository itself. */
export function worktreeOf(workspace: string): Worktree | undefined {
  let folder = workspace;
  for (let depth = 0; depth < limits.projectSearchDepth; depth += 1) {
    const link = join(folder, '.git');
    const facts = statSync(link, { throwIfNoEntry: false });
    if (facts !== undefined) return facts.isFile() ? behind(link) : undefined;
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return undefined;
}

function behind(link: string): Worktree | undefined {
  try {
    const named = /^gitdir: (.+)$/m.exec(readFileSync(link, 'utf8'))?.[1];
    if (named === undefined) return undefined;
    const own = realpathSync(resolve(dirname(link), named));
    const common = realpathSync(resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim()));
    // Whoever wrote these files could otherwise open any folder by naming it.
    return dirname(own) === join(common, 'worktrees') ? { link, own, common } : undefined;
  } catch {
    return undefined;
  }
}
