/**
 * The hash chain: each event's hash covers its envelope and the hash before it, so that changing, removing or
 * reordering anything in a session changes every hash after it. Payloads are covered by their references.
 */
import { hash } from 'node:crypto';
import type { PayloadRef, RunId, SessionId } from '../../base/ids.ts';

/** What the first event of a session follows. */
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

/** The order of the fields is part of the file format. */
export function chainHash(before: string, fields: ChainedFields): string {
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
  return hash('sha256', `${before}\n${envelope}`, 'hex');
}

export function payloadRef(body: string | Uint8Array): PayloadRef {
  return hash('sha256', body, 'hex') as PayloadRef;
}
