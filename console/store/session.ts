/**
 * One open session: its stream, its history, and what is being said. Events whose payload is too large to come along are held
 * back until it is there, so that the fold always has whole events in their order. Whoever shows it is told at most once for
 * each frame.
 */
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { addressIn, get } from '../api/client.ts';
import { createHistory, type History } from './history.ts';
import { type LinkState, openLink } from './link.ts';
import type { Frame } from './server-sent.ts';

export interface SessionView {
  readonly session: string;
  /** Another one whenever something has changed. */
  readonly version: number;
  readonly history: History;
  /** How many events there are here. */
  readonly count: number;
  /** Where the session ends, as far as the server has told. */
  readonly head: number;
  readonly link: LinkState;
  /** What runs are saying right now, by run. */
  readonly words: ReadonlyMap<string, string>;
}

export interface SessionStore {
  readonly current: () => SessionView;
  readonly subscribe: (changed: () => void) => () => void;
}

type Arrived = LedgerEvent & { readonly payload?: unknown };

interface Delta {
  readonly run: string;
  readonly offset: number;
  readonly delta: string;
}

/** Large payloads that are asked for at once. */
const AT_ONCE = 6;
const WORDS_CHARACTERS = 20_000;

export function createSessionStore(session: string): SessionStore {
  const history = createHistory();
  const words = new Map<string, string>();
  const waiting: Arrived[] = [];
  const payloads = new Map<string, Promise<void>>();
  let head = 0;
  let link: LinkState = { state: 'connecting' };
  let arrived = 0;
  const notify = createFrameNotice(() => ({
    ...{ session, history, head: Math.max(head, arrived), link, words, count: history.events.length },
  }));
  const drain = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (next.payload === undefined) break;
      waiting.shift();
      addSafely(history, next);
      if (next.event_type === 'model.response' || next.event_type === 'run.ended') words.delete(next.run_id);
    }
    for (const event of waiting.filter(({ payload }) => payload === undefined).slice(0, AT_ONCE)) fetchPayload(event);
    notify.changed();
  };
  const fetchPayload = (event: Arrived): void => {
    if (payloads.has(event.event_id)) return;
    const path = `/sessions/${session}/payloads/${event.payload_ref}`;
    const asked = get<unknown>(path, { at: event.position }).then((answer) => {
      const index = waiting.indexOf(event);
      const payload = answer.ok ? answer.value : { [UNREADABLE]: answer.error.message };
      if (index >= 0) waiting[index] = { ...event, payload } as Arrived;
      payloads.delete(event.event_id);
      drain();
    });
    payloads.set(event.event_id, asked);
  };
  const take = (event: Arrived): void => {
    // A stream that comes back may tell the last one again.
    if (event.position <= arrived) return;
    arrived = event.position;
    waiting.push(event);
  };
  const onFrame = ({ event, data }: Frame): void => {
    if (event === 'delta') {
      hear(words, JSON.parse(data) as Delta);
      notify.changed();
      return;
    }
    if (event === 'events') for (const one of JSON.parse(data) as readonly Arrived[]) take(one);
    else if (event === 'event') take(JSON.parse(data) as Arrived);
    drain();
  };
  const open = (): (() => void) =>
    openLink({
      address: () => addressIn(`/sessions/${encodeURIComponent(session)}/stream`, { after: arrived }),
      onFrame,
      onComment: (text) => {
        head = Math.max(head, Number(/^head .*\.(\d+)$/.exec(text)?.[1] ?? 0));
        notify.changed();
      },
      onState: (next) => {
        link = next;
        notify.changed();
      },
    });
  return { current: notify.current, subscribe: notify.subscribe(open) };
}

const UNREADABLE = 'troupe-unreadable';

/** What no projection of this build can read is shown as such: one event must not take the rest away. */
function addSafely(history: History, event: Arrived): void {
  const payload = event.payload as Record<string, unknown> | null;
  const why = payload?.[UNREADABLE];
  if (typeof why === 'string') {
    history.addUnreadable(event, why);
    return;
  }
  try {
    history.add(event);
  } catch (error) {
    history.addUnreadable(event, error instanceof Error ? error.message : String(error));
  }
}

/** A piece belongs where it says; what was dropped before it leaves a gap that nobody can fill, until the answer is an event. */
function hear(words: Map<string, string>, { run, offset, delta }: Delta): void {
  const before = offset === 0 ? '' : (words.get(run) ?? '');
  const text = offset > before.length ? `${before} … ${delta}` : before.slice(0, offset) + delta;
  words.set(run, text.slice(-WORDS_CHARACTERS));
}

type Fresh = Omit<SessionView, 'version'>;

/**
 * The stream is open while anybody looks, and a little longer: a view that is left for another one of the same session is no
 * end.
 */
const LINGER_MS = 3_000;

function createFrameNotice(fresh: () => Fresh) {
  const listeners = new Set<() => void>();
  let view: SessionView = { ...fresh(), version: 0 };
  let isAsked = false;
  const draw = (): void => {
    isAsked = false;
    view = { ...fresh(), version: view.version + 1 };
    for (const listener of listeners) listener();
  };
  let close: (() => void) | undefined;
  return {
    current: () => view,
    changed() {
      if (isAsked) return;
      isAsked = true;
      // A page that nobody sees has no frames; its title still has to be right.
      if (document.hidden) setTimeout(draw, 1_000);
      else requestAnimationFrame(draw);
    },
    subscribe: (open: () => () => void) => (changed: () => void) => {
      listeners.add(changed);
      close ??= open();
      return () => {
        listeners.delete(changed);
        setTimeout(() => {
          if (listeners.size > 0) return;
          close?.();
          close = undefined;
        }, LINGER_MS);
      };
    },
  };
}
