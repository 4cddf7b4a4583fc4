/**
 * Which agents there are, for whoever looks for one: lists them by name and finds them by what they can do. Agent files are
 * the source of truth; this follows them. Agents that are switched off are not in it.
 *
 * Reading files is the slow part, so a question waits for it the first time and when files have come or gone: what was added is
 * found at once. Later the files are also looked at again when something was seen to change, or when the last look is a while
 * ago; a question waits a moment for that and is otherwise answered with what is known. `refresh` waits for all of it.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import type { Origin } from '../file/load.ts';
import { createRescans } from './rescan.ts';
import { createSearchIndex } from './search-index.ts';
import type { SearchEntry } from './search-tables.ts';

/** What a list shows of an agent. */
export interface RegistryItem {
  /** The same as its name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly origin: Origin;
}

export interface RegistryPage {
  readonly items: readonly RegistryItem[];
  /** Over all pages. */
  readonly total: number;
}

export interface Registry {
  /** By name. Pages count from 1; a page beyond the last is empty. */
  list(request: { readonly page: number; readonly pageSize: number }): Promise<RegistryPage>;
  /** Best first. Words that hold nothing to look for give the first agents by name: who asks so wants to see what there is. */
  search(query: string, limit: number): Promise<readonly RegistryItem[]>;
  /** Resolves when everything that changed before the call is in. */
  refresh(): Promise<void>;
  close(): void;
}

/** A loaded agent, or what is remembered of one. */
export interface RegisteredAgent {
  readonly definition: Pick<AgentDefinition, 'name' | 'description' | 'tags' | 'examples'>;
  readonly origin: Origin;
  readonly disabled: boolean;
  /** The file it was read from, and the stamp that this had; without them it is read again every time. */
  readonly file?: { readonly path: string; readonly stamp: string } | undefined;
}

/** Agents by the path of their file, as an earlier process read them. */
export type KnownAgents = ReadonlyMap<string, RegisteredAgent>;

export interface RegistryOptions {
  /** Of the ledger's file, which then holds the index; anything else keeps it in memory. */
  readonly path: string;
  /** Every agent, of each name only the one that counts. The same array again says that nothing has changed. */
  readonly agents: (known: KnownAgents) => Promise<readonly RegisteredAgent[]>;
  readonly clock: Clock;
  /** Whether files have come or gone since they were last listed. Cheap enough to be asked before every answer. */
  readonly moved?: (() => boolean) | undefined;
  /** Calls back when agents may have changed, until what it returns is called. */
  readonly watch?: ((onChange: () => void) => () => void) | undefined;
}

export function createRegistry(options: RegistryOptions): Registry {
  const index = createSearchIndex(options);
  const known = new Map(
    index.remembered().flatMap((entry) => (entry.file === '' ? [] : [[entry.file, agentOf(entry)] as const])),
  );
  let read: readonly RegisteredAgent[] | undefined;
  let items: readonly RegistryItem[] = [];
  let byName: ReadonlyMap<string, RegistryItem> = new Map();

  const follow = async (): Promise<void> => {
    const agents = await options.agents(known);
    if (agents === read) return;
    const present = agents.filter((agent) => !agent.disabled).map(entryOf);
    present.sort((left, right) => (left.name < right.name ? -1 : 1));
    await index.hold(present);
    items = present.map(itemOf);
    byName = new Map(items.map((item) => [item.name, item]));
    read = agents;
    known.clear();
  };
  const rescans = createRescans(follow, options);

  return {
    list: async ({ page, pageSize }) => {
      await rescans.ready();
      const start = (Math.max(1, page) - 1) * pageSize;
      return { items: items.slice(start, start + pageSize), total: items.length };
    },
    search: async (query, limit) => {
      await rescans.ready();
      const most = Math.min(Math.max(1, limit), limits.searchResults);
      const found = await index.search(query, most);
      if (found === undefined) return items.slice(0, most);
      const hits = found.flatMap((name) => byName.get(name) ?? []);
      // Who gives a name means it, also when it is made of words that say nothing.
      const named = byName.get(query.trim().normalize('NFC'));
      return named === undefined ? hits : [named, ...hits.filter((hit) => hit !== named)].slice(0, most);
    },
    refresh: rescans.now,
    close: () => {
      rescans.stop();
      index.close();
    },
  };
}

/** The same agent gives the same entry: of ten thousand, only what changed is worked on. */
const entries = new WeakMap<RegisteredAgent, SearchEntry>();

function entryOf(agent: RegisteredAgent): SearchEntry {
  const known = entries.get(agent);
  if (known !== undefined) return known;
  const { definition, origin, file } = agent;
  const { name, description = '', tags = [], examples = [] } = definition;
  const entry = { name, description, tags, examples, origin, file: file?.path ?? '', stamp: file?.stamp ?? '' };
  entries.set(agent, entry);
  return entry;
}

function agentOf({ name, description, tags, examples, origin, file, stamp }: SearchEntry): RegisteredAgent {
  const definition = { name, description, tags: [...tags], examples: [...examples] };
  return { definition, origin, disabled: false, file: { path: file, stamp } };
}

function itemOf({ name, description, tags, origin }: SearchEntry): RegistryItem {
  return { id: name, name, description, tags, origin };
}
