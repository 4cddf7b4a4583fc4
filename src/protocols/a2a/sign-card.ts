/** Signs cards with the key that the settings name, so that a peer can tell whether a card is what this project wrote. */
import { createHash, createPublicKey } from 'node:crypto';
import { AgentCard, generateAgentCardSignature } from '@a2a-js/sdk';
import { type CardKey, readCardKey } from './card-key.ts';
import type { A2aNeeds } from './needs.ts';

export type SignCard = (card: AgentCard) => Promise<AgentCard>;

export interface CardSigner {
  readonly card: SignCard;
  /** Throws when the key cannot be used. */
  ready(): Promise<void>;
}

export function createCardSigner({ settings: { key }, root }: Pick<A2aNeeds, 'settings' | 'root'>): CardSigner {
  let made: Promise<SignCard> | undefined;
  const signer = async (): Promise<SignCard> => {
    made ??= key === undefined ? Promise.resolve(async (card) => card) : readCardKey(root, key).then(signerOf);
    return await made;
  };
  return {
    card: async (card) => await (await signer())(card),
    ready: async () => void (await signer()),
  };
}

function signerOf({ key, algorithm }: CardKey): SignCard {
  const jwk = createPublicKey(key).export({ format: 'jwk' });
  const kid = createHash('sha256')
    .update(JSON.stringify(jwk, Object.keys(jwk).sort()))
    .digest('base64url');
  const sign = generateAgentCardSignature(key, { alg: algorithm, kid, typ: 'JOSE' });
  return async (card) => {
    // Of the JSON of a card: all of it. Of a card that it has read the SDK signs and checks all but how to log in.
    const { signatures: whole } = await sign(AgentCard.toJSON(card) as AgentCard);
    const { signatures: read } = await sign({ ...card, signatures: [] });
    return { ...card, signatures: [...whole, ...read] };
  };
}
