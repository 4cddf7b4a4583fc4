/** A stream is open for whoever may read it, as long as they may, and for nobody else. */
import { describe, expect, it } from 'vitest';
import { handClock } from '../../../test/support/hand-clock.ts';
import { sendJson, startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { serveWorld } from '../../../test/support/http/served-project.ts';
import { type Listener, listenTo } from '../../../test/support/http/sse.ts';
import { agent, says } from '../../../test/support/world.ts';
import { eventLoopTurn } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';

/** Time passes until somebody has a sign of life, or their stream is over. */
async function untilOver(listener: Listener, pass: () => void): Promise<void> {
  let isOver = false;
  void listener.ended.then(() => {
    isOver = true;
  });
  await expect
    .poll(async () => {
      await eventLoopTurn();
      if (!isOver) pass();
      return isOver;
    })
    .toBe(true);
}

describe('a stream', () => {
  it('that nobody reads, because only its head was asked for, is not open', async () => {
    await using server = await startApi();
    const { session } = await server.run();
    for (const path of ['/api/v1/stream', `/api/v1/sessions/${session}/stream`]) {
      // More than may be open, and at no time as many.
      for (let round = 0; round < 3; round += 1) {
        const asking = Array.from({ length: limits.streamsPerCaller / 2 }, () => server.ask(path, { method: 'HEAD' }));
        for (const head of await Promise.all(asking))
          expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
      }
      expect((await server.ask(path)).status).toBe(200);
    }
    expect(server.errors).toEqual([]);
  });

  it('ends with the login that opened it', async () => {
    const clock = handClock();
    await using server = await startApi({ clock });
    const writer = await server.run();
    const code = server.loginPath().split('#')[1];
    const response = await server.ask('/api/v1/login', { ...sendJson({ code }), token: '' });
    const { key } = (await response.json()) as { key: string };
    const headers = { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '', 'x-troupe-key': key };
    const open = async (path: string): Promise<Listener> => listenTo(await server.ask(path, { token: '', headers }));
    const listeners = [await open('/api/v1/stream'), await open(`/api/v1/sessions/${writer.session}/stream`)];
    for (const listener of listeners) await expect.poll(() => listener.events().length).toBe(1);
    expect((await server.ask('/api/v1/logout', { method: 'POST', token: '', headers })).status).toBe(200);
    for (const listener of listeners) await untilOver(listener, () => clock.advance(limits.streamHeartbeatMs));
    expect(listeners.map((listener) => listener.events().length)).toEqual([1, 1]);
  });

  it('of a session is over for its caller when somebody else begins something in it', async () => {
    const rights = { commands: [], answers: true, approves: true };
    const callers: Readonly<Record<string, McpCaller>> = { bob: { name: 'bob', sees: 'own', rights } };
    const agents = [agent({ name: 'talker', tools: [], permissions: {} })];
    await using world = await serveWorld({ brain: () => says('said'), agents, callers });
    const begun = await world.ask('/api/v1/runs', { ...sendJson({ agent: 'talker', prompt: 'Mine.' }), token: tokenOf('bob') });
    const { session, run } = (await begun.json()) as { session: string; run: string };
    await expect.poll(async () => (await world.ledger.runs({ run: run as never }))[0]?.state).toBe('completed');
    const path = `/api/v1/sessions/${session}/stream`;
    const bob = listenTo(await world.ask(path, { token: tokenOf('bob') }));
    await expect.poll(() => bob.events().join('')).toContain('run.ended');
    const prompted = await world.ask(`/api/v1/sessions/${session}/prompts`, sendJson({ text: 'The words of the owner.' }));
    expect(prompted.status).toBe(200);
    await bob.ended;
    expect(bob.events().join('')).not.toContain('words of the owner');
    expect((await world.ask(path, { token: tokenOf('bob') })).status).toBe(404);
  });
});
