/**
 * Walks the hash chain of each session from its first event and names the first one that is not as it was written
 * (invariant I10). Collected payloads are counted, not missed: their hash is still in the chain. On the way it derives what the
 * tables beside the events should say, and compares.
 */
import { eventId, type PayloadRef, type RunId, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { isEventType, payloadSchemas } from '../events/catalogue.ts';
import { CHAIN_START } from '../events/envelope.ts';
import type { DriftedRow, ReadQuery, VerifyReport } from './port.ts';
import { integer, integerOrNull, type Row, text, textOrNull } from './rows.ts';
import { chainHash, payloadRef } from './rules/chain.ts';
import { type Derivation, deriveCounters, deriveSession, type IndexedRun, type IndexedSession } from './rules/derived.ts';
import { payloadPlace, type StoredEvent } from './rules/stored-event.ts';

/** What the end of a session is compared with: `seal` is the chain hash of the event at `sealed`. */
export interface SealedSession extends IndexedSession {
  /** The position of the last event that is there. */
  readonly last: number;
  readonly seal: string;
  /** Payloads of events after this position were never collected. */
  readonly collected: number;
  /** Up to here everything was forgotten, and beyond it these events. */
  readonly forgotten: { readonly upTo: number; readonly events: ReadonlySet<number> };
}

/** Everything that is kept beside the events, as it was at one moment: events are only added, so they can be read later. */
export interface Snapshot {
  readonly sessions: readonly SealedSession[];
  readonly runs: ReadonlyMap<SessionId, readonly IndexedRun[]>;
  readonly counters: ReadonlyMap<string, number>;
}

/** What a store gives to be checked. */
export interface VerifySource {
  snapshot(only: SessionId | undefined): Promise<Snapshot>;
  stored(query: ReadQuery): Promise<readonly StoredEvent[]>;
  payload(ref: PayloadRef): Promise<Uint8Array | undefined>;
  /** Whether the bytes still have the hash they are named by. Collected ones count as intact. */
  isIntact(ref: PayloadRef): Promise<boolean>;
}

type Broken = Extract<VerifyReport, { kind: 'broken' }>;

export async function verifyLedger(source: VerifySource, only?: SessionId): Promise<VerifyReport> {
  const { sessions, runs, counters } = await source.snapshot(only);
  const derivedCounters = deriveCounters();
  const rows: DriftedRow[] = [];
  let events = 0;
  let tombstones = 0;
  let forgotten = 0;
  for (const found of sessions) {
    const last = Math.max(found.last, found.sealed);
    const derived = deriveSession(found.session, derivedCounters);
    const report = await verifySession(source, { ...found, last }, derived);
    if (report.kind === 'broken') return report;
    rows.push(...derived.drifts(found, runs.get(found.session) ?? []));
    events += last;
    tombstones += report.tombstones;
    forgotten += report.forgotten;
  }
  rows.push(...derivedCounters.drifts(counters, only === undefined));
  return rows.length > 0
    ? { kind: 'drifted', rows }
    : { kind: 'sound', sessions: sessions.length, events, tombstones, forgotten };
}

async function verifySession(
  source: VerifySource,
  found: SealedSession,
  derived: Pick<Derivation, 'apply'>,
): Promise<Broken | { readonly kind: 'sound'; readonly tombstones: number; readonly forgotten: number }> {
  const { session, last, sealed, seal } = found;
  const broken = (position: number, why: string): Broken => ({ kind: 'broken', event: eventId(session, position), why });
  let chain = CHAIN_START;
  let position = 0;
  const gone = { tombstones: 0, forgotten: 0 };
  while (position < last) {
    const page = await readPage(source, session, position);
    if (page === undefined) return broken(position + 1, 'it cannot be read: its row or its payload is damaged');
    if (page.length === 0) return broken(position + 1, 'it is missing');
    for (const event of page) {
      if (event.fields.position > last) break;
      if (event.fields.position !== position + 1) return broken(position + 1, 'it is missing');
      const why = whyBadEnvelope(event, chain);
      const checked = why === undefined ? await checkPayload(event, source).catch(unreadable) : { why };
      if (checked.why !== undefined) return broken(position + 1, checked.why);
      derived.apply(event.fields, checked.payload);
      if (event.place === payloadPlace.gone) {
        const why = whyGone(found, position + 1) ?? whyGone(await standsNow(source, session), position + 1);
        if (why === undefined) return broken(position + 1, NOT_COLLECTED);
        gone[why] += 1;
      }
      chain = event.chain;
      position += 1;
      if (position === sealed && chain !== seal) return broken(position, 'it is not the event that ended the run here');
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { kind: 'sound', ...gone };
}

const NOT_COLLECTED = 'its payload is gone, though its session was not collected that far';

/** What may have happened to it, if anything did. */
function whyGone(found: SealedSession | undefined, position: number): 'tombstones' | 'forgotten' | undefined {
  if (found === undefined) return undefined;
  const { collected, forgotten } = found;
  if (position <= forgotten.upTo || forgotten.events.has(position)) return 'forgotten';
  return position <= collected ? 'tombstones' : undefined;
}

/** Somebody may have collected or forgotten it since the tables were looked at. */
async function standsNow(source: VerifySource, session: SessionId): Promise<SealedSession | undefined> {
  return (await source.snapshot(session)).sessions[0];
}

const unreadable = (): { readonly why: string } => ({
  why: 'what belongs to it cannot be read: its payload or its attachment is damaged',
});

/** When a page cannot be read, its events are read one by one, up to the one that is to blame: `undefined`. */
async function readPage(source: VerifySource, session: SessionId, after: number): Promise<readonly StoredEvent[] | undefined> {
  for (const limit of [limits.readPageEvents, 1]) {
    try {
      return await source.stored({ session, after, limit });
    } catch {
      // Whatever it is, verify reports it as the state of the first event concerned.
    }
  }
  return undefined;
}

function whyBadEnvelope({ fields, chain }: StoredEvent, before: string): string | undefined {
  const { parent, position } = fields;
  if ((parent === null) !== (position === 1))
    return parent === null ? 'it has no parent' : 'the first event cannot have a parent';
  if (parent !== null && !(parent >= 1 && parent < position)) return `its parent ${parent} does not come before it`;
  return chainHash(before, fields) === chain ? undefined : 'its envelope was changed: the chain hash does not match';
}

/** Its payload, if it is not collected, or what is wrong with it. */
async function checkPayload(
  event: StoredEvent,
  source: VerifySource,
): Promise<{ readonly why: string } | { readonly why?: undefined; readonly payload: unknown }> {
  const { fields } = event;
  if (fields.attachment !== null) {
    const attachment = await source.isIntact(fields.attachment);
    if (!attachment) return { why: 'its attachment was changed or is missing' };
  }
  if (event.place === payloadPlace.gone) return { payload: undefined };
  const body = event.body ?? (await source.payload(fields.payload));
  if (body === undefined) return { why: 'its payload file is missing' };
  if (payloadRef(body) !== fields.payload) return { why: 'its payload was changed: the bytes do not match their hash' };
  const parsed = parseJson(typeof body === 'string' ? body : Buffer.from(body).toString());
  if (!parsed.ok) return { why: `its payload is not JSON: ${parsed.error}` };
  if (!isEventType(fields.type)) return { why: `its type ${fields.type} is unknown` };
  const checked = payloadSchemas[fields.type].safeParse(parsed.value);
  if (!checked.success) return { why: `its payload does not fit the schema of ${fields.type}: ${checked.error.message}` };
  return { payload: checked.data };
}

/** The rows of the index of runs, by session. */
export function indexedRuns(rows: readonly Row[]): ReadonlyMap<SessionId, readonly IndexedRun[]> {
  const runs = new Map<SessionId, IndexedRun[]>();
  for (const row of rows) {
    const session = text(row, 'session') as SessionId;
    const run: IndexedRun = {
      run: text(row, 'name') as RunId,
      root: textOrNull(row, 'root') as RunId | null,
      parent: textOrNull(row, 'parent') as RunId | null,
      first: integer(row, 'first'),
      agent: textOrNull(row, 'agent'),
      role: textOrNull(row, 'role'),
      state: textOrNull(row, 'state'),
      startedAt: integerOrNull(row, 'started_at'),
      endedAt: integerOrNull(row, 'ended_at'),
    };
    const known = runs.get(session);
    if (known === undefined) runs.set(session, [run]);
    else known.push(run);
  }
  return runs;
}
