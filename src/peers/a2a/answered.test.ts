/** Tasks that show their old question for a while after it was answered, and those that ended before the answer came. */
import { describe, expect, it } from 'vitest';
import { ALICE, served } from '../../../test/support/a2a/served.ts';
import { cardServer, goodCard } from '../../../test/support/peers/card-server.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { keepsNoCards } from '../cards/kept-cards.ts';
import type { PeerOutcome, RemotePeer } from '../port.ts';
import { createA2aPeers } from './open.ts';

const { signal } = new AbortController();
const ids = { taskId: 't', contextId: 'c' };
const asking = (words: string, more: JsonObject): JsonObject => ({
  state: 'TASK_STATE_INPUT_REQUIRED',
  ...more,
  message: { messageId: '', role: 'ROLE_AGENT', parts: [{ text: words }], ...(more['message'] as JsonObject | undefined) },
});
const QUESTION = asking('Which?', { timestamp: '2026-01-01T00:00:00Z' });
const UNMARKED = asking('Which?', {});
const DONE = { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:09Z' };
const made = { artifactId: 'a', name: 'a', parts: [{ text: 'Sun.' }] };
const stands = (status: JsonObject, artifacts: Json[] = []): JsonObject => ({ id: 't', contextId: 'c', status, artifacts });
const task = (status: JsonObject): JsonObject => ({ task: stands(status) });
const makes: JsonObject = { artifactUpdate: { ...ids, artifact: made } };
const moves = (status: JsonObject): JsonObject => ({ statusUpdate: { ...ids, status } });

interface Script {
  /** The stream that each message is answered with, one after the other. */
  readonly streams: readonly (readonly JsonObject[] | 'over')[];
  /** How the task stands when it is asked for; the last one stays. */
  readonly looks?: readonly JsonObject[];
}

/** Plays a script over real HTTP; nobody can subscribe to its task. */
async function playing({ streams, looks = [] }: Script) {
  let sent = 0;
  let looked = 0;
  const server = await cardServer(async (request, response) => {
    if (request.method === 'GET') {
      const card = goodCard(`http://${request.headers.host}/rpc`);
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(card));
    }
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text) as { readonly id: Json; readonly method: string };
    const says = (body: JsonObject): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
    if (method === 'GetTask') return says({ result: looks[Math.min(looked++, looks.length - 1)] ?? {} });
    const stream = method === 'SendStreamingMessage' ? streams[sent++] : undefined;
    if (stream === undefined || stream === 'over') return says({ error: { code: -32004, message: 'the task is over' } });
    response.setHeader('content-type', 'text/event-stream');
    for (const result of stream) response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
    response.end();
  });
  return { url: server.url, looked: () => looked, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const PAUSES: ReadonlySet<number> = new Set([0, 1, 2, 3, 4].map((times) => limits.peerPollMs * 2 ** times));

/** Pauses between two looks are over at once, and count double: five of them are as long as anybody waits. */
function hurried(): Clock {
  let passed = 0;
  return {
    ...systemClock,
    elapsed: () => passed,
    after(delayMs, callback, hold) {
      if (!PAUSES.has(delayMs)) return systemClock.after(delayMs, callback, hold);
      passed += 2 * delayMs;
      return systemClock.after(0, callback, hold);
    },
  };
}

async function open(card: string): Promise<RemotePeer> {
  const peers = createA2aPeers({ clock: hurried(), env: {}, kept: keepsNoCards });
  const opened = await peers.open({ card }, new AbortController().signal);
  if (!opened.ok) throw new Error(opened.error.message);
  return opened.value;
}

const quiet = { signal: new AbortController().signal, onTask: async () => undefined };
const words = (text: string) => ({ context: 'c', parts: [{ type: 'text' as const, text }] });

interface Asked {
  readonly peer: RemotePeer;
  readonly answered: { readonly task: string; readonly mark: string | undefined };
}

/** The peer has asked its first question. */
async function asked(url: string): Promise<Asked> {
  const peer = await open(url);
  const came = await peer.send({ id: 'one', ...words('Go.') }, quiet);
  if (came.kind !== 'asks') throw new Error(JSON.stringify(came));
  return { peer, answered: { task: 't', mark: came.mark } };
}

async function answer({ peer, answered }: Asked): Promise<PeerOutcome> {
  return await peer.send({ id: 'two', task: 't', ...words('Porto') }, { ...quiet, answered });
}
const follow = ({ peer, answered }: Asked): Promise<PeerOutcome> =>
  peer.follow({ task: 't', context: 'c' }, { ...quiet, answered });

const SUN = { kind: 'answer', text: 'Sun.' };

describe.each([
  ['that can be known again', QUESTION],
  ['that cannot be known again', UNMARKED],
])('a question %s, shown once more after its answer', (_name, question) => {
  it.each([
    ['with what was made before the end', [task(question), makes, moves(DONE)]],
    ['and again', [task(question), task(question), makes, moves({ state: 'TASK_STATE_WORKING' }), moves(DONE)]],
  ])('is not asked again: %s', async (_what, stream) => {
    await using server = await playing({ streams: [[task(question)], stream] });
    expect(await answer(await asked(server.url))).toMatchObject(SUN);
  });

  it('is asked again by an update', async () => {
    await using server = await playing({ streams: [[task(question)], [task(question), moves(question), makes, moves(DONE)]] });
    expect(await answer(await asked(server.url))).toMatchObject({ kind: 'asks', question: 'Which?' });
  });
});

describe('a task that has not moved since its answer', () => {
  const ended = stands(DONE, [made]);

  it('is looked at until it has, when its stream is over', async () => {
    const looks = [stands(QUESTION), stands(QUESTION), ended];
    await using server = await playing({ streams: [[task(QUESTION)], [task(QUESTION)]], looks });
    expect(await answer(await asked(server.url))).toMatchObject(SUN);
    expect(server.looked()).toBe(3);
  });

  it('is looked at until it has, by whoever follows it after a crash', async () => {
    await using server = await playing({ streams: [[task(QUESTION)]], looks: [stands(QUESTION), stands(QUESTION), ended] });
    expect(await follow(await asked(server.url))).toMatchObject(SUN);
  });

  it.each([
    ['time', asking('Which?', { timestamp: '2026-01-01T00:00:05Z' })],
    ['id', asking('Which?', { timestamp: '2026-01-01T00:00:00Z', message: { messageId: 'second' } })],
    ['words', asking('Which one?', { timestamp: '2026-01-01T00:00:00Z' })],
  ])('has when its question has another %s', async (_what, second) => {
    await using server = await playing({ streams: [[task(QUESTION)]], looks: [stands(second)] });
    expect(await follow(await asked(server.url))).toMatchObject({ kind: 'asks' });
    expect(server.looked()).toBe(1);
  });

  it('asks again when it never does', async () => {
    await using server = await playing({ streams: [[task(QUESTION)]], looks: [stands(QUESTION)] });
    expect(await follow(await asked(server.url))).toMatchObject({ kind: 'asks', question: 'Which?' });
    expect(server.looked()).toBeGreaterThan(3);
  });
});

describe('a task that was over when the answer came', () => {
  it('has its result all the same', async () => {
    await using server = await playing({ streams: [[task(QUESTION)], 'over'], looks: [stands(DONE, [made])] });
    expect(await answer(await asked(server.url))).toMatchObject(SUN);
  });

  it('is not over when it still asks: the answer was refused', async () => {
    await using server = await playing({ streams: [[task(QUESTION)], 'over'], looks: [stands(QUESTION)] });
    expect(await answer(await asked(server.url))).toMatchObject({
      kind: 'asks',
      question: expect.stringMatching(/^Which\?\n\n.*the task is over/),
    });
  });
});

it('an agent that does not take what is said to it, and waits on, is asked about again, with its reason', async () => {
  await using there = await served({
    play: ({ toolResults }) =>
      toolResults === 0 ? { calls: [{ name: 'shell', input: { command: 'true' } }] } : { text: 'Sun.' },
  });
  const peers = createA2aPeers({ clock: systemClock, env: { THERE: ALICE }, kept: keepsNoCards });
  const opened = await peers.open({ card: `${there.origin}/.well-known/agent-card.json`, token: `\${THERE}` }, signal);
  if (!opened.ok) throw new Error(opened.error.message);
  const call = { signal, onTask: async () => undefined };
  const say = (id: string, text: string, more: object): Promise<PeerOutcome> =>
    opened.value.send({ id, context: 'c', parts: [{ type: 'text', text }], ...more }, call);
  const asked = await say('m-1', 'Go.', {});
  if (asked.kind !== 'asks') throw new Error(JSON.stringify(asked));
  expect(asked.needs).toBe('auth');
  const toTask = { task: asked.task, context: asked.context, unlessMoved: true };
  const again = await say('m-2', 'It may go on.', toTask);
  expect(again).toMatchObject({ kind: 'asks', needs: 'auth', task: asked.task, mark: asked.mark });
  expect(again.kind === 'asks' && again.question).toMatch(/has not taken: .*by the owner of this project/);
  expect(await there.folder.troupe('approve', asked.task ?? '')).toMatchObject({ code: 0 });
  expect(await say('m-3', 'It may go on.', toTask)).toMatchObject({ kind: 'answer', text: 'Sun.' });
});

it.each([
  { stands: 'TASK_STATE_WORKING', state: 'working' },
  { stands: 'TASK_STATE_COMPLETED', state: 'ended' },
])('a task that cannot be cancelled is asked how it stands: $state', async ({ stands: found, state }) => {
  await using server = await cardServer(async (request, response) => {
    const json = (body: JsonObject): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.method === 'GET') return json(goodCard(`http://${request.headers.host}/rpc`));
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text) as { readonly id: Json; readonly method: string };
    if (method === 'GetTask') return json({ jsonrpc: '2.0', id, result: stands({ state: found }) });
    json({ jsonrpc: '2.0', id, error: { code: -32002, message: 'Not this one.' } });
  });
  const opened = await createA2aPeers({ clock: systemClock, env: {}, kept: keepsNoCards }).open({ card: server.url }, signal);
  if (!opened.ok) throw new Error(opened.error.message);
  expect(await opened.value.cancel({ task: 't', context: 'c' })).toMatchObject({ ok: true, value: { state } });
});
