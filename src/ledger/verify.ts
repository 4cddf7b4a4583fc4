/**
 * Walks the hash chain of each session from its first event and names the first one that is not as it was written
 * (invariant I10). Collected payloads are counted, not missed: their hash is still in the chain.
 */
import { eventId, type PayloadRef, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { isEventType, payloadSchemas } from '../events/catalogue.ts';
import { CHAIN_START, chainHash, payloadRef } from './chain.ts';
import type { ReadQuery, VerifyReport } from './port.ts';
import { place, type StoredEvent } from './stored-event.ts';

/** What the end of a session is compared with: `seal` is the chain hash of the event at `sealed`. */
export interface SealedSession {
  readonly session: SessionId;
  /** The position of the last event that is there. */
  readonly last: number;
  readonly sealed: number;
  readonly seal: string;
}

/** What a store gives to be checked. */
export interface VerifySource {
  sessions(only: SessionId | undefined): Promise<readonly SealedSession[]>;
  stored(query: ReadQuery): Promise<readonly StoredEvent[]>;
  payload(ref: PayloadRef): Promise<Uint8Array | undefined>;
  /** Whether the bytes still have the hash they are named by. Collected ones count as intact. */
  isIntact(ref: PayloadRef): Promise<boolean>;
}

type Broken = Extract<VerifyReport, { kind: 'broken' }>;

export async function verifyLedger(source: VerifySource, only?: SessionId): Promise<VerifyReport> {
  const sessions = await source.sessions(only);
  let events = 0;
  let tombstones = 0;
  for (const { session, sealed, seal, ...found } of sessions) {
    const last = Math.max(found.last, sealed);
    const report = await verifySession(source, session, last, { at: sealed, chain: seal });
    if (report.kind === 'broken') return report;
    events += last;
    tombstones += report.tombstones;
  }
  return { kind: 'sound', sessions: sessions.length, events, tombstones };
}

async function verifySession(
  source: VerifySource,
  session: SessionId,
  last: number,
  seal: { readonly at: number; readonly chain: string },
): Promise<Broken | { readonly kind: 'sound'; readonly tombstones: number }> {
  const broken = (position: number, why: string): Broken => ({ kind: 'broken', event: eventId(session, position), why });
  let chain = CHAIN_START;
  let position = 0;
  let tombstones = 0;
  while (position < last) {
    const page = await readPage(source, session, position);
    if (page === undefined) return broken(position + 1, 'it cannot be read: its row or its payload is damaged');
    if (page.length === 0) return broken(position + 1, 'it is missing');
    for (const event of page) {
      if (event.fields.position > last) break;
      if (event.fields.position !== position + 1) return broken(position + 1, 'it is missing');
      const why = whyBadEnvelope(event, chain) ?? (await whyBadPayload(event, source));
      if (why !== undefined) return broken(position + 1, why);
      if (event.place === place.gone) tombstones += 1;
      chain = event.chain;
      position += 1;
      if (position === seal.at && chain !== seal.chain) return broken(position, 'it is not the event that ended the run here');
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { kind: 'sound', tombstones };
}

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

async function whyBadPayload(event: StoredEvent, source: VerifySource): Promise<string | undefined> {
  const { fields } = event;
  if (fields.attachment !== null) {
    const attachment = await source.isIntact(fields.attachment);
    if (!attachment) return 'its attachment was changed or is missing';
  }
  if (event.place === place.gone) return undefined;
  const body = event.body ?? (await source.payload(fields.payload));
  if (body === undefined) return 'its payload file is missing';
  if (payloadRef(body) !== fields.payload) return 'its payload was changed: the bytes do not match their hash';
  const parsed = parseJson(typeof body === 'string' ? body : Buffer.from(body).toString());
  if (!parsed.ok) return `its payload is not JSON: ${parsed.error}`;
  if (!isEventType(fields.type)) return `its type ${fields.type} is unknown`;
  const checked = payloadSchemas[fields.type].safeParse(parsed.value);
  return checked.success ? undefined : `its payload does not fit the schema of ${fields.type}: ${checked.error.message}`;
}
