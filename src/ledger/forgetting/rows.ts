/** What both stores keep of holds and of what was forgotten, and how it is read. */
import type { SessionId } from '../../base/ids.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import type { ForgottenSession, Hold, SessionStanding } from './port.ts';

/** Of SQLite and of Postgres: some words differ. Few sessions are held, so holds have no index. */
export const keepingTables = (integers: string, more = ''): string => `
CREATE TABLE IF NOT EXISTS hold (
  session text NOT NULL, held_at ${integers} NOT NULL, held_by text NOT NULL, reason text NOT NULL,
  released_at ${integers}, released_by text
);
CREATE TABLE IF NOT EXISTS forgotten (
  session text NOT NULL, position ${integers} NOT NULL, up_to ${integers} NOT NULL, gone_at ${integers} NOT NULL,
  gone_by text NOT NULL, stand_in text, finished ${integers} NOT NULL, PRIMARY KEY (session, position)
)${more};
`;

export const SELECT_HOLDS =
  'SELECT session, held_at, held_by, reason, released_at, released_by FROM hold ORDER BY held_at, session';

/** A row at position 0 stands for everything up to `up_to`; any other for one event. */
export const SELECT_FORGOTTEN = `
SELECT session, max(up_to) FILTER (WHERE position = 0) AS up_to, count(*) FILTER (WHERE position > 0) AS events,
       max(gone_at) AS gone_at, max(gone_by) AS gone_by, min(finished) AS finished FROM forgotten GROUP BY session`;

/** The one column is there, or no row is. */
export const selectHasForgotten = (session: string): string =>
  `SELECT 1 AS forgotten FROM forgotten WHERE session = ${session} LIMIT 1`;

/** A run of it is to be gone on with: none that came in a bundle is, as the last event of its session says. */
export const UNENDED = `
EXISTS (SELECT 1 FROM run WHERE run.session = session.id AND started_at IS NOT NULL AND ended_at IS NULL)
AND (SELECT type FROM event WHERE event.session = session.id ORDER BY position DESC LIMIT 1) <> 'session.imported'`;

/** Nobody works on it, no run of it is unfinished, and nobody holds it. */
export const FREE = `
NOT (${UNENDED})
AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.session = session.name AND lease.owner IS NOT NULL)
AND NOT EXISTS (SELECT 1 FROM hold WHERE hold.session = session.name AND hold.released_at IS NULL)`;

export function holdOf(row: Row): Hold {
  const at = integerOrNull(row, 'released_at');
  return {
    session: text(row, 'session') as SessionId,
    reason: text(row, 'reason'),
    ...{ by: text(row, 'held_by'), at: integer(row, 'held_at') },
    released: at === null ? null : { by: textOrNull(row, 'released_by') ?? '', at },
  };
}

export function standingsOf(
  pinned: readonly SessionId[],
  holds: readonly Hold[],
  forgotten: readonly Row[],
): ReadonlyMap<SessionId, SessionStanding> {
  const found = new Map<SessionId, SessionStanding>();
  const add = (session: SessionId, said: Partial<SessionStanding>): void => {
    const known = found.get(session) ?? { session, pinned: false, hold: null, forgotten: null };
    found.set(session, { ...known, ...said });
  };
  for (const session of pinned) add(session, { pinned: true });
  for (const hold of holds) if (hold.released === null) add(hold.session, { hold });
  for (const row of forgotten) add(text(row, 'session') as SessionId, { forgotten: forgottenOf(row) });
  return found;
}

export const forgottenOf = (row: Row): ForgottenSession => ({
  ...{ by: text(row, 'gone_by'), at: integer(row, 'gone_at') },
  upTo: integerOrNull(row, 'up_to') ?? 0,
  events: integer(row, 'events'),
  unfinished: integer(row, 'finished') === 0,
});

/** How it begins what is said of an event that is asked for exactly. */
export const WAS_FORGOTTEN = 'it was forgotten at';

/** What is known of one event whose payload is gone. */
export interface GoneEvent {
  readonly by: string;
  readonly at: number;
  /** What is read in its place, as JSON; `null` when the whole session was forgotten. */
  readonly standIn: string | null;
}

export const goneOf = (row: Row): GoneEvent => ({
  ...{ by: text(row, 'gone_by'), at: integer(row, 'gone_at') },
  standIn: textOrNull(row, 'stand_in'),
});

export const SELECT_GONE_EVENTS = 'SELECT session, position, up_to FROM forgotten';

/** Of one session, by its name. */
export type ForgottenEvents = (session: string) => { readonly upTo: number; readonly events: ReadonlySet<number> };

export function forgottenIn(rows: readonly Row[]): ForgottenEvents {
  const found = new Map<string, { upTo: number; events: Set<number> }>();
  for (const row of rows) {
    const session = text(row, 'session');
    const known = found.get(session) ?? { upTo: 0, events: new Set() };
    found.set(session, known);
    const position = integer(row, 'position');
    if (position === 0) known.upTo = integer(row, 'up_to');
    else known.events.add(position);
  }
  return (session) => found.get(session) ?? { upTo: 0, events: new Set() };
}
