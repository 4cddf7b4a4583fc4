/** A map that keeps what was used last, and no more than so much of it. */
export interface RecentlyUsed<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  /** The one that was not used for longest first. */
  entries(): Iterable<readonly [Key, Value]>;
  delete(key: Key): void;
  readonly size: number;
}

export function createRecentlyUsed<Key, Value>(most: number): RecentlyUsed<Key, Value> {
  // A map walks its keys in the order in which they were put in.
  const kept = new Map<Key, Value>();
  const set = (key: Key, value: Value): void => {
    kept.delete(key);
    kept.set(key, value);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) return;
      kept.delete(oldest);
    }
  };
  return {
    set,
    get(key) {
      const value = kept.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    entries: () => kept.entries(),
    delete: (key) => void kept.delete(key),
    get size() {
      return kept.size;
    },
  };
}
