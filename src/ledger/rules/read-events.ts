/** From rows to events: the same for every store, once its rows have these columns. */
import { TroupeError } from '../../base/errors.ts';
import { eventId, type PayloadRef, type RunId, type SessionId } from '../../base/ids.ts';
import { isJsonObject, type Json, parseJson } from '../../base/json.ts';
import type { ChainedFields, LedgerEvent } from '../../events/envelope.ts';
import { type GoneEvent, WAS_FORGOTTEN } from '../forgetting/rows.ts';
import { bytes, hex, integer, integerOrNull, type Row, text, textOrNull } from '../rows.ts';
import type { Protection } from '../seals/protection.ts';
import { type ChainedEvent, payloadPlace, type StoredEvent, toLedgerEvent } from './stored-event.ts';

type ReadGone = (session: SessionId, position: number) => Promise<GoneEvent | undefined>;
type ReadPayload = (ref: PayloadRef) => Promise<Uint8Array | undefined>;

/** The key in a stored payload that holds its exact form. No payload has a field of this name, and no reader sees it. */
export const SEALED = 'sealed';

/**
 * Reads the payloads that are not in the rows themselves and puts the events together, in order: as they were redacted, or,
 * given what opens them, as they were appended.
 */
export async function assembledEvents(
  stored: readonly StoredEvent[],
  payload: ReadPayload,
  gone: ReadGone,
  opener: Protection | undefined,
): Promise<readonly LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for (const event of stored) {
    if (event.place === payloadPlace.gone) {
      events.push(goneEvent(event, await gone(event.fields.session, event.fields.position), opener !== undefined));
      continue;
    }
    const body = event.body ?? (await largePayload(event, payload));
    const parsed = parseJson(body);
    if (!parsed.ok) throw unreadable(event, parsed.error);
    events.push(toEvent(event.fields, parsed.value, opener));
  }
  return events;
}

function toEvent(fields: ChainedFields, stored: Json, opener: Protection | undefined): LedgerEvent {
  if (!isJsonObject(stored) || typeof stored[SEALED] !== 'string') return toLedgerEvent(fields, stored);
  const { [SEALED]: sealed, ...redacted } = stored;
  if (opener === undefined) return toLedgerEvent(fields, redacted);
  const opened = opener.sealer.open(sealed, fields);
  if (!opened.ok) return { ...toLedgerEvent(fields, redacted), inexact: opened.error };
  // Whoever goes on from here may repeat them, and they must not get into the ledger then.
  opener.redactor.learn(opened.value.secrets);
  return toLedgerEvent(fields, opened.value.payload);
}

export function storedEvent(session: SessionId, row: Row): StoredEvent {
  return { ...chainedEvent(session, row), place: integer(row, 'place'), body: textOrNull(row, 'body') };
}

export function chainedEvent(session: SessionId, row: Row): ChainedEvent {
  const fields: ChainedFields = {
    session,
    position: integer(row, 'position'),
    run: text(row, 'run') as RunId,
    parent: integerOrNull(row, 'parent'),
    at: integer(row, 'at'),
    actor: text(row, 'actor'),
    tool: textOrNull(row, 'tool'),
    type: text(row, 'type'),
    step: textOrNull(row, 'step'),
    payload: hex(bytes(row, 'ref')) as PayloadRef,
    attachment: row['attachment'] === null ? null : (hex(bytes(row, 'attachment')) as PayloadRef),
    version: integer(row, 'version'),
  };
  return { fields, chain: hex(bytes(row, 'chain')) };
}

/** What stands in its place, or why there is nothing. */
function goneEvent(event: StoredEvent, gone: GoneEvent | undefined, exact: boolean): LedgerEvent {
  const { session } = event.fields;
  if (gone === undefined) {
    throw new TroupeError('ledger_collected', `The payloads of ${session} were removed by \`troupe ledger gc\``, {
      fix: 'Pin sessions that you want to keep: what was collected cannot be read again.',
    });
  }
  const when = `${new Date(gone.at).toISOString()} by ${gone.by}`;
  if (gone.standIn === null) {
    throw new TroupeError('ledger_collected', `${session} was forgotten at ${when}: what it held is destroyed`, {
      fix: 'See which runs there were: troupe sessions; the chain of what happened still verifies.',
    });
  }
  const parsed = parseJson(gone.standIn);
  if (!parsed.ok) throw unreadable(event, parsed.error);
  const inexact = exact ? { inexact: `${WAS_FORGOTTEN} ${when}` } : {};
  return { ...toLedgerEvent(event.fields, parsed.value), forgotten: when, ...inexact };
}

async function largePayload(event: StoredEvent, payload: ReadPayload): Promise<string> {
  const found = await payload(event.fields.payload);
  if (found === undefined) throw unreadable(event, 'its payload file is missing');
  return Buffer.from(found).toString();
}

function unreadable({ fields }: StoredEvent, why: string): TroupeError {
  return new TroupeError('ledger_corrupt', `Event ${eventId(fields.session, fields.position)} cannot be read: ${why}`, {
    fix: 'Run `troupe ledger verify`, and restore the ledger from a backup.',
  });
}
