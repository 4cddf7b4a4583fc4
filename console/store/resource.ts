/**
 * Something that is asked for with GET, shared by all who show it, asked for again when something has happened. While it is asked
 * for again the old value stays: nothing that is being read goes away.
 */
import { get, type Query, type Refusal } from '../api/client.ts';

export type Loaded<Value> =
  | { readonly state: 'awaited'; readonly since: number }
  | {
      readonly state: 'there';
      readonly value: Value /** The newest attempt did not succeed. */;
      readonly stale?: Refusal | undefined;
    }
  | { readonly state: 'refused'; readonly refusal: Refusal };

export interface Resource<Value> {
  readonly current: () => Loaded<Value>;
  readonly subscribe: (changed: () => void) => () => void;
  /** Asks again, once, however often this is called meanwhile. */
  readonly refresh: () => void;
}

export function createResource<Value>(path: string, query?: Query): Resource<Value> {
  let loaded: Loaded<Value> = { state: 'awaited', since: Date.now() };
  let text = '';
  const listeners = new Set<() => void>();
  let asking: Promise<void> | undefined;
  let again = false;
  const set = (next: Loaded<Value>): void => {
    loaded = next;
    for (const listener of listeners) listener();
  };
  const ask = async (): Promise<void> => {
    const answer = await get<Value>(path, query);
    if (answer.ok) {
      const fresh = JSON.stringify(answer.value);
      // What is the same stays the same object: nobody draws again for it.
      if (fresh !== text || loaded.state !== 'there' || loaded.stale !== undefined) {
        const same = fresh === text && loaded.state === 'there';
        text = fresh;
        set({ state: 'there', value: same && loaded.state === 'there' ? loaded.value : answer.value });
      }
    } else if (loaded.state === 'there' && answer.error.status === 0) set({ ...loaded, stale: answer.error });
    else set({ state: 'refused', refusal: answer.error });
  };
  const refresh = (): void => {
    if (asking !== undefined) {
      again = true;
      return;
    }
    asking = ask().finally(() => {
      asking = undefined;
      if (!again) return;
      again = false;
      refresh();
    });
  };
  return {
    current: () => loaded,
    subscribe(changed) {
      if (listeners.size === 0) refresh();
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    refresh,
  };
}
