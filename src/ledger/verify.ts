/**
 * Walks the hash chain of each session from its first event and names the first one that is not as it was written
 * (invariant I10). Collected payloads are counted, not missed: their hash is still in the chain.
 */
import type { DatabaseSync } from 'node:sqlite';
import { eventId, type SessionId } from '../base/ids.ts';
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { isEventType, payloadSchemas } from '../events/catalogue.ts';
import { CHAIN_START, chainHash, payloadRef } from './chain.ts';
import type { VerifyReport } from './port.ts';
import type { Reader, StoredEvent } from './sqlite-read.ts';
import { bytes, hex, integer, text } from './sqlite-rows.ts';
import { place } from './sqlite-schema.ts';

const SELECT_SESSIONS = `
SELECT name, sealed, seal, coalesce((SELECT max(position) FROM event WHERE event.session = session.id), 0) AS last FROM session`;

type Broken = Extract<VerifyReport, { kind: 'broken' }>;

export async function verifyLedger(database: DatabaseSync, reader: Reader, only?: SessionId): Promise<VerifyReport> {
  const filter = only === undefined ? '' : 'WHERE name = ?';
  const sessions = database.prepare(`${SELECT_SESSIONS} ${filter} ORDER BY id`);
  const rows = only === undefined ? sessions.all() : sessions.all(only);
  let events = 0;
  let tombstones = 0;
  for (const row of rows) {
    const session = text(row, 'name') as SessionId;
    const last = Math.max(integer(row, 'last'), integer(row, 'sealed'));
    const found = await verifySession(reader, session, last, { at: integer(row, 'sealed'), chain: hex(bytes(row, 'seal')) });
    if (found.kind === 'broken') return found;
    events += last;
    tombstones += found.tombstones;
  }
  return { kind: 'sound', sessions: rows.length, events, tombstones };
}

async function verifySession(
  reader: Reader,
  session: SessionId,
  last: number,
  seal: { readonly at: number; readonly chain: string },
): Promise<Broken | { readonly kind: 'sound'; readonly tombstones: number }> {
  const broken = (position: number, why: string): Broken => ({ kind: 'broken', event: eventId(session, position), why });
  let chain = CHAIN_START;
  let position = 0;
  let tombstones = 0;
  while (position < last) {
    const page = readPage(reader, session, position);
    if (page === undefined) return broken(position + 1, 'it cannot be read: its row or its payload is damaged');
    if (page.length === 0) return broken(position + 1, 'it is missing');
    for (const event of page) {
      if (event.fields.position > last) break;
      if (event.fields.position !== position + 1) return broken(position + 1, 'it is missing');
      const why = whyBadEnvelope(event, chain) ?? (await whyBadPayload(event, reader));
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
function readPage(reader: Reader, session: SessionId, after: number): readonly StoredEvent[] | undefined {
  for (const limit of [limits.readPageEvents, 1]) {
    try {
      return reader.stored({ session, after, limit });
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

async function whyBadPayload(event: StoredEvent, reader: Reader): Promise<string | undefined> {
  const { fields } = event;
  if (fields.attachment !== null) {
    const attachment = await reader.isIntact(fields.attachment);
    if (!attachment) return 'its attachment was changed or is missing';
  }
  if (event.place === place.gone) return undefined;
  const body = event.body ?? (await reader.payload(fields.payload));
  if (body === undefined) return 'its payload file is missing';
  if (payloadRef(body) !== fields.payload) return 'its payload was changed: the bytes do not match their hash';
  const parsed = parseJson(typeof body === 'string' ? body : Buffer.from(body).toString());
  if (!parsed.ok) return `its payload is not JSON: ${parsed.error}`;
  if (!isEventType(fields.type)) return `its type ${fields.type} is unknown`;
  const checked = payloadSchemas[fields.type].safeParse(parsed.value);
  return checked.success ? undefined : `its payload does not fit the schema of ${fields.type}: ${checked.error.message}`;
}
