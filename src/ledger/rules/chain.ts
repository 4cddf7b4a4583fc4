/**
 * The hash chain: each event's hash covers its envelope and the hash before it, so that changing, removing or
 * reordering anything in a session changes every hash after it. Payloads are covered by their references.
 */
import { hash } from 'node:crypto';
import type { PayloadRef } from '../../base/ids.ts';
import { type ChainedFields, chainedText } from '../../events/envelope.ts';

export function chainHash(before: string, fields: ChainedFields): string {
  return hash('sha256', chainedText(before, fields), 'hex');
}

export function payloadRef(body: string | Uint8Array): PayloadRef {
  return hash('sha256', body, 'hex') as PayloadRef;
}
