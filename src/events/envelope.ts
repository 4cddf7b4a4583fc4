/**
 * The envelope around every event: who did what, when, because of what. Payloads live apart, named by their SHA-256.
 * Positions start at 1 and have no gaps within a session; `event_id` is the session's id and the position.
 */
import { z } from 'zod';
import type { EventId, PayloadRef, RunId, SessionId } from '../base/ids.ts';
import type { EventType, Payloads } from './catalogue.ts';

export const SCHEMA_VERSION = 1;

export const actor = z.union([
  z.enum(['user', 'architect', 'executor', 'system']),
  z.custom<`agent:${string}`>((value) => typeof value === 'string' && value.startsWith('agent:')),
]);
export type Actor = z.infer<typeof actor>;

export interface Envelope {
  readonly event_id: EventId;
  /** The cause. Absent only on the first event of a session. */
  readonly parent_event_id: EventId | null;
  readonly session_id: SessionId;
  readonly run_id: RunId;
  /** ISO 8601 in UTC. A label: the order of events is their position. */
  readonly timestamp: string;
  readonly actor: Actor;
  readonly tool: string | null;
  readonly event_type: EventType;
  readonly payload_ref: PayloadRef;
  /** The whole of something the payload shows only in part, such as a long tool output. */
  readonly attachment_ref: PayloadRef | null;
  /** The stable key of the step this event belongs to, such as `turn/3/tool/0`. */
  readonly step: string | null;
  readonly schema_version: number;
}

/** An event as it is read back: envelope, position and payload. The type of the payload follows from `event_type`. */
export type LedgerEvent = { [Type in EventType]: EventOf<Type> }[EventType];
export type EventOf<Type extends EventType> = Envelope & {
  readonly position: number;
  readonly event_type: Type;
  readonly payload: Payloads[Type];
  /** Its exact payload was asked for and cannot be had: why. The payload is the redacted one. */
  readonly inexact?: string;
  /** Its payload was forgotten: by whom and when. What is read in its place says nothing. */
  readonly forgotten?: string;
};

/** What the first event of a session follows in the hash chain. */
export const CHAIN_START = '0'.repeat(64);

export interface ChainedFields {
  readonly session: SessionId;
  readonly position: number;
  readonly run: RunId;
  readonly parent: number | null;
  readonly at: number;
  readonly actor: string;
  readonly tool: string | null;
  readonly type: string;
  readonly step: string | null;
  readonly payload: PayloadRef;
  readonly attachment: PayloadRef | null;
  readonly version: number;
}

/**
 * What the hash of an event covers: its envelope and the hash before it. Whoever has a hash function, a browser too, can walk the
 * chain with this. The order of the fields is part of the file format.
 */
export function chainedText(before: string, fields: ChainedFields): string {
  const envelope = JSON.stringify([
    fields.session,
    fields.position,
    fields.run,
    fields.parent,
    fields.at,
    fields.actor,
    fields.tool,
    fields.type,
    fields.step,
    fields.payload,
    fields.attachment,
    fields.version,
  ]);
  return `${before}\n${envelope}`;
}

/** The same fields of an event as it is read. */
export function fieldsOfEnvelope(event: Envelope & { readonly position: number }): ChainedFields {
  const { session_id: session, position, run_id: run, parent_event_id: parent, timestamp, actor, tool, step } = event;
  return {
    ...{ session, position, run, parent: parent === null ? null : Number(parent.slice(parent.lastIndexOf('.') + 1)) },
    ...{ at: Date.parse(timestamp), actor, tool, type: event.event_type, step, payload: event.payload_ref },
    ...{ attachment: event.attachment_ref, version: event.schema_version },
  };
}
