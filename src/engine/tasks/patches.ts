/** Patches of tasks, kept for ever and found again by a reference. */
import type { Writes } from '../record/writes.ts';

export async function keepPatch(_tree: Writes, bytes: Uint8Array): Promise<string> {
  return `data:;base64,${Buffer.from(bytes).toString('base64')}`;
}

export async function patchBytes(_tree: Writes, ref: string): Promise<Uint8Array> {
  return Buffer.from(ref.slice(ref.indexOf(',') + 1), 'base64');
}
