/** Large payloads of a ledger that lives in memory: gone with it, as everything of it is. */
import type { PayloadRef } from '../../base/ids.ts';
import { bytesOf } from '../rules/prepared-event.ts';
import type { PayloadFiles } from './payload-files.ts';

export function createPayloadMemory(): PayloadFiles {
  const kept = new Map<PayloadRef, Uint8Array>();
  const keep = (ref: PayloadRef, body: string | Uint8Array): void => {
    if (!kept.has(ref)) kept.set(ref, Uint8Array.from(bytesOf(body)));
  };
  return {
    write: async (ref, body) => keep(ref, body),
    ensure: keep,
    read: async (ref) => kept.get(ref),
    remove: (ref) => void kept.delete(ref),
    // What is in memory belongs to one process: nothing of it is a leftover of another.
    sweep: () => undefined,
  };
}
