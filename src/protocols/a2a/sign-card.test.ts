/** What is signed is what somebody reads: the card for everybody, and the one that a caller gets for its token. */
import { generateKeyPairSync } from 'node:crypto';
import { verifyAgentCardSignature } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { ALICE, BOB, served } from '../../../test/support/a2a/served.ts';
import { signatureProblem } from '../../peers/cards/verify-card.ts';

const agents = { helper: 'description: Helps\na2a: true', poet: 'description: Poems\na2a: true' };

it('the extended card is signed, over each binding, as each caller sees it', async () => {
  await using server = await served({ agents, settings: 'a2a: { key: card-key.pem }\n' });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await server.folder.write('card-key.pem', privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
  const trusted = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const)
    for (const [token, skills] of [
      [ALICE, ['helper', 'poet']],
      [BOB, ['helper']],
    ] as const) {
      const card = await (await server.client(token, binding)).getAgentCard();
      expect(card.skills.map(({ id }) => id)).toEqual(skills);
      await verifyAgentCardSignature(async () => publicKey)(card);
      expect(signatureProblem(card, trusted)).toBeUndefined();
      expect(signatureProblem({ ...card, skills: [] }, trusted)).toContain('no signature');
    }
});
