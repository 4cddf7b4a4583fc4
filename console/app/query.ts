/** What stands behind the `?` of the address: what was chosen, so that a link shows the same. */
import { useCallback } from 'react';
import { useSearch, useSearchParams } from 'wouter';

export type Chosen = Readonly<Record<string, string | undefined>>;

export interface Query {
  readonly get: (name: string) => string | undefined;
  /** `undefined` takes a name out. Nothing is added to the history of the browser. */
  readonly set: (chosen: Chosen) => void;
}

export function useQuery(): Query {
  const [params, setParams] = useSearchParams();
  const set = useCallback(
    (chosen: Chosen) => {
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          for (const [name, value] of Object.entries(chosen)) {
            if (value === undefined || value === '') next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      );
    },
    [setParams],
  );
  return { get: (name) => params.get(name) ?? undefined, set };
}

/**
 * Addresses of the session that is looked at: the moment (`?at=`) goes along, so that whoever looks back stays there. Without a
 * path it is the view that is shown.
 */
export function useAddresses(): (path: string, chosen: Chosen) => string {
  const at = new URLSearchParams(useSearch()).get('at');
  return useCallback(
    (path, chosen) => {
      const words = Object.entries({ ...(at === null ? {} : { at }), ...chosen }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]],
      );
      return `${path}?${new URLSearchParams(words)}`;
    },
    [at],
  );
}
