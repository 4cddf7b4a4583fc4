/** The private key that the settings name for signing cards. */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';

export interface CardKey {
  readonly key: KeyObject;
  /** As signatures name it. */
  readonly algorithm: string;
}

/** Throws when the file is not there, or holds no key that signs cards. */
export async function readCardKey(root: string, name: string): Promise<CardKey> {
  const file = resolve(root, name);
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new TroupeError('config', `a2a.key: ${name} cannot be read: ${messageOf(error)}`, { fix: MAKE });
  });
  const key = keyIn(text, name);
  return { key, algorithm: algorithmOf(key, name) };
}

const MAKE = 'Make one: openssl genpkey -algorithm ed25519 -out card-key.pem';

function keyIn(text: string, name: string): KeyObject {
  try {
    const parsed = parseJson(text);
    if (parsed.ok && isJsonObject(parsed.value)) return createPrivateKey({ key: { ...parsed.value }, format: 'jwk' });
    return createPrivateKey(text);
  } catch (error) {
    throw new TroupeError('config', `a2a.key: ${name} holds no private key: ${messageOf(error)}`, { fix: MAKE });
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, name: string): string {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa') return 'RS256';
  const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
  if (asymmetricKeyType === 'ec' && curve !== undefined) return curve;
  throw new TroupeError('config', `a2a.key: keys like that in ${name} do not sign cards`, {
    fix: 'Use ed25519, RSA or a NIST curve.',
  });
}
