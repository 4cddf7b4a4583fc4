/**
 * What this process has just committed, for whoever follows it here: it need not be read again. Only as long as no other process
 * has written since (SQLite's data version tells), only what was stored as it was given, and only the last few of each session:
 * who follows is never far behind.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../base/ids.ts';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { ReadQuery } from '../port.ts';
import { integer } from '../rows.ts';
import type { PreparedEvent } from '../rules/prepared-event.ts';
import { isInline } from './payloads.ts';

export interface RecentEvents {
  /** What was committed, with the bodies as they were stored. */
  note(session: SessionId, events: readonly LedgerEvent[], prepared: readonly PreparedEvent[]): void;
  /** What the store would answer, or nothing when it has to be asked. */
  read(query: ReadQuery): readonly LedgerEvent[] | undefined;
  /** Nothing is kept of what was there before, or comes while payloads are taken away. */
  without<Outcome>(work: () => Promise<Outcome>): Promise<Outcome>;
}

interface Kept {
  event: LedgerEvent;
  /** Until somebody reads it: what is read is what was stored, and not the object that it was made of. */
  body: string | undefined;
  readonly characters: number;
}

/** `written`: the data version that the last transaction of this process was made in. */
export function createRecentEvents(database: DatabaseSync, written: () => number): RecentEvents {
  const version = database.prepare('PRAGMA data_version');
  const sessions = new Map<SessionId, Kept[]>();
  let characters = 0;
  let seen = -1;

  const forget = (): void => {
    sessions.clear();
    characters = 0;
  };
  const forgetSession = (session: SessionId): void => {
    for (const { characters: gone } of sessions.get(session) ?? []) characters -= gone;
    sessions.delete(session);
  };
  /** Others may have written into any session since: then nothing of what is kept is certainly the newest. */
  const isCurrent = (): boolean => {
    if (sessions.size > 0 && integer(version.get() ?? {}, 'data_version') !== seen) forget();
    return sessions.size > 0;
  };
  const makeRoom = (): void => {
    for (const [oldest] of sessions) {
      if (characters <= limits.recentCharacters && sessions.size <= limits.recentSessions) return;
      forgetSession(oldest);
    }
  };

  return {
    without(work) {
      forget();
      return work().finally(forget);
    },
    note(session, events, prepared) {
      if (written() !== seen) forget();
      seen = written();
      const kept = sessions.get(session) ?? [];
      // The one that was written to last is the last to go.
      sessions.delete(session);
      sessions.set(session, kept);
      for (const [index, event] of events.entries()) {
        const { event: given, body, payload } = prepared[index] ?? {};
        const data = body?.data;
        // Of what was sealed, or lies in a file, the store knows more; what came before it is of no use without it.
        if (given === undefined || payload !== given.payload || typeof data !== 'string' || !isInline(data)) {
          forgetSession(session);
          return;
        }
        kept.push({ event, body: data, characters: data.length });
        characters += data.length;
      }
      for (const { characters: gone } of kept.splice(0, Math.max(0, kept.length - limits.recentEvents))) characters -= gone;
      makeRoom();
    },
    read({ session, after = 0, limit = limits.readPageEvents, run, root, types, newest, exact }) {
      if ((run ?? root ?? types ?? newest) !== undefined || exact === true || !isCurrent()) return undefined;
      const kept = sessions.get(session);
      const first = kept?.[0]?.event.position;
      if (kept === undefined || first === undefined || first > after + 1) return undefined;
      return kept.slice(after + 1 - first, after + 1 - first + limit).map(read);
    },
  };
}

function read(kept: Kept): LedgerEvent {
  const parsed = kept.body === undefined ? undefined : parseJson(kept.body);
  if (parsed?.ok === true) kept.event = { ...kept.event, payload: parsed.value } as LedgerEvent;
  kept.body = undefined;
  return kept.event;
}
