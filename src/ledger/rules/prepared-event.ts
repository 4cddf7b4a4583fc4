/**
 * What can be done with a new event before the transaction: check it, redact it, serialize it once and hash it. A bad
 * event is refused here, where it harms nobody else in its batch.
 */
import { TroupeError } from '../../base/errors.ts';
import type { PayloadRef, SessionId } from '../../base/ids.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { Redacted } from '../../base/secrets/redact.ts';
import { type EventType, inboundTypes, isEventType, payloadSchemas } from '../../events/catalogue.ts';
import { type ChainedFields, SCHEMA_VERSION } from '../../events/envelope.ts';
import type { Append, NewEvent } from '../port.ts';
import type { Protection } from '../seals/protection.ts';
import { payloadRef } from './chain.ts';
import { SEALED } from './read-events.ts';

/** Bytes to store, and their name. */
export interface PayloadBody {
  readonly ref: PayloadRef;
  readonly data: string | Uint8Array;
  readonly bytes: number;
}

/** Without a copy where they are bytes already. */
export function bytesOf(data: string | Uint8Array): Buffer {
  return typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

export interface PreparedEvent {
  readonly event: NewEvent;
  readonly at: number;
  /** The payload as it will be read back. */
  readonly payload: unknown;
  readonly body: PayloadBody;
  readonly attachment: PayloadBody | null;
}

/** What the chain's hash covers of an event at its place. */
export function chainedFields(
  session: SessionId,
  position: number,
  parent: number | null,
  { event, at, body, attachment }: PreparedEvent,
): ChainedFields {
  return {
    session,
    position,
    run: event.run,
    parent,
    at,
    actor: event.actor,
    tool: event.tool ?? null,
    type: event.type,
    step: event.step ?? null,
    payload: body.ref,
    attachment: attachment === null ? null : attachment.ref,
    version: SCHEMA_VERSION,
  };
}

/** Dates beyond this cannot be written as a timestamp. */
const TIME_MAX_MS = 8.64e15;
const BAD_APPEND = 'ledger_bad_append';
const INBOUND: ReadonlySet<string> = new Set(inboundTypes);

/** Whether it may reach a run from outside, so that those who listen are told. */
export const isInbound = ({ type }: Pick<NewEvent, 'type'>): boolean => INBOUND.has(type);

export function prepareAppend(request: Append, protection: Protection, validate: boolean): readonly PreparedEvent[] {
  if (request.fence === null) {
    const stray = request.events.find((event) => !isInbound(event));
    if (stray !== undefined) throw badAppend(`only the owner of the run may append ${stray.type}`);
  }
  for (const { name, add } of request.counters ?? []) {
    if (!Number.isSafeInteger(add)) throw badAppend(`counter ${name} cannot change by ${add}`);
  }
  return request.events.map((event) => prepareEvent(request.session, event, protection, validate));
}

function prepareEvent(session: SessionId, event: NewEvent, protection: Protection, validate: boolean): PreparedEvent {
  if (!isEventType(event.type)) throw badAppend('an event has no known type');
  if (!(Math.abs(event.at) <= TIME_MAX_MS)) throw badAppend(`${event.type} has no valid time`);
  if (validate) {
    const checked = payloadSchemas[event.type].safeParse(event.payload);
    if (!checked.success) throw badAppend(`the payload of ${event.type} does not fit its schema: ${checked.error.message}`);
  }
  const serialized = JSON.stringify(event.payload);
  const { redactor } = protection;
  const cleaned = redactor.json(event.payload, serialized);
  return {
    event,
    at: Math.round(event.at),
    payload: cleaned?.value ?? event.payload,
    body: bodyOf(cleaned === undefined ? serialized : bodyWithSeal(session, event, cleaned, protection), event.type),
    attachment: attachmentOf(event, protection),
  };
}

/** What nobody runs on and no model sees again is not kept exactly: a command's output is redacted before the model sees it. */
const UNSEALED: ReadonlySet<EventType> = new Set(['cli.stdout', 'cli.stderr']);

/** The redacted payload, and beside it the exact one, sealed. */
function bodyWithSeal(session: SessionId, event: NewEvent, { value, found }: Redacted, { sealer }: Protection): string {
  if (UNSEALED.has(event.type)) return JSON.stringify(value);
  const place = { session, run: event.run, step: event.step ?? null, type: event.type };
  const sealed = sealer.seal({ payload: event.payload as Json, secrets: found }, place);
  return JSON.stringify({ ...(value as JsonObject), [SEALED]: sealed });
}

function attachmentOf({ attachment, type }: NewEvent, { redactor }: Protection): PayloadBody | null {
  if (attachment === undefined) return null;
  return bodyOf(typeof attachment === 'string' ? redactor.text(attachment) : attachment, type);
}

function bodyOf(data: string | Uint8Array, type: string): PayloadBody {
  const bytes = Buffer.byteLength(data);
  if (bytes > limits.payloadBytes) {
    throw new TroupeError(
      'payload_too_large',
      `${type} holds ${bytes} bytes, more than the ${limits.payloadBytes} a payload may have`,
      {
        fix: 'Store less in one event: keep what is large in a file. The limit (`payloadBytes`) is fixed.',
      },
    );
  }
  return { ref: payloadRef(data), data, bytes };
}

/** The caller broke the port's rules: nothing of its append is written. */
export function badAppend(why: string): TroupeError {
  return new TroupeError(BAD_APPEND, `Refused by the ledger: ${why}`);
}

export function isRefusal(error: unknown): boolean {
  return error instanceof TroupeError && error.code === BAD_APPEND;
}
