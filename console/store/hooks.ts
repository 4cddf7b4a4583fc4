/** The only place where the stores meet React. */
import { useEffect, useState, useSyncExternalStore } from 'react';
import type { Query } from '../api/client.ts';
import type { AgentLine, InboxItem, Me, SessionRow } from '../api/types.ts';
import type { LinkState } from './link.ts';
import { createProjectStore } from './project.ts';
import type { Loaded } from './resource.ts';
import { createSessionStore, type SessionStore, type SessionView } from './session.ts';

export const project = createProjectStore();

/** What a GET answers with, asked for again when something has happened in the project. */
export function useLoaded<Value>(path: string, query?: Query): Loaded<Value> {
  const { subscribe, current } = project.resource<Value>(path, query);
  return useSyncExternalStore(subscribe, current);
}

export const useMe = (): Loaded<Me> => useLoaded('/me');
export const useInbox = (): Loaded<readonly InboxItem[]> => useLoaded('/inbox');
export const useSessions = (): Loaded<readonly SessionRow[]> => useLoaded('/sessions', { limit: 100 });
export const useAgents = (): Loaded<readonly AgentLine[]> => useLoaded('/agents');

export const useProjectLink = (): LinkState => useSyncExternalStore(project.onLink, project.link);

/** Those that were looked at last: the events of a session may be many. */
const KEPT_SESSIONS = 3;
const sessions = new Map<string, SessionStore>();

function sessionStore(session: string): SessionStore {
  const store = sessions.get(session) ?? createSessionStore(session);
  sessions.delete(session);
  sessions.set(session, store);
  for (const oldest of sessions.keys()) if (sessions.size > KEPT_SESSIONS) sessions.delete(oldest);
  return store;
}

/** A session that this page has brought along. */
export function holdSession(session: string, store: SessionStore): void {
  sessions.set(session, store);
}

/** A session, live: drawn again at most once a frame. */
export function useSession(session: string): SessionView {
  const { subscribe, current } = sessionStore(session);
  return useSyncExternalStore(subscribe, current);
}

const SECOND_MS = 1_000;

/** The time, for what says how long something has been going on; changes once a second, or as often as is asked for. */
export function useNow(everyMs = SECOND_MS): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
