/** Exchanges with real servers: the SDK's own, in both versions, with streams and without; Troupe's own; and bad ones. */
import { AgentCard } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { OWNER, served } from '../../../test/support/a2a/served.ts';
import { cardServer, goodCard, hashOf } from '../../../test/support/peers/card-server.ts';
import { POLITE, type SdkServerOptions, sdkServer } from '../../../test/support/peers/sdk-server.ts';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import { systemClock } from '../../base/clock.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { keepsNoCards } from '../cards/kept-cards.ts';
import type { PeerOutcome, PeerTask, RemotePeer } from '../port.ts';
import { createA2aPeers } from './open.ts';

const TOKEN = { token: `\${THERE}` };

async function open(remote: RemoteAgent, clock = systemClock): Promise<RemotePeer> {
  const opened = await createA2aPeers({ clock, env: { THERE: OWNER }, kept: keepsNoCards }).open(
    remote,
    new AbortController().signal,
  );
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

let messages = 0;

interface Said {
  readonly came: PeerOutcome;
  readonly tasks: readonly PeerTask[];
  readonly shown: string;
}

async function say(
  peer: RemotePeer,
  text: string,
  more: {
    readonly task?: string | undefined;
    readonly context?: string;
    readonly unlessMoved?: boolean;
    readonly confirms?: readonly string[] | undefined;
  } = {},
  signal = new AbortController().signal,
): Promise<Said> {
  const tasks: PeerTask[] = [];
  let shown = '';
  messages += 1;
  const message = {
    id: `m-${messages}`,
    context: more.context ?? `c-${messages}`,
    parts: [{ type: 'text' as const, text }],
    ...more,
  };
  const came = await peer.send(message, {
    signal,
    async onTask(task) {
      tasks.push(task);
    },
    onText: (piece) => {
      shown += piece;
    },
  });
  return { came, tasks, shown };
}

const quiet = { signal: new AbortController().signal, onTask: async () => undefined };

const KINDS: readonly (SdkServerOptions & { readonly name: string })[] = [
  { name: '1.0, streaming', streaming: true, version: '1.0' },
  { name: '1.0, without streams', streaming: false, version: '1.0' },
  { name: '0.3, streaming', streaming: true, version: '0.3' },
  { name: '0.3, without streams', streaming: false, version: '0.3' },
];

describe.each(KINDS)("the SDK's own server ($name)", (kind) => {
  it('is asked, names its task at once, and answers', async () => {
    await using server = await sdkServer(kind);
    const { came, tasks, shown } = await say(await open({ card: server.card, ...TOKEN }), 'Porto');
    expect(came).toMatchObject({
      kind: 'answer',
      text: 'Sun in Porto.',
      artifacts: [{ id: 'forecast', content: 'Sun in Porto.' }],
    });
    expect(tasks).toHaveLength(1);
    expect(came).toMatchObject({ ...tasks[0] });
    expect(server.taken).toHaveLength(1);
    if (kind.streaming === true) expect(shown).toContain('I look.');
    expect(new Set(server.authorizations)).toEqual(new Set([`Bearer ${OWNER}`]));
  });

  it('is told with every request which extensions its file demands', async () => {
    await using server = await sdkServer(kind);
    const { came } = await say(await open({ card: server.card, extensions: [POLITE] }), 'Porto');
    expect(came).toMatchObject({ kind: 'answer' });
    expect(new Set(server.extensions)).toEqual(new Set([POLITE]));
  });

  it('asks back, and is answered in the same task', async () => {
    await using server = await sdkServer(kind);
    const peer = await open({ card: server.card });
    const { came } = await say(peer, 'ask');
    expect(came).toMatchObject({ kind: 'asks', needs: 'input', question: 'Which city?' });
    if (came.kind !== 'asks') throw new Error(came.kind);
    const again = await say(peer, 'Lisbon', { task: came.task, context: came.context });
    expect(again.came).toMatchObject({ kind: 'answer', text: 'Sun in Lisbon.', task: came.task, context: came.context });
    expect(server.taken).toHaveLength(2);
  });

  it.each([
    ['allow', 'proceed_once', ''],
    ['Yes', 'proceed_once', ''],
    ['allow always', 'proceed_always', ''],
    ['deny', 'cancel', ''],
    ['Not b, it is in use.', 'cancel', 'Not b, it is in use.'],
  ])('asks leave in data, and is told %s in data', async (answer, outcome, words) => {
    await using server = await sdkServer(kind);
    const peer = await open({ card: server.card });
    const { came } = await say(peer, 'leave');
    if (came.kind !== 'asks') throw new Error(came.kind);
    expect(came.question).toMatch(/run_shell_command[\s\S]*touch a[\s\S]*rm -rf b[\s\S]*cwd: \/tmp/);
    expect(came).toMatchObject({ confirms: ['first', 'second'], choices: ['allow', 'allow always', 'deny'] });
    const again = await say(peer, answer, { task: came.task, context: came.context, confirms: came.confirms });
    const told = ['first', 'second'].map((callId) => JSON.stringify({ callId, outcome })).join(', ');
    expect(again.came).toMatchObject({ kind: 'answer', text: `${told}; ${words}`, task: came.task });
  });

  it.each([
    ['auth', { kind: 'asks', needs: 'auth', question: 'Log in first.' }],
    ['fail', { kind: 'ended', state: 'failed', message: 'No such city.' }],
    ['reject', { kind: 'ended', state: 'rejected', message: 'Not for you.' }],
    ['message', { kind: 'answer', text: 'Just a word.' }],
  ])('says %s', async (words, expected) => {
    await using server = await sdkServer(kind);
    const { came } = await say(await open({ card: server.card }), words);
    expect(came).toMatchObject({ context: expect.any(String), ...expected });
  });

  it('is gone on with when the connection breaks off', async () => {
    await using server = await sdkServer(kind);
    const peer = await open({ card: server.card });
    const named = Promise.withResolvers<void>();
    const going = peer.send(
      { id: 'only', context: 'mine', parts: [{ type: 'text', text: 'slow' }] },
      { ...quiet, onTask: async () => named.resolve() },
    );
    await named.promise;
    server.cut();
    server.release();
    expect(await going).toMatchObject({ kind: 'answer', text: 'Sun in slow.' });
    expect(server.taken).toEqual(['only']);
  });

  it('is told when nobody waits any more', async () => {
    await using server = await sdkServer(kind);
    const peer = await open({ card: server.card });
    const stop = new AbortController();
    const named = Promise.withResolvers<PeerTask>();
    const message = { id: 'only', context: 'mine', parts: [{ type: 'text' as const, text: 'slow' }] };
    const going = peer.send(message, { signal: stop.signal, onTask: async (task) => named.resolve(task) });
    const task = await named.promise;
    stop.abort();
    const said = kind.streaming === true ? ' and had said: I look.' : '';
    expect(await going).toEqual({ kind: 'stopped', last: expect.stringContaining(`it was still at work${said}`) });
    const usage = { inputTokens: 30, outputTokens: 4 };
    expect(await peer.cancel(task)).toEqual({ ok: true, value: { state: 'canceled', usage } });
    expect(server.cancelled).toEqual([task.task]);
    expect(await peer.follow({ ...task, ...{ kind: 'task' } }, quiet)).toMatchObject({ kind: 'ended', state: 'canceled' });
    expect(await peer.cancel(task)).toMatchObject({ ok: true });
  });
});

it('a task that was let in meanwhile is not told so, and one that was not is', async () => {
  await using server = await sdkServer();
  const peer = await open({ card: server.card });
  const { came } = await say(peer, 'auth');
  if (came.kind !== 'asks') throw new Error(came.kind);
  const { task, context } = came;
  expect((await say(peer, 'auth', { task, context, unlessMoved: true })).came).toMatchObject({ kind: 'asks', needs: 'auth' });
  expect(server.taken).toHaveLength(2);
  // Somebody else has let it in.
  await say(peer, 'Porto', { task, context });
  expect((await say(peer, 'It may.', { task, context, unlessMoved: true })).came).toMatchObject({
    kind: 'answer',
    text: 'Sun in Porto.',
  });
  expect(server.taken).toHaveLength(3);
});

it('a message that was taken is found by its context, or by the task that it was said to', async () => {
  await using server = await sdkServer();
  const peer = await open({ card: server.card });
  const { came } = await say(peer, 'ask', { context: 'mine' });
  if (came.kind !== 'asks') throw new Error(came.kind);
  const { task = '' } = came;
  const first = { message: server.taken[0] ?? '', context: 'mine', first: false };
  expect(await peer.find(first)).toEqual({ ok: true, value: { task, context: 'mine' } });
  expect(await peer.find({ ...first, message: 'another' })).toEqual({ ok: true, value: undefined });
  expect(await peer.find({ ...first, context: 'elsewhere' })).toEqual({ ok: true, value: undefined });
  expect(await peer.find({ message: 'never-sent', context: 'mine', task, first: false })).toEqual({ ok: true, value: undefined });
  await say(peer, 'Porto', { task, context: 'mine' });
  expect(await peer.find({ message: 'never-sent', context: 'mine', task, first: false })).toMatchObject({
    ok: true,
    value: { task },
  });
});

it('an older one does not say what it has taken', async () => {
  await using server = await sdkServer({ version: '0.3' });
  const peer = await open({ card: server.card });
  await say(peer, 'Porto', { context: 'mine' });
  expect(await peer.find({ message: server.taken[0] ?? '', context: 'mine', first: true })).toEqual({
    ok: true,
    value: undefined,
  });
});

describe('Troupe itself', () => {
  it.each([
    ...(['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((binding) => ({ binding, version: '1.0' })),
    ...(['JSONRPC', 'GRPC'] as const).map((binding) => ({ binding, version: '0.3' })),
  ])('over $binding, version $version', async ({ binding, version }) => {
    await using there = await served({ play: () => ({ text: 'Sun.' }) });
    const card = AgentCard.fromJSON(
      await (await there.fetch('/.well-known/agent-card.json', { headers: { 'a2a-version': '1.0' } })).json(),
    );
    const supportedInterfaces = card.supportedInterfaces.filter(
      (one) => one.protocolBinding === binding && one.protocolVersion === version,
    );
    expect(supportedInterfaces).toHaveLength(1);
    const only = JSON.stringify(AgentCard.toJSON({ ...card, supportedInterfaces }));
    await using cards = await cardServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end(only),
    );
    // It is elsewhere than its card.
    const pin = hashOf(only);
    const peer = await open({ card: cards.url, ...TOKEN, pin });
    expect(peer.idempotent).toBe(true);
    const { came, tasks } = await say(peer, 'How is it?', { context: 'mine' });
    expect(came).toMatchObject({ kind: 'answer', text: 'Sun.', context: 'mine' });
    expect(tasks).toHaveLength(1);
  });
});

/** A server whose card is good and whose interface is not. */
const bad = (listener: Parameters<typeof cardServer>[0], more = {}) => {
  let url = '';
  return cardServer((request, response) => {
    url = `http://${request.headers.host}/rpc`;
    if (request.method === 'GET') response.setHeader('content-type', 'application/json').end(JSON.stringify(goodCard(url, more)));
    else listener(request, response);
  });
};

/** Says the same for as long as somebody listens. */
const endlessly =
  (piece: string) =>
  (_request: unknown, response: import('node:http').ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = (): void => {
      while (!response.destroyed && response.write(piece.repeat(100)));
      response.once('drain', more);
    };
    more();
  };

describe('a bad peer', () => {
  it.each([
    ['redirects', 302, 'refused', 'no'],
    ['does not know us', 401, 'auth', 'no'],
    ['does not let us in', 403, 'auth', 'no'],
    // A gateway says so, too, when whoever is behind it died with the message.
    ['has no room', 503, 'overloaded', 'perhaps'],
    ['is waited for too long', 504, 'timeout', 'perhaps'],
    ['is asked too often', 429, 'rate_limited', 'no'],
    ['has nobody behind it', 502, 'overloaded', 'perhaps'],
  ] as const)('%s', async (_what, status, kind, taken) => {
    await using server = await bad((_request, response) => response.writeHead(status, { location: 'http://127.0.0.1:9/' }).end());
    const { came } = await say(await open({ card: server.url, ...TOKEN }), 'Porto');
    expect(came).toMatchObject({ kind: 'failed', taken, failure: { kind } });
    expect(server.asked.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each([
    ['breaks off before it answers', (_request: unknown, response: { destroy(): void }) => response.destroy(), 'network'],
    [
      'answers with what is no JSON',
      (_request: unknown, response: { end(text: string): void }) => response.end('<html>'),
      'bad_response',
    ],
    ['answers with nothing', (_request: unknown, response: { end(text: string): void }) => response.end('null'), 'bad_response'],
    [
      'streams what is no event',
      (_request: unknown, response: import('node:http').ServerResponse) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('data: {"jsonrpc":"2.0","result":{"nothing":1}}\n\n'),
      'bad_response',
    ],
    [
      'streams broken JSON',
      (_request: unknown, response: import('node:http').ServerResponse) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {"jsonrpc":\n\n'),
      'bad_response',
    ],
  ])('%s', async (_what, listener, kind) => {
    await using server = await bad(listener);
    const { came } = await say(await open({ card: server.url }), 'Porto');
    expect(came).toMatchObject({ kind: 'failed', taken: 'perhaps', failure: { kind } });
  });

  it('that speaks another version than its card says is told apart from one that says nothing', async () => {
    const task = '{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}';
    const said = async (events: string): Promise<PeerOutcome> => {
      await using server = await bad((_request, response) =>
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events),
      );
      return (await say(await open({ card: server.url }), 'Porto')).came;
    };
    expect(await said(`data: {"jsonrpc":"2.0","id":1,"result":${task}}\n\n`)).toMatchObject({
      failure: { kind: 'bad_response', message: expect.stringContaining('1.0'), fix: expect.stringContaining('another version') },
    });
    expect(await said('')).toMatchObject({ failure: { message: 'It answered nothing that names a task.' } });
  });

  it('that is not there has taken nothing', async () => {
    const server = await bad(() => undefined);
    const peer = await open({ card: server.url });
    await server.close();
    expect((await say(peer, 'Porto')).came).toMatchObject({ kind: 'failed', taken: 'no', failure: { kind: 'network' } });
  });

  it('that never stops talking is cut off', async () => {
    const piece = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { message: MESSAGELESS } })}\n\n`;
    await using server = await bad(endlessly(piece));
    const { came } = await say(await open({ card: server.url }), 'Porto');
    expect(came).toMatchObject({
      kind: 'failed',
      taken: 'perhaps',
      failure: { kind: 'bad_response', message: expect.stringMatching(/peerStream/) },
    });
  });

  it('that never stops talking about its task is left', async () => {
    const working = { taskId: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    const piece = `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { statusUpdate: working } })}\n\n`;
    await using server = await bad(endlessly(piece));
    const { came, tasks } = await say(await open({ card: server.url }), 'Porto');
    expect(came).toMatchObject({
      kind: 'failed',
      taken: 'yes',
      failure: { message: expect.stringContaining('peerStreamEvents') },
    });
    expect(tasks).toEqual([{ task: 't', context: 'c' }]);
  });

  it('that says nothing at all is left', async () => {
    const clock = createVirtualClock(1_000_000);
    const asked = Promise.withResolvers<void>();
    await using server = await bad((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      asked.resolve();
    });
    const peer = await open({ card: server.url }, clock);
    const going = say(peer, 'Porto');
    await asked.promise;
    clock.advance();
    expect((await going).came).toMatchObject({ kind: 'failed', taken: 'perhaps', failure: { kind: 'timeout' } });
  });

  it('is sent no more than a message may hold', async () => {
    await using server = await bad(() => undefined);
    const { came } = await say(await open({ card: server.url }), 'x'.repeat(1_100_000));
    expect(came).toMatchObject({
      kind: 'failed',
      taken: 'no',
      failure: { message: expect.stringContaining('peerMessageBytes') },
    });
    expect(server.asked.filter(({ method }) => method === 'POST')).toHaveLength(0);
  });
});

/** Neither a task nor a message nor an update: nothing comes of it. */
const MESSAGELESS = undefined;

it('a task that cannot be written down is not gone on with', async () => {
  await using server = await sdkServer();
  const peer = await open({ card: server.card });
  const message = { id: 'only', context: 'mine', parts: [{ type: 'text' as const, text: 'Porto' }] };
  const full = async (): Promise<void> => {
    throw new Error('the disk is full');
  };
  await expect(peer.send(message, { ...quiet, onTask: full })).rejects.toThrow('the disk is full');
});

it('a token whose variable is not set is not sent as nothing', async () => {
  const peers = createA2aPeers({ clock: systemClock, env: {}, kept: keepsNoCards });
  const opened = await peers.open({ card: 'http://127.0.0.1:9/card', ...TOKEN }, new AbortController().signal);
  expect(opened).toMatchObject({ ok: false, error: { kind: 'auth', message: 'The variable THERE is not set.' } });
});
