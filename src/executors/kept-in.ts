/**
 * What an executor is kept in: walls around its process, where it sees its workspace as a command does, the folders that it keeps
 * its own things in, and the hosts that it needs. Nothing of another executor is seen, and no other home.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { Sandbox, Walls } from '../sandbox/port.ts';
import { liesIn } from '../sandbox/programs.ts';
import { modeFor, type SandboxMode, type SandboxSettings } from '../sandbox/settings.ts';
import { inHome } from '../sandbox/walls.ts';
import type { ProtectedPlaces } from '../tools/closed/guard.ts';
import { expandVariables } from '../tools/shell/environment.ts';
import { commandWalls } from '../tools/shell/walls.ts';
import type { ExecutorEntry } from './entry.ts';
import type { ExecutorMcpServer, ExecutorMode } from './port.ts';
import { programPath } from './program.ts';

/** What it takes to keep executors in something. */
export interface ExecutorKeeping {
  readonly sandbox: Sandbox;
  readonly settings: SandboxSettings;
  readonly places: ProtectedPlaces | undefined;
  /** What is started as the built-in executor, which puts its own commands inside walls. */
  readonly builtin: readonly string[];
}

/** `own`: it builds its walls itself. */
export function keepingOf({ reach, sandbox }: ExecutorEntry, { settings, builtin }: ExecutorKeeping): SandboxMode | 'own' {
  if (reach.kind === 'stdio' && builtin.every((word, index) => word === [reach.program, ...reach.args][index])) return 'own';
  return modeFor(settings, sandbox.mode);
}

/** Whether an executor would run inside walls here, and what is missing where it would not. */
export interface KeptHere {
  /** `own`: its commands run inside walls that it builds itself. `refused`: walls are demanded, and there are none for it. */
  readonly how: 'inside' | 'own' | 'outside' | 'refused';
  readonly sandbox?: string | undefined;
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}

export async function keptHere(entry: ExecutorEntry, keeping: ExecutorKeeping): Promise<KeptHere> {
  if (entry.image !== undefined) return { how: 'inside', sandbox: `the image ${entry.image.name}` };
  const mode = keepingOf(entry, keeping);
  if (mode === 'own') return { how: 'own' };
  const how = mode === 'on' ? 'refused' : 'outside';
  if (entry.reach.kind === 'tcp')
    return { how, why: 'it listens at an address', fix: 'give it a command: what we start can be put inside' };
  const state = await keeping.sandbox.state(mode);
  if (state.kind === 'on') return { how: 'inside', sandbox: state.id };
  const { why, fix } = state;
  return state.chosen ? { how, why: 'it was switched off (sandbox: off)' } : { how, why, ...present({ fix }) };
}

export interface KeptProgram {
  readonly folder: string;
  /** What it gets of our environment, and what its entry sets. */
  readonly environment: Readonly<Record<string, string>>;
  readonly mcp: readonly ExecutorMcpServer[];
  readonly mode?: ExecutorMode | undefined;
}

/** A workspace in which nothing is to be changed, with what git writes of its repository. */
export const onlyRead = (walls: Walls): Walls => ({ ...walls, write: [], read: [...walls.write, ...walls.read] });

/** `others`: all entries, whose folders are closed to it. Folders of its own that are to be there are made. */
export function executorWalls(
  entry: ExecutorEntry,
  others: readonly ExecutorEntry[],
  { folder, environment, mcp, mode: working }: KeptProgram,
  { places, ...keeping }: ExecutorKeeping,
): Walls {
  const mode = keepingOf(entry, { places, ...keeping });
  const open = commandWalls(folder, places);
  const about = working === 'read-only' ? onlyRead(open) : open;
  const closed = places === undefined ? [] : [places.home, ...places.ledgers, places.keys, places.user];
  const ours = (paths: readonly string[]): string[] =>
    foldersOf(paths, environment).filter((path) => !closed.some((place) => isInside(place, path)));
  const own = ours(entry.sandbox.write);
  for (const path of own) if (path.endsWith('/') && !existsSync(path)) mkdirSync(path, { recursive: true, mode: 0o700 });
  const read = ours(entry.sandbox.read);
  const theirs = others.filter((one) => one.name !== entry.name).flatMap((one) => foldersOf(one.sandbox.write, environment));
  return {
    ...about,
    mode: mode === 'own' ? 'off' : mode,
    apart: true,
    write: [...about.write, ...own],
    read: [...about.read, ...read],
    programs: programsOf(entry, folder, environment),
    // What it may only read stays as it is, also within what it may write.
    keep: [...about.keep, ...read],
    hide: [
      ...about.hide,
      ...theirs.filter((path) => ![folder, ...own].some((one) => isInside(one, path) || isInside(path, one))),
    ],
    hosts: hostsOf(entry, environment, mcp),
  };
}

const isInside = (place: string, path: string): boolean => resolve(place) === resolve(path) || liesIn(resolve(place), path);

/** `~/` and variables filled in; what names a variable that is not set is left out. */
function foldersOf(paths: readonly string[], environment: Readonly<Record<string, string>>): string[] {
  return paths.flatMap((path) => {
    const { text, missing } = expandVariables(path, environment);
    const whole = inHome(text, environment['HOME']);
    return missing.length > 0 || !isAbsolute(whole) ? [] : [whole];
  });
}

/** Its program as the PATH finds it, and files that its command line names: the entry is its owner's word. */
function programsOf({ reach }: ExecutorEntry, folder: string, environment: Readonly<Record<string, string>>): string[] {
  if (reach.kind !== 'stdio') return [];
  const program = programPath(reach.program, folder, environment['PATH']);
  const named = reach.args.filter((word) => isAbsolute(word) && existsSync(word));
  return [...(program === undefined ? [] : [program]), ...named];
}

const ADDRESS = /https?:\/\/[^\s"'`<>\\,]+/g;

/** Those of its entry, those that a variable names which it is given, and those of the MCP servers that it is given. */
export function hostsOf(
  { sandbox, keys, env }: Pick<ExecutorEntry, 'sandbox' | 'keys' | 'env'>,
  environment: Readonly<Record<string, string>>,
  mcp: readonly ExecutorMcpServer[],
): string[] {
  const given = [...new Set([...keys, ...Object.keys(env)])].flatMap((name) => environment[name]?.match(ADDRESS) ?? []);
  const servers = mcp.flatMap((server) => (server.kind === 'http' ? [server.url] : []));
  const named = [...given, ...servers].flatMap((address) => {
    if (!URL.canParse(address)) return [];
    const { hostname, port, protocol } = new URL(address);
    return [`${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`];
  });
  return [...new Set([...sandbox.network, ...named])].slice(0, limits.sandboxHosts);
}
