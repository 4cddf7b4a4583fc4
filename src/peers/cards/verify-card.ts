/** Whether a card bears the signature of a key that the owner trusts: a JWS over the canonical card, as the protocol has it. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { AgentCard, AgentCardSignature } from '@a2a-js/sdk';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import { canonicalCard } from './check-card.ts';

/** Which check belongs to which `alg`; the key decides, never what the card says alone. */
const CURVES: Readonly<Record<string, readonly [alg: string, digest: string]>> = {
  prime256v1: ['ES256', 'sha256'],
  secp384r1: ['ES384', 'sha384'],
  secp521r1: ['ES512', 'sha512'],
};
const RSA: Readonly<Record<string, string>> = { RS256: 'sha256', RS384: 'sha384', RS512: 'sha512' };

/** Why it does not; nothing if it does. */
export function signatureProblem(card: AgentCard, keyText: string): string | undefined {
  const key = readKey(keyText);
  if (typeof key === 'string') return `the key that it is to be checked with is none: ${key}`;
  if (card.signatures.length === 0) return 'it is not signed';
  const payload = Buffer.from(canonicalCard(card), 'utf8').toString('base64url');
  return card.signatures.some((one) => isSignedBy(key, payload, one))
    ? undefined
    : 'no signature on it is of the key that you trust';
}

function readKey(text: string): KeyObject | string {
  try {
    const parsed = parseJson(text);
    return parsed.ok && isJsonObject(parsed.value)
      ? createPublicKey({ key: { ...parsed.value }, format: 'jwk' })
      : createPublicKey(text);
  } catch (error) {
    return messageOf(error);
  }
}

function isSignedBy(key: KeyObject, payload: string, { protected: head, signature }: AgentCardSignature): boolean {
  try {
    const parsed = parseJson(Buffer.from(head, 'base64url').toString('utf8'));
    if (!parsed.ok || !isJsonObject(parsed.value)) return false;
    // Marks that change what is signed, and that we would have to understand.
    if (parsed.value['crit'] !== undefined || parsed.value['b64'] !== undefined) return false;
    return holds(key, String(parsed.value['alg']), Buffer.from(`${head}.${payload}`), Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

function holds(key: KeyObject, alg: string, signed: Buffer, signature: Buffer): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  if (asymmetricKeyType === 'ed25519') return ['EdDSA', 'Ed25519'].includes(alg) && verify(null, signed, key, signature);
  if (asymmetricKeyType === 'rsa') {
    const digest = Object.hasOwn(RSA, alg) ? RSA[alg] : undefined;
    return digest !== undefined && verify(digest, signed, key, signature);
  }
  const [expected, digest] = CURVES[asymmetricKeyDetails?.namedCurve ?? ''] ?? [];
  if (asymmetricKeyType !== 'ec' || expected !== alg || digest === undefined) return false;
  return verify(digest, signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
}
