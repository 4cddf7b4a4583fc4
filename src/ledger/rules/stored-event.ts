/**
 * Events as a store keeps them, and from there to an event as everybody reads it. Appending and reading both end here, so
 * they cannot differ.
 */
import { type EventId, eventId, type SessionId } from '../../base/ids.ts';
import type { ChainedFields, LedgerEvent } from '../../events/envelope.ts';

/** Where a payload's bytes are. A tombstone (`gone`) keeps the hash so that the chain still verifies. */
export const payloadPlace = { inline: 0, file: 1, gone: 2 } as const;

/** An envelope and its hash. */
export interface ChainedEvent {
  readonly fields: ChainedFields;
  readonly chain: string;
}

/** An event as stored, before its payload is looked at. `body` is `null` when the payload is in a file or collected. */
export interface StoredEvent extends ChainedEvent {
  readonly place: number;
  readonly body: string | null;
}

/** The payload was checked when it was appended (by type) or is covered by its hash, so it has the type its event says. */
export function toLedgerEvent(fields: ChainedFields, payload: unknown): LedgerEvent {
  return {
    event_id: eventId(fields.session, fields.position),
    parent_event_id: fields.parent === null ? null : eventId(fields.session, fields.parent),
    session_id: fields.session,
    run_id: fields.run,
    timestamp: new Date(fields.at).toISOString(),
    actor: fields.actor,
    tool: fields.tool,
    event_type: fields.type,
    payload_ref: fields.payload,
    attachment_ref: fields.attachment,
    step: fields.step,
    schema_version: fields.version,
    position: fields.position,
    payload,
  } as LedgerEvent;
}

/** The position an event id names within `session`; `undefined` when it belongs to another one or is none. */
export function positionIn(session: SessionId, id: EventId): number | undefined {
  if (!id.startsWith(session) || id.charAt(session.length) !== '.') return undefined;
  const position = Number(id.slice(session.length + 1));
  return Number.isSafeInteger(position) && position > 0 ? position : undefined;
}
