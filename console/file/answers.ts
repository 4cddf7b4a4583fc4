/** What the views ask of a server, answered from the events of this file, by the functions that the server has. */
import type { RunId, SessionId } from '../../src/base/ids.ts';
import { fail, ok } from '../../src/base/result.ts';
import type { EventOf, LedgerEvent } from '../../src/events/envelope.ts';
import { readThreads } from '../../src/front/project/session-threads.ts';
import { readContext } from '../../src/front/search/request-context.ts';
import type { ReadQuery, RunRow } from '../../src/ledger/port.ts';
import { notInFile } from '../api/client.ts';
import type { Kept } from '../api/kept.ts';
import type { ArtifactRow, Me } from '../api/types.ts';
import type { SessionStore } from '../store/session.ts';
import type { FileFacts } from './kept-session.ts';
import { sha256 } from './sha256.ts';

export function createAnswers(facts: FileFacts, store: SessionStore, attachments: ReadonlyMap<string, string>): Kept {
  const session = facts.session as SessionId;
  const ledger = { read: async (query: ReadQuery) => eventsFor(store, query) };
  const stored = (): readonly Stored[] =>
    store.current().history.events.filter((event): event is Stored => event.event_type === 'artifact.stored');
  const bytes = (ref: string) => bytesIn(attachments, ref);
  return {
    async get(path, { turn }) {
      if (path === '/me') return ok({ name: 'a file', role: 'viewer', version: facts.version } satisfies Me);
      if (path === '/inbox' || path === '/runs') return ok([]);
      if (path.endsWith('/threads')) return ok(await readThreads(ledger, session, Date.parse(facts.exportedAt)));
      if (path.endsWith('/artifacts')) return ok(stored().map(artifactRow));
      const run = /^\/runs\/([^/]+)\/context$/.exec(path)?.[1];
      if (run === undefined) return fail(notInFile);
      const context = await readContext(ledger, { session, run: run as RunId } as RunRow, Number(turn));
      return context === undefined ? fail(notInFile) : ok(context);
    },
    bytes,
    artifact(ref) {
      const event = stored().find(({ payload }) => payload.ref === ref);
      if (event === undefined) return undefined;
      const parts = (event.payload.parts ?? [event.attachment_ref ?? '']).map(bytes);
      return parts.includes(undefined) ? undefined : joined(parts.filter((part) => part !== undefined));
    },
  };
}

type Stored = EventOf<'artifact.stored'>;

function eventsFor(
  store: SessionStore,
  { after = 0, limit = Number.POSITIVE_INFINITY, types }: ReadQuery,
): readonly LedgerEvent[] {
  const { events, unreadable } = store.current().history;
  const found: LedgerEvent[] = [];
  for (let index = after; index < events.length && found.length < limit; index += 1) {
    const event = events[index];
    if (event === undefined || unreadable.has(event.position)) continue;
    if (types === undefined || types.includes(event.event_type)) found.push(event);
  }
  return found;
}

function artifactRow({ payload, session_id: session, run_id: run, timestamp: at }: Stored): ArtifactRow {
  const { parts: _parts, exact: _exact, ...known } = payload;
  return { ...known, session, run, at, pinned: false, collected: false };
}

/** What is not what its name says is not given. */
function bytesIn(attachments: ReadonlyMap<string, string>, ref: string): Uint8Array<ArrayBuffer> | undefined {
  const text = attachments.get(ref);
  if (text === undefined) return undefined;
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return sha256(bytes) === ref ? bytes : undefined;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
