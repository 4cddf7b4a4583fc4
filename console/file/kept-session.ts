/** The session in this file: read a piece at a time, so that the first rows are there before the last is checked. */
import { createHistory } from '../store/history.ts';
import type { SessionStore, SessionView } from '../store/session.ts';
import { type Break, createLineReader } from './file-lines.ts';

/** What the end of the file says of it. */
export interface FileFacts {
  readonly format: number;
  readonly session: string;
  /** The run that was exported, where it is not the whole session. */
  readonly run: string | null;
  readonly agent: string;
  readonly exportedAt: string;
  readonly version: string;
  readonly events: number;
  /** The hash that the chain ends with. */
  readonly head: string;
}

export type Trust =
  | { readonly state: 'checking'; readonly done: number; readonly of: number }
  | { readonly state: 'sound'; readonly events: number; readonly redacted: number; readonly left: number; readonly head: string }
  | ({ readonly state: 'broken' } & Break);

export interface KeptSession {
  readonly store: SessionStore;
  readonly trust: () => Trust;
}

const SLICE_MS = 12;

export function createKeptSession(facts: FileFacts, text: string): KeptSession {
  const history = createHistory();
  const reader = createLineReader(history);
  const listeners = new Set<() => void>();
  const fresh = (version: number): SessionView => ({
    ...{ session: facts.session, version, history, count: history.events.length, head: facts.events },
    ...{ link: { state: 'open' }, words: new Map<string, string>() },
  });
  let view = fresh(0);
  let trust: Trust = { state: 'checking', done: 0, of: facts.events };
  let at = 0;
  const slice = (): void => {
    const until = performance.now() + SLICE_MS;
    while (at < text.length && performance.now() < until) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end < 0 ? text.length : end);
      at = end < 0 ? text.length : end + 1;
      if (line !== '') reader.read(line);
    }
    const { events } = reader.counts();
    trust = at < text.length ? { state: 'checking', done: events, of: facts.events } : verdict(reader, facts);
    view = fresh(view.version + 1);
    for (const listener of listeners) listener();
    if (at < text.length) setTimeout(slice);
  };
  slice();
  return {
    trust: () => trust,
    store: {
      current: () => view,
      subscribe(changed) {
        listeners.add(changed);
        return () => listeners.delete(changed);
      },
    },
  };
}

function verdict(reader: ReturnType<typeof createLineReader>, facts: FileFacts): Trust {
  const broken = reader.broken();
  if (broken !== undefined) return { state: 'broken', ...broken };
  const counts = reader.counts();
  if (counts.events !== facts.events)
    return { state: 'broken', position: counts.events + 1, why: `the file says that there are ${facts.events} events` };
  if (reader.head() !== facts.head)
    return { state: 'broken', position: counts.events, why: 'the chain does not end as the file says' };
  return { state: 'sound', ...counts, head: facts.head };
}
