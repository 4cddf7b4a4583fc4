/** A peer that is asked how a task stands and shows another one. */
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { cardServer, goodCard } from '../../../test/support/peers/card-server.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { keepsNoCards } from '../cards/kept-cards.ts';
import { createA2aPeers } from './open.ts';

it('that shows another task than it is asked about is left after some tries', async () => {
  const TRIES_MOST = 3 * limits.peerAttempts;
  let looked = 0;
  await using server = await cardServer(async (request, response) => {
    const card = goodCard(`http://${request.headers.host}/rpc`);
    if (request.method === 'GET') return response.setHeader('content-type', 'application/json').end(JSON.stringify(card));
    const { id, method } = JSON.parse(await text(request));
    const task = (name: string, state: string) => ({ id: name, contextId: 'c', status: { state } });
    const answer = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
    if (method !== 'GetTask') {
      const begun = `data: ${answer({ task: task('t', 'TASK_STATE_WORKING') })}\n\n`;
      return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(begun);
    }
    looked += 1;
    // Whoever asks for ever is answered in the end, so that this test ends.
    const shown = task(looked > TRIES_MOST ? 't' : 'other', 'TASK_STATE_COMPLETED');
    return response.writeHead(200, { 'content-type': 'application/json' }).end(answer(shown));
  });
  const hasty: Clock = {
    ...systemClock,
    after: (delayMs, callback, hold) => systemClock.after(delayMs < limits.cardMs ? 0 : delayMs, callback, hold),
  };
  const { signal } = new AbortController();
  const peers = createA2aPeers({ clock: hasty, env: {}, kept: keepsNoCards });
  const opened = await peers.open({ card: server.url }, signal);
  if (!opened.ok) throw new Error(opened.error.message);
  const message = { id: 'm', context: 'c', parts: [{ type: 'text' as const, text: 'Porto' }] };
  expect(await opened.value.send(message, { signal, onTask: async () => undefined })).toMatchObject({
    ...{ kind: 'failed', taken: 'yes' },
    failure: { kind: 'bad_response', message: 'It was asked about the task t and shows another one.' },
  });
  expect(looked).toBe(limits.peerAttempts);
});
