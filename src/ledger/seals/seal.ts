/**
 * Sealing: where redaction has changed a payload, its exact bytes are kept beside the redacted text, encrypted with a key that
 * lies outside the ledger (invariant I11: what runs gets exactly what was given, what is read shows no secret).
 *
 * A sealed text is bound to its place (session, run, step and type of its event): moved elsewhere, it does not open. With the
 * payload goes which secrets were found in it, so that a process that does not have them in its environment knows them, too,
 * once it has opened it.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { z } from 'zod';
import type { RunId, SessionId } from '../../base/ids.ts';
import { type Json, parseJson } from '../../base/json.ts';
import type { Random } from '../../base/random.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Secret } from '../../base/secrets/redact.ts';
import type { KeyRing } from './keys.ts';

/** The event that a sealed text belongs to. */
export interface SealPlace {
  readonly session: SessionId;
  readonly run: RunId;
  readonly step: string | null;
  readonly type: string;
}

export interface Exact {
  readonly payload: Json;
  /** Those of the environment, as they were found in it. */
  readonly secrets: readonly Secret[];
}

export interface Sealer {
  seal(exact: Exact, place: SealPlace): string;
  /** The exact payload, or why it cannot be had. */
  open(sealed: string, place: SealPlace): Result<Exact, string>;
}

const FORMAT = '1';
/** Stands where something was sealed, in a session that came in a bundle: what is sealed never leaves. */
export const LEFT_OUT = '0';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const exactSchema = z.object({ payload: z.unknown(), secrets: z.array(z.object({ name: z.string(), value: z.string() })) });

export function createSealer(keys: KeyRing, random: Random): Sealer {
  return {
    seal(exact, place) {
      const key = keys.current();
      const nonce = random.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key.bytes, nonce).setAAD(associated(place));
      const body = Buffer.concat([cipher.update(JSON.stringify(exact)), cipher.final(), cipher.getAuthTag()]);
      return [FORMAT, key.id, Buffer.from(nonce).toString('base64url'), body.toString('base64url')].join('.');
    },
    open(sealed, place) {
      const [format, id = '', nonce = '', body = ''] = sealed.split('.');
      if (format === LEFT_OUT) return fail('a secret is in it, which the bundle that it came in does not have');
      if (format !== FORMAT) return fail('it was sealed by a newer Troupe');
      const key = keys.find(id);
      if (key === undefined) return fail(`it is sealed with the key ${id.slice(0, 40)}, which is not on this machine`);
      const text = decrypted(key.bytes, Buffer.from(nonce, 'base64url'), Buffer.from(body, 'base64url'), place);
      const parsed = text === undefined ? undefined : parseJson(text);
      const exact = exactSchema.safeParse(parsed?.ok === true ? parsed.value : undefined);
      return exact.success ? ok(exact.data as Exact) : fail('what is sealed was changed, or belongs to another event');
    },
  };
}

function decrypted(key: Uint8Array, nonce: Buffer, body: Buffer, place: SealPlace): string | undefined {
  if (nonce.length !== NONCE_BYTES || body.length < TAG_BYTES) return undefined;
  const tag = body.subarray(body.length - TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(associated(place)).setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(body.subarray(0, body.length - TAG_BYTES)), decipher.final()]).toString();
  } catch {
    return undefined;
  }
}

/** The order of the fields is part of the format. */
function associated({ session, run, step, type }: SealPlace): Buffer {
  return Buffer.from(JSON.stringify(['troupe-seal', FORMAT, session, run, step, type]));
}
