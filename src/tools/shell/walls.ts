/** What a command sees inside a sandbox: the workspace, as far as agents may change it, and of its repository what git needs. */
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import type { Sandbox, Walls } from '../../sandbox/port.ts';
import type { ProtectedPlaces } from '../closed/guard.ts';
import { AGENT_FOLDERS, AGENTS_FOLDER, KEYS_FILE, OWN_GIT_MARK, SETTINGS_FILES } from '../protected-names.ts';

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
  const git = repository === undefined ? NO_GIT : repository.own === undefined ? ownGit(repository) : sharedGit(repository);
  return {
    write: [workspace, ...git.write],
    read: repository === undefined ? [] : [...git.read, ...installedFor(repository)],
    // Whoever can write these gives itself rights.
    keep: [
      ...folders.flatMap((folder) => [...rights, ...keysIn(folder)].map((name) => join(folder, name))),
      ...(places?.program ?? []),
      ...git.keep,
    ],
    unmade: git.unmade,
    hide: places === undefined ? [] : [...places.ledgers, places.keys, places.user],
    hosts: [],
  };
}

const keysIn = (folder: string): readonly string[] =>
  statSync(join(folder, KEYS_FILE), { throwIfNoEntry: false })?.isFile() === true ? [KEYS_FILE] : [];

type GitWalls = Required<Pick<Walls, 'write' | 'read' | 'keep' | 'unmade'>>;
const NO_GIT: GitWalls = { write: [], read: [], keep: [], unmade: [] };

/** All that is written is the worktree's own; of the repository there is what the objects in there rest on, to be read. */
function ownGit({ link, common }: Worktree): GitWalls {
  const inside = (names: readonly string[]): string[] => names.map((name) => join(link, name));
  return {
    write: [link],
    read: objectsOf(join(common, OBJECTS)),
    keep: inside(['config', 'commondir', OWN_GIT_MARK, 'info', join(OBJECTS, 'info')]),
    unmade: inside(['config.worktree', 'hooks']),
  };
}

/** Where the objects of a repository are, those of others among them that it borrows. */
function objectsOf(folder: string, depth = BORROWED_DEPTH): string[] {
  const file = join(folder, 'info', 'alternates');
  const facts = depth === 0 ? undefined : statSync(file, { throwIfNoEntry: false });
  const lines = facts === undefined || facts.size > BORROWED_BYTES ? [] : readFileSync(file, 'utf8').split('\n');
  const named = lines.filter((line) => line !== '' && !/^["#]/.test(line)).map((line) => resolve(folder, line));
  return [folder, ...named.flatMap((one) => objectsOf(one, depth - 1))];
}
const BORROWED_DEPTH = 5;
const BORROWED_BYTES = 64 * 1024;

/** What a commit on no branch needs; of the rest nothing: branches, stash and history are the user's. */
function sharedGit({ link, own = '', common }: Worktree): GitWalls {
  return {
    write: [own, join(common, OBJECTS)],
    read: READ.map((name) => join(common, name)),
    keep: [link, ...LEADING.map((name) => join(own, name)), ...['pack', 'info'].map((name) => join(common, OBJECTS, name))],
    unmade: [join(own, 'config.worktree')],
  };
}

/** What all worktrees write to when something is committed in one. */
const OBJECTS = 'objects';
/** What git reads beside these. Named one by one: where all of it can be read, none of it can be written. */
const READ = ['HEAD', 'refs', 'logs', 'config', 'config.worktree', 'packed-refs', 'shallow', 'info', 'hooks', 'lfs'];
/** Packages that were installed where the repository is: Node looks for them in the folders above a worktree. */
const installedFor = ({ common }: Worktree): string[] =>
  basename(common) === '.git' ? [join(dirname(common), 'node_modules')] : [];
/** What says where the repository of a worktree is, and with that whose settings hold. */
const LEADING = ['commondir', 'gitdir', 'config.worktree'];

interface Worktree {
  /** The file that says where the rest is; or a git folder of the worktree's own. */
  readonly link: string;
  /** What the repository keeps for this worktree alone; absent where that has a git folder of its own. */
  readonly own?: string | undefined;
  /** The repository whose objects it has. */
  readonly common: string;
}

/** Of a folder in a worktree; nothing for one in the repository itself. */
export function worktreeOf(workspace: string): Worktree | undefined {
  let folder = workspace;
  for (let depth = 0; depth < limits.projectSearchDepth; depth += 1) {
    const link = join(folder, '.git');
    const facts = statSync(link, { throwIfNoEntry: false });
    if (facts !== undefined) return facts.isFile() ? behind(link) : besideRepository(link);
    if (dirname(folder) === folder) break;
    folder = dirname(folder);
  }
  return undefined;
}

/** A git folder of a place's own, as the repository that it was made from confirms. */
function besideRepository(link: string): Worktree | undefined {
  try {
    const own = realpathSync(readFileSync(join(link, OWN_GIT_MARK), 'utf8').trim());
    const common = realpathSync(resolve(own, readFileSync(join(own, 'commondir'), 'utf8').trim()));
    const back = readFileSync(join(own, 'gitdir'), 'utf8').trim();
    return dirname(own) === join(common, 'worktrees') && realpathSync(back) === realpathSync(link) ? { link, common } : undefined;
  } catch {
    return undefined;
  }
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
