/**
 * What the whole project shows: the inbox, runs, sessions and whatever else a view asks for. One stream tells that something has
 * happened, and what is shown is asked for again, at most once in a short while. A server without that stream is asked now and
 * then.
 */
import { addressIn, type Query } from '../api/client.ts';
import { isFile } from '../api/kept.ts';
import { type LinkOptions, type LinkState, openLink } from './link.ts';
import { createResource, type Resource } from './resource.ts';

export interface ProjectStore {
  /** The same object for the same path and query. */
  resource<Value>(path: string, query?: Query): Resource<Value>;
  /** Asks for everything that is shown again. */
  touch(): void;
  readonly link: () => LinkState;
  readonly onLink: (changed: () => void) => () => void;
}

const SETTLE_MS = 150;
const EVERY_MS = 5_000;
const SLOWLY_MS = 15_000;
/** However much happens: what is asked for makes the server work. */
const GAP_MS = 1_000;

export function createProjectStore(): ProjectStore {
  const resources = new Map<string, Shared>();
  const bell = createBell(() => {
    for (const { resource, isShown } of resources.values()) if (isShown()) resource.refresh();
  });
  const link = createProjectLink(bell.ring);
  return {
    resource<Value>(path: string, query?: Query): Resource<Value> {
      link.open();
      const key = addressIn(path, query);
      const known = resources.get(key) ?? shared(createResource<unknown>(path, query));
      resources.set(key, known);
      return known.resource as Resource<Value>;
    },
    touch: bell.ring,
    link: link.current,
    onLink: link.subscribe,
  };
}

/** Rings once, a little later, however often it was pulled meanwhile. */
function createBell(rung: () => void): { readonly ring: () => void } {
  let isPulled = false;
  let lastAt = 0;
  return {
    ring: () => {
      if (isPulled) return;
      isPulled = true;
      setTimeout(
        () => {
          isPulled = false;
          lastAt = Date.now();
          rung();
        },
        Math.max(SETTLE_MS, lastAt + GAP_MS - Date.now()),
      );
    },
  };
}

function createProjectLink(happened: () => void) {
  const listeners = new Set<() => void>();
  let state: LinkState = { state: 'connecting' };
  let isOpen = false;
  let cursor: string | undefined;
  const options: LinkOptions = {
    address: () => addressIn('/stream', { payloads: 'none', after: cursor ?? 'now' }),
    onFrame: ({ event, id }) => {
      cursor = id ?? cursor;
      if (event !== 'delta') happened();
    },
    onComment: (text) => {
      // Where the ledger ends: from there on nothing is missed, also when nothing has come yet.
      cursor ??= /^head (\S+)$/.exec(text)?.[1];
    },
    onState: (next) => {
      // An older server has no stream of the project: then lists are asked for now and then.
      if (next.state === 'refused' && next.refusal.status === 404) setInterval(happened, EVERY_MS);
      // Whatever happened while nobody listened is asked for.
      if (next.state === 'open') happened();
      state = next;
      for (const listener of listeners) listener();
    },
  };
  return {
    current: () => state,
    subscribe(changed: () => void) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    open() {
      if (isOpen || isFile()) return;
      isOpen = true;
      openLink(options);
      // A process that died says nothing: how its runs stand is asked for now and then.
      setInterval(() => {
        if (!document.hidden) happened();
      }, SLOWLY_MS);
    },
  };
}

interface Shared {
  readonly resource: Resource<unknown>;
  isShown(): boolean;
}

/** Knows whether anybody shows it: what nobody looks at is not asked for again. */
function shared(resource: Resource<unknown>): Shared {
  let shown = 0;
  return {
    isShown: () => shown > 0,
    resource: {
      ...resource,
      subscribe(changed) {
        shown += 1;
        const stop = resource.subscribe(changed);
        return () => {
          shown -= 1;
          stop();
        };
      },
    },
  };
}
