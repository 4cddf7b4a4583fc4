/**
 * Knows which places are not for agents: by name at any depth, and by what they are, wherever the settings put them; a ledger is
 * known as one whether a setting names it or not. The same
 * place by another name (a link, a hard link, another case) is the same place.
 */
import { existsSync } from 'node:fs';
import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { limits } from '../../base/limits.ts';
import {
  AGENT_FOLDERS,
  AGENTS_FOLDER,
  EDITOR_SERVERS,
  foldedName,
  KEYS_FILE,
  type ProtectedKind,
  plainPath,
  protectedName,
  SETTINGS_FILE,
  SETTINGS_FILES,
} from '../protected-names.ts';
import { isAgentFile } from './agent-file.ts';
import { inBareRepository } from './bare-repository.ts';
import { BESIDE_LEDGER, belongsToLedger } from './ledger-file.ts';

export interface ProtectedPlaces {
  /** The project: its agents and settings lie here. */
  readonly project: string;
  /** Where state of the project lives, worktrees of groups among it. */
  readonly home: string;
  /** Files of ledgers, and folders with payloads of such on a server. */
  readonly ledgers: readonly string[];
  /** The user's own settings, agents, presets and approvals. */
  readonly user: string;
  /** The file with the keys that open what is sealed. */
  readonly keys: string;
  /** What the running program is loaded from, and what says how it is started. */
  readonly program?: readonly string[] | undefined;
  /** Files that are run with rights of their own, there or not: whoever writes one has these. */
  servers?(): Promise<readonly string[]>;
  /** Files of the agents that were read, wherever they lie. */
  agents?(): readonly string[];
}

/** In the user's folder: what is being watched at the moment, which comes and goes with every call. */
export const WATCHING_FOLDER = 'watching';

export const WORKTREES_FOLDER = 'worktrees';

export interface Guard {
  /** What a real path inside a workspace belongs to, if it is protected. `root` is the workspace's real path. */
  protection(root: string, absolute: string): Promise<ProtectedKind | undefined>;
  /** Whether a walk passes over an entry: state is not even shown. */
  hidden(): Promise<(absolute: string) => boolean>;
  /** Notes how the protected files are; calling the result says which have changed since. For what cannot be kept out. */
  watch(): Promise<() => Promise<readonly string[]>>;
}

interface GuardedPlace {
  readonly path: string;
  readonly protection: ProtectedKind;
}

export function createGuard(places?: ProtectedPlaces): Guard {
  const known = places === undefined ? [] : placesOf(places);
  const settled = (): Promise<readonly GuardedPlace[]> =>
    Promise.all(known.map(async ({ path, protection }) => ({ path: await realPlace(path), protection })));
  return {
    async protection(root, absolute) {
      const parts = relative(root, absolute).split(sep);
      const named = protectedName(parts) ?? ((await inAgentsFolder(root, parts, places)) ? 'agents' : undefined);
      if (named !== undefined) return named;
      const placed = await protectionOf(await settled(), root, absolute);
      if (placed !== undefined) return placed;
      if (belongsToLedger(absolute)) return 'state';
      if (await inBareRepository(root, parts)) return 'git';
      if (isAgentFile(absolute)) return 'agents';
      if (places === undefined) return undefined;
      if (await isOneOf(places.agents?.() ?? [], places, root, absolute)) return 'agents';
      return (await isOneOf((await places.servers?.()) ?? [], places, root, absolute)) ? 'servers' : undefined;
    },
    async hidden() {
      const state = (await settled()).filter(({ protection }) => protection === 'state').map(({ path }) => plainPath(path));
      return (absolute) =>
        protectedName([basename(absolute)]) === 'state' ||
        state.some((place) => within(place, plainPath(absolute))) ||
        (BESIDE.test(absolute) && belongsToLedger(absolute));
    },
    async watch() {
      if (places === undefined) return async () => [];
      const before = await stampsOf(places);
      return async () => {
        const after = await stampsOf(places);
        const changed = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
        return changed.map((path) => relative(places.project, path)).sort();
      };
    },
  };
}

/** Of a ledger that nobody names, what is not its file: that is no text, so that no search finds anything in it. */
const BESIDE = /-(?:wal|shm|journal|bell|payloads)$/;

export const EDITOR_SERVERS_FILE = join(EDITOR_SERVERS.folder, EDITOR_SERVERS.file);

function placesOf({ project, home, ledgers, user, keys, program = [] }: ProtectedPlaces): readonly GuardedPlace[] {
  const at = (protection: ProtectedKind, ...paths: readonly string[]): GuardedPlace[] =>
    paths.map((path) => ({ path, protection }));
  return [
    ...at('state', home, keys),
    ...at('state', ...ledgers.flatMap((ledger) => BESIDE_LEDGER.map((end) => ledger + end))),
    ...at('program', ...program),
    ...at('agents', ...[AGENTS_FOLDER, ...AGENT_FOLDERS].map((name) => join(project, name))),
    ...at('settings', user, ...[...SETTINGS_FILES, KEYS_FILE, EDITOR_SERVERS_FILE].map((name) => join(project, name))),
  ];
}

/** `agents` at the top of this project or of a copy of it, or beside the settings of any other. */
async function inAgentsFolder(root: string, parts: readonly string[], places: ProtectedPlaces | undefined): Promise<boolean> {
  for (const [index, part] of parts.entries()) {
    if (foldedName(part) !== AGENTS_FOLDER) continue;
    if (index === 0 && places !== undefined && within(join(await realPlace(places.home), WORKTREES_FOLDER), root)) return true;
    if (await exists(join(root, ...parts.slice(0, index), SETTINGS_FILE))) return true;
  }
  return false;
}

async function protectionOf(
  settled: readonly GuardedPlace[],
  root: string,
  absolute: string,
): Promise<ProtectedKind | undefined> {
  // A worktree lies in the folder for state and is a workspace all the same.
  const counts = settled.filter(({ path, protection }) => protection !== 'state' || !within(path, root));
  const plain = plainPath(absolute);
  const named = counts.find(({ path }) => within(plainPath(path), plain));
  if (named !== undefined) return named.protection;
  const identities = new Map<string, ProtectedKind>();
  for (const { path, protection } of counts) {
    const identity = await identityOf(path);
    if (identity !== undefined) identities.set(identity, protection);
  }
  for (let at = absolute; ; at = dirname(at)) {
    const found = identities.get((await identityOf(at)) ?? '');
    if (found !== undefined) return found;
    if (at === dirname(at)) return undefined;
  }
}

/** Whether it is one of these files, by any name, or one of them in a copy of the project. */
async function isOneOf(
  paths: readonly string[],
  { project, home }: ProtectedPlaces,
  root: string,
  absolute: string,
): Promise<boolean> {
  if (paths.length === 0) return false;
  const plain = plainPath(absolute);
  const folders = new Map<string, string>();
  for (const folder of new Set(paths.map((path) => dirname(path)))) folders.set(folder, await realPlace(folder));
  if (paths.some((path) => plainPath(join(folders.get(dirname(path)) ?? '', basename(path))) === plain)) return true;
  if (within(join(await realPlace(home), WORKTREES_FOLDER), root))
    return paths.some((path) => plain.endsWith(plainPath(sep + relative(project, path))));
  const identity = await identityOf(absolute);
  if (identity === undefined) return false;
  for (const path of paths) if (existsSync(path) && (await identityOf(path)) === identity) return true;
  return false;
}

const within = (place: string, path: string): boolean =>
  path === place || path.startsWith(place.endsWith(sep) ? place : place + sep);

async function identityOf(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch(() => undefined);
  return facts === undefined ? undefined : `${facts.dev}:${facts.ino}`;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** With the links in the part of it that exists followed. */
async function realPlace(path: string): Promise<string> {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const real = await realpath(at).catch(() => undefined);
    if (real !== undefined) return join(real, ...rest);
    if (at === dirname(at)) return path;
    rest.unshift(basename(at));
  }
}

/** Of the repository only what is run or decides what is run: the rest changes with every commit. */
const WATCHED = ['.git/config', '.git/hooks'];
const WATCHED_DEPTH = 4;

/** When each protected file was last changed in any way; the time of that cannot be set back. */
async function stampsOf({ project, user, servers, agents }: ProtectedPlaces): Promise<ReadonlyMap<string, string>> {
  const stamps = new Map<string, string>();
  const look = async (path: string, depth: number): Promise<void> => {
    if (stamps.size >= limits.watchedFiles || path === join(user, WATCHING_FOLDER)) return;
    const facts = await stat(path, { bigint: true }).catch(() => undefined);
    if (facts === undefined) return;
    if (!facts.isDirectory()) stamps.set(path, `${facts.dev}:${facts.ino}:${facts.size}:${facts.ctimeNs}`);
    else if (depth > 0) for (const name of await namesIn(path)) await look(join(path, name), depth - 1);
  };
  const names = [AGENTS_FOLDER, ...AGENT_FOLDERS, ...SETTINGS_FILES, EDITOR_SERVERS_FILE, ...WATCHED];
  for (const path of [user, ...names.map((name) => join(project, name))]) await look(path, WATCHED_DEPTH);
  const single = [join(project, KEYS_FILE), ...(agents?.() ?? []), ...((await servers?.()) ?? [])];
  for (const path of single) if (existsSync(path)) await look(path, 0);
  return stamps;
}

export async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of await opendir(folder)) if (names.push(name) >= limits.watchedFiles) break;
  } catch {
    return names;
  }
  return names.sort();
}
