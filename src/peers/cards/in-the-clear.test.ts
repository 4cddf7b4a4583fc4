/** No token goes unencrypted to another machine, unless the owner says so: the card is not even asked for. */
import { expect, it } from 'vitest';
import { answers, cardPorts, cardServer, goodCard, source } from '../../../test/support/peers/card-server.ts';
import { readCard } from './read-card.ts';

it.each([
  ['in the clear, on a public host', 'http://agents.example', undefined, false],
  ['in the clear, inside, by gRPC', 'http://box.local', { binding: 'GRPC' }, false],
  ['in the clear, where the owner says so', 'http://agents.example', { plain: true }, true],
  ['in the clear, without a token', 'http://agents.example', { headers: {} }, true],
  ['in the clear, with nothing but extensions', 'http://agents.example', { headers: { 'a2a-extensions': 'urn:x' } }, true],
  ['on this machine', 'http://127.0.0.1', undefined, true],
] as const)('tokens go nowhere %s: %s', async (_what, origin, more, isAsked) => {
  await using server = await cardServer((_request, response) =>
    answers(goodCard(`${origin}:${server.port}/`))(_request, response),
  );
  const headers = { authorization: 'Bearer secret' };
  const outcome = await readCard(source(`${origin}:${server.port}/card.json`, { headers, ...more }), cardPorts());
  expect(server.asked).toHaveLength(isAsked ? 1 : 0);
  if (!isAsked)
    expect(outcome).toMatchObject({
      ...{ state: 'refused', reason: expect.stringContaining('spoken to in the clear') },
      fix: expect.stringContaining('`plain: true`'),
    });
});
