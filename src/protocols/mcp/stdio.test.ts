/** The server on two streams: what ends it, what it says when agents change, and that a cancelled call is called off. */
import { PassThrough } from 'node:stream';
import { ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { connectClient, type Era, eras } from '../../../test/support/mcp/fixture-http.ts';
import { createFixtureNeeds, type FixtureNeeds, fixtureAgent } from '../../../test/support/mcp/fixture-needs.ts';
import { limits } from '../../base/limits.ts';
import { serveMcpStdio } from './stdio.ts';

/** The client's half of a pair of streams. */
function transportOf(toServer: PassThrough, fromServer: PassThrough): Transport {
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      fromServer.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) transport.onmessage?.(message);
      });
    },
    send: async (message) => void toServer.write(serializeMessage(message)),
    async close() {
      toServer.end();
      transport.onclose?.();
    },
  };
  return transport;
}

async function startStdio(needs: FixtureNeeds, era: Era) {
  const toServer = new PassThrough();
  const fromServer = new PassThrough();
  const stop = new AbortController();
  const caller = { name: 'user', sees: 'everything' } as const;
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const over = serveMcpStdio({ needs, caller, input: toServer, output: fromServer, signal: stop.signal, onError });
  const client = await connectClient(era, transportOf(toServer, fromServer));
  return { client, over, stop, toServer, errors };
}

const sync = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: '60000', run_mode: 'sync' } };

describe.each(eras)('the server on two streams in %s', (era) => {
  it('serves until the client closes its side, and calls nothing off by that', async () => {
    const needs = createFixtureNeeds();
    const { client, over } = await startStdio(needs, era);
    expect((await client.listTools()).tools).toHaveLength(8);
    const waiting = client.callTool(sync).catch(() => 'gone');
    await expect.poll(() => needs.calls.length).toBe(1);
    await client.close();
    await over;
    await waiting;
    expect(needs.calls[0]?.options?.signal.aborted).toBe(true);
    expect(needs.calls.map((call) => call.method)).toEqual(['spawn']);
  });

  it('stops when it is told to', async () => {
    const { client, over, stop } = await startStdio(createFixtureNeeds(), era);
    stop.abort();
    await over;
    await client.close();
  });

  it('calls off what a cancelled call was waiting for', async () => {
    const needs = createFixtureNeeds();
    const { client, over } = await startStdio(needs, era);
    const abort = new AbortController();
    const waiting = client.callTool(sync, { signal: abort.signal }).catch(() => 'cancelled');
    await expect.poll(() => needs.calls.length).toBe(1);
    abort.abort();
    expect(await waiting).toBe('cancelled');
    await expect.poll(() => needs.calls.map((call) => call.method)).toEqual(['spawn', 'cancel']);
    expect(needs.calls[1]?.input).toMatchObject({ process_id: 'run_1' });
    await client.close();
    await over;
  });

  it('says when the agents have changed', async () => {
    const needs = createFixtureNeeds();
    const { client, over } = await startStdio(needs, era);
    const heard: string[] = [];
    client.setNotificationHandler('notifications/prompts/list_changed', () => void heard.push('prompts'));
    if (era === '2026-07-28') await client.listen({ promptsListChanged: true });
    else await client.listPrompts();
    needs.change([fixtureAgent('newcomer')]);
    await expect.poll(() => heard).toEqual(['prompts']);
    await client.close();
    await over;
  });

  it('goes on after a line that is too long, and says that it was not read', async () => {
    const { client, over, toServer, errors } = await startStdio(createFixtureNeeds(), era);
    const piece = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent <= limits.mcpMessageBytes; sent += piece.length)
      if (!toServer.write(piece)) await new Promise((resolve) => toServer.once('drain', resolve));
    toServer.write('\n');
    expect((await client.listTools()).tools).toHaveLength(8);
    const tooLong = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: 'y'.repeat(limits.mcpMessageBytes) } };
    await expect(client.callTool(tooLong)).rejects.toThrow(/mcpMessageBytes/);
    expect((await client.listTools()).tools).toHaveLength(8);
    expect(errors).toHaveLength(2);
    expect(errors[0]?.message).toContain('mcpMessageBytes');
    await client.close();
    await over;
  });

  it('goes on after garbage', async () => {
    const { client, over, toServer } = await startStdio(createFixtureNeeds(), era);
    toServer.write('this is not JSON\n{"jsonrpc":"2.0"}\n[]\n\n{"jsonrpc":"2.0","id":{},"method":7}\n');
    expect((await client.listTools()).tools).toHaveLength(8);
    await client.close();
    await over;
  });
});
