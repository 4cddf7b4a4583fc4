/**
 * Finds every agent that a project can use. Where two places have an agent of the same name, the nearer one counts:
 * the project's own, then `.claude`, then `.opencode`, then the user's; the others stay visible as shadowed.
 * Files and folders whose name starts with `.` or `_`, and README.md, are not agents; `_` is for what others include.
 */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { nameFromFile } from './definition/agent-name.ts';
import { type AgentFile, type LoadedAgent, loadAgent, type Origin, type SalvagedAgent, salvageAgent } from './file/load.ts';
import { type Diagnostic, errorAt, quote } from './text/diagnostics.ts';

export interface DiscoverOptions {
  readonly projectRoot: string;
  /** Such as `~/.config/troupe`; without it only the project is searched. */
  readonly userConfigDir?: string | undefined;
  /** Names of the user's own prompt variables. */
  readonly variables?: readonly string[] | undefined;
  /** Agents that the settings name themselves. */
  readonly inSettings?: readonly LoadedAgent[] | undefined;
}

export interface ShadowedAgent {
  readonly agent: LoadedAgent;
  readonly by: LoadedAgent;
}

export interface Discovery {
  readonly agents: readonly LoadedAgent[];
  readonly shadowed: readonly ShadowedAgent[];
  /** Names of agents that could not be loaded, by file where none can be read: who names them has nothing to correct. */
  readonly broken: ReadonlySet<string>;
  /** What could be read of those: to find what else is wrong with them, never to run. */
  readonly salvaged: readonly SalvagedAgent[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Nearest first. */
const FOLDERS: readonly { readonly origin: Origin; readonly folder: readonly string[] }[] = [
  { origin: 'project', folder: ['agents'] },
  { origin: 'claude', folder: ['.claude', 'agents'] },
  { origin: 'opencode', folder: ['.opencode', 'agents'] },
  { origin: 'opencode', folder: ['.opencode', 'agent'] },
  { origin: 'user', folder: ['agents'] },
];

const READ_AT_ONCE = 16;

export async function discoverAgents(options: DiscoverOptions): Promise<Discovery> {
  const { files, diagnostics: listing } = await listAgentFiles(options);
  const diagnostics = [...listing];
  const loaded: LoadedAgent[] = [];
  const broken = new Set<string>();
  const salvaged: SalvagedAgent[] = [];
  for (let start = 0; start < files.length; start += READ_AT_ONCE) {
    const batch = files.slice(start, start + READ_AT_ONCE);
    for (const [index, result] of (await Promise.all(batch.map(loadAgent))).entries()) {
      const file = batch[index];
      if (result.ok) {
        if (!result.value.disabled) loaded.push(result.value);
        diagnostics.push(...result.value.diagnostics);
      } else if (file !== undefined) {
        const rest = await salvageAgent(file);
        if (rest !== undefined) salvaged.push(rest);
        broken.add(rest?.definition.name ?? nameFromFile(file.path.replaceAll('\\', '/')));
        diagnostics.push(...result.error.map((one) => gentler(file.origin ?? 'project', one)));
      }
    }
  }
  loaded.push(...(options.inSettings ?? []));
  // The user's own are for all projects: what the project has comes first.
  const near = [...loaded.filter(({ origin }) => origin !== 'user'), ...loaded.filter(({ origin }) => origin === 'user')];
  const chosen = choose(near);
  return { broken, salvaged, ...chosen, diagnostics: [...diagnostics, ...twins([...loaded, ...salvaged])] };
}

export interface ListedFiles {
  /** Nearest first. */
  readonly files: readonly AgentFile[];
  /** The folders that were looked into, also those that are not there. */
  readonly folders: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Every file that is an agent by its place and name, unread. */
export async function listAgentFiles(options: DiscoverOptions): Promise<ListedFiles> {
  const { projectRoot, userConfigDir, variables = [] } = options;
  const files: AgentFile[] = [];
  const folders: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { origin, folder } of FOLDERS) {
    const root = origin === 'user' ? userConfigDir : projectRoot;
    if (root === undefined) continue;
    const listed = await listFolder(join(root, ...folder), folder.join('/'));
    diagnostics.push(...listed.diagnostics);
    folders.push(...listed.folders);
    for (const path of listed.paths) files.push({ path, root, origin, variables });
  }
  return { files, folders, diagnostics };
}

/** A file that another tool reads is not wrong because we cannot; it is left out with a warning. */
export function gentler(origin: Origin, one: Diagnostic): Diagnostic {
  return origin === 'claude' || origin === 'opencode' ? { ...one, severity: 'warning' } : one;
}

/** `loaded` is nearest first, so the first of a name is the one that counts. */
function choose(loaded: readonly LoadedAgent[]): Pick<Discovery, 'agents' | 'shadowed'> {
  const byName = new Map<string, LoadedAgent>();
  const shadowed: ShadowedAgent[] = [];
  const seen = new Set<string>();
  for (const agent of loaded) {
    const { name } = agent.definition;
    const nearer = byName.get(name);
    if (nearer === undefined) byName.set(name, agent);
    else if (!seen.has(`${agent.origin}/${name}`)) shadowed.push({ agent, by: nearer });
    seen.add(`${agent.origin}/${name}`);
  }
  return { agents: [...byName.values()], shadowed };
}

/** Two of one name in the same place, also where one of them has other problems as well. */
function twins(all: readonly LoadedAgent[]): readonly Diagnostic[] {
  const groups = Map.groupBy(all, ({ origin, definition }) => `${origin}/${definition.name}`);
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ definition, placeOf }) => {
      const message = `a second agent named ${quote(definition.name)}: ${first?.definition.source} has the same name`;
      return errorAt(placeOf(['name']), message, 'Give one of them another `name`.');
    }),
  );
}

interface Listing {
  readonly paths: readonly string[];
  readonly folders: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The folder and the folders right below it, in the order of their names. */
async function listFolder(folder: string, label: string): Promise<Listing> {
  const paths: string[] = [];
  const folders: string[] = [];
  const place = { file: label, line: 1, column: 1 };
  let seen = 0;
  const walk = async (path: string, levels: number): Promise<void> => {
    folders.push(path);
    for (const entry of await entriesOf(path)) {
      if (seen > limits.agentFilesPerFolder) return;
      if (entry.isDirectory()) {
        if (levels > 0) await walk(join(path, entry.name), levels - 1);
      } else if (isAgentFile(entry.name)) {
        seen += 1;
        if (seen <= limits.agentFilesPerFolder) paths.push(join(path, entry.name));
      }
    }
  };
  try {
    await walk(folder, 1);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { paths, folders, diagnostics: [] };
    const message = codeOf(error) === 'ENOTDIR' ? 'this is not a folder' : `the folder cannot be read: ${messageOf(error)}`;
    return { paths, folders, diagnostics: [errorAt(place, message)] };
  }
  if (seen <= limits.agentFilesPerFolder) return { paths, folders, diagnostics: [] };
  const message = `more than ${limits.agentFilesPerFolder} agent files (limit agentFilesPerFolder); the rest is left out`;
  return { paths, folders, diagnostics: [errorAt(place, message, 'Move agents that are not used elsewhere.')] };
}

/** How many entries of one folder are looked at: agents, and as many other things beside them. */
const ENTRIES_MAX = 2 * limits.agentFilesPerFolder;
const ENTRIES_AT_ONCE = 512;

async function entriesOf(path: string): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  for await (const entry of await opendir(path, { bufferSize: ENTRIES_AT_ONCE })) {
    if (entry.name.startsWith('.') || entry.name.startsWith('_')) continue;
    entries.push(entry);
    if (entries.length >= ENTRIES_MAX) break;
  }
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function isAgentFile(name: string): boolean {
  return /\.md$/i.test(name) && name.toLowerCase() !== 'readme.md';
}
