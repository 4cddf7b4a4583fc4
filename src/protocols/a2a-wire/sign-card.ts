/** Signs cards with the key that the settings name, so that a peer can tell whether a card is what this project wrote. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { isJsonObject, parseJson } from '../../base/json.ts';
import type { A2aNeeds } from '../a2a/needs.ts';

export type SignCard = (card: AgentCard) => Promise<AgentCard>;

export interface CardSigner {
  readonly card: SignCard;
  /** Throws when the key cannot be used. */
  ready(): Promise<void>;
}

export function createCardSigner({ settings: { key }, root }: Pick<A2aNeeds, 'settings' | 'root'>): CardSigner {
  let made: Promise<SignCard> | undefined;
  const signer = async (): Promise<SignCard> => {
    made ??= key === undefined ? Promise.resolve(async (card) => card) : signerOf(resolve(root, key));
    return await made;
  };
  return {
    card: async (card) => await (await signer())(card),
    ready: async () => void (await signer()),
  };
}

async function signerOf(file: string): Promise<SignCard> {
  const key = await keyIn(file);
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const kid = createHash('sha256')
    .update(JSON.stringify(jwk, Object.keys(jwk).sort()))
    .digest('base64url');
  const sign = generateAgentCardSignature(key, { alg: algorithmOf(key, file), kid, typ: 'JOSE' });
  return async (card) => {
    // Of the JSON of a card: all of it. Of a card that it has read the SDK signs and checks all but how to log in.
    const { signatures: whole } = await sign(AgentCard.toJSON(card) as AgentCard);
    const { signatures: read } = await sign({ ...card, signatures: [] });
    return { ...card, signatures: [...whole, ...read] };
  };
}

async function keyIn(file: string): Promise<KeyObject> {
  try {
    const text = await readFile(file, 'utf8');
    const parsed = parseJson(text);
    if (parsed.ok && isJsonObject(parsed.value)) return createPrivateKey({ key: { ...parsed.value }, format: 'jwk' });
    return createPrivateKey(text);
  } catch (error) {
    throw new TroupeError('config', `a2a.key: ${file} holds no private key: ${messageOf(error)}`, {
      fix: 'Make one: openssl genpkey -algorithm ed25519 -out card-key.pem',
    });
  }
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, file: string): string {
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  if (asymmetricKeyType === 'rsa') return 'RS256';
  const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ''];
  if (asymmetricKeyType === 'ec' && curve !== undefined) return curve;
  throw new TroupeError('config', `a2a.key: keys like that in ${file} do not sign cards`, {
    fix: 'Use ed25519, RSA or a NIST curve.',
  });
}
