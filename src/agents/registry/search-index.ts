/**
 * The index that finds agents: FTS5 and BM25 over name, tags, description and examples, in the ledger's file where that can be
 * written, else in memory. It is told what to hold and finds exactly that, whatever other processes do to the same file.
 *
 * Nothing that goes wrong in the file reaches whoever searches: a busy file is waited for, a broken index is made anew, and
 * when neither helps the index goes on in memory.
 */
import type { Clock } from '../../base/clock.ts';
import { assert } from '../../base/errors.ts';
import { memoryStore, openStore, type Trouble } from './search-store.ts';
import { contentOf, hasIndex, readEntries, type SearchEntry } from './search-tables.ts';
import { termsOf } from './search-text.ts';

export interface SearchIndex {
  place(): 'file' | 'memory';
  /** What an earlier process left in the file. */
  remembered(): readonly SearchEntry[];
  /** From now on these are the agents, in the order of their names. */
  hold(entries: readonly SearchEntry[]): Promise<void>;
  /** Names, best first; `undefined` when the words hold nothing to look for. */
  search(query: string, limit: number): Promise<readonly string[] | undefined>;
  close(): void;
}

export interface SearchIndexOptions {
  /** Of the ledger's file; anything that is no such file means memory. */
  readonly path: string;
  readonly clock: Clock;
}

/** How often a search begins again because another process changed the index, before it goes on in memory. */
const ATTEMPTS_MAX = 5;

export function createSearchIndex({ path, clock }: SearchIndexOptions): SearchIndex {
  let store = openStore(path);
  let content = contentOf([]);
  let closed = false;

  const goToMemory = async (): Promise<void> => {
    store.database.close();
    store = memoryStore();
    const written = await store.write(content, clock);
    assert(written.ok, 'an index in memory can be written');
  };

  const repair = async (trouble: Trouble): Promise<void> => {
    const written = await store.write(content, clock, trouble === 'broken' ? 'afresh' : undefined);
    if (!written.ok && !closed) await goToMemory();
  };

  return {
    place: () => store.place,
    remembered: () => {
      try {
        return hasIndex(store.database) ? readEntries(store.database) : [];
      } catch {
        return [];
      }
    },
    hold: async (entries) => {
      content = contentOf(entries);
      const there = store.search(content.hash, () => []);
      if (!there.ok && !closed) await repair(there.error);
    },
    search: async (query, limit) => {
      const terms = termsOf(query);
      if (terms.length === 0) return undefined;
      for (let tries = 0; tries <= ATTEMPTS_MAX && !closed; tries += 1) {
        const found = store.search(content.hash, (rank) => rank(terms, limit));
        if (found.ok) return found.value;
        if (tries < ATTEMPTS_MAX - 1) await repair(found.error);
        else await goToMemory();
      }
      return [];
    },
    close: () => {
      if (!closed) store.database.close();
      closed = true;
    },
  };
}
