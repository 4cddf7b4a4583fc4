/** The endpoint for clients of OpenAI, with a real engine behind it: conversations, waits, budgets, and what is refused. */
import { describe, expect, it } from 'vitest';
import { type AskOptions, sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { type Frame, listenTo } from '../../../test/support/http/sse.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { shareWords } from '../../front/chat/heard-words.ts';
import { createChat } from '../../front/chat/needs.ts';
import type { SaidBefore } from '../../front/chat/said-before.ts';
import type { ModelRequest } from '../../models/port.ts';
import type { McpCaller } from '../mcp/needs.ts';
import { bySaid, taken } from './taken.ts';

const rights = { commands: [], answers: true, approves: false };
const callers: Readonly<Record<string, McpCaller>> = {
  alice: { name: 'alice', sees: 'own', rights },
  bob: { name: 'bob', sees: 'own', rights: { ...rights, spawn: ['talker'] } },
  vera: { name: 'vera', sees: 'everything', role: 'viewer', rights: { ...rights, spawn: [] } },
};
const agents = [
  agent({ name: 'talker', description: 'Talks', tools: [], permissions: {} }),
  agent({ name: 'writer', tools: ['write'], permissions: { write: 'ask' } }),
  agent({ name: 'keeper', tools: ['write'], permissions: { write: 'allow' } }),
  agent({ name: 'asker', tools: ['ask'], permissions: {} }),
];

const wordsIn = (request: ModelRequest): string => JSON.stringify(request.messages);

const brain: Brain = (request) => {
  const names = request.tools.map(({ name }) => name);
  if (names.includes('write'))
    return turnOf(request) > 1 ? reports('written') : calls({ name: 'write', input: { path: 'a.txt', content: 'one' } });
  if (names.includes('ask'))
    return turnOf(request) > 1 ? says('Then red.') : calls({ name: 'ask', input: { question: 'Which colour?' } });
  if (wordsIn(request).includes('fail')) return { kind: 'failed', error: { kind: 'invalid_request', message: 'no' } };
  const said = `I heard ${request.messages.filter(({ role }) => role === 'assistant').length + 1}.`;
  for (const text of said.split(/(?<= )/)) request.onDelta?.({ type: 'text', text });
  return says(said);
};

const serve = (openai: object = {}) => serveWorld({ brain, agents, callers, serve: { openai } });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
  readonly usage: { readonly total_tokens: number };
  readonly troupe: { readonly run: string; readonly session: SessionId; readonly status: string };
}

const ask = (world: ServedWorld, body: object, token = tokenOf('alice'), more: AskOptions = {}) =>
  world.ask('/v1/chat/completions', { ...sendJson({ model: 'talker', ...body }), token, ...more });
const chat = async (world: ServedWorld, messages: readonly object[], model = 'talker'): Promise<Completion> => {
  const response = await ask(world, { messages, model });
  expect([response.status, await response.clone().text()]).toEqual([200, expect.any(String)]);
  return (await response.json()) as Completion;
};
const contentOf = ({ choices }: Completion): string => choices[0]?.message.content ?? '';
const framesOf = async (response: Response): Promise<readonly Frame[]> => {
  const listener = listenTo(response);
  await listener.ended;
  return listener.frames;
};
const jsonIn = ({ data }: Frame) =>
  JSON.parse(data) as { choices: [{ delta: { content?: string } }?]; troupe?: object; error?: object };
const textIn = (frames: readonly Frame[]): string =>
  frames.flatMap((frame) => (frame.data === '[DONE]' ? [] : [jsonIn(frame).choices?.[0]?.delta.content ?? ''])).join('');

describe('a conversation that is sent again as a whole', () => {
  it('goes on in its session, and is another one when it was said otherwise', async () => {
    await using world = await serve();
    const first = await chat(world, [user('hello')]);
    expect(first).toMatchObject({ object: 'chat.completion', model: 'talker', troupe: { status: 'completed' } });
    expect([contentOf(first), first.usage.total_tokens]).toEqual(['I heard 1.', 110]);
    const second = await chat(world, [user('hello'), assistant(contentOf(first)), user('more')]);
    expect([second.troupe.session, contentOf(second)]).toEqual([first.troupe.session, 'I heard 2.']);
    const third = [user('hello'), assistant(contentOf(first)), user('more'), assistant('I  heard 2.\n'), user('again')];
    expect((await chat(world, third)).troupe.session).toBe(first.troupe.session);
    // Asked anew, changed, or gone on with from the middle: others.
    const others = [third.slice(0, 3), [user('hello')], [user('hello'), assistant('No.'), user('more')]];
    const sessions = new Set([first.troupe.session]);
    for (const messages of others) sessions.add((await chat(world, messages)).troupe.session);
    expect(sessions.size).toBe(4);
    // What was said elsewhere is known as text.
    const [changed] = await world.ledger.runs({ session: [...sessions][3] as SessionId });
    const [started] = await world.ledger.read({ session: changed?.session ?? first.troupe.session, types: ['run.started'] });
    expect(JSON.stringify(started?.payload)).toMatch(/I said: hello.*You said: No\..*more/);
    expect(started?.payload).toMatchObject({ origin: { kind: 'client', by: 'alice' } });
  });

  it('is nobody else’s, whoever says the same', async () => {
    await using world = await serve();
    const first = await chat(world, [user('hello')]);
    const messages = [user('hello'), assistant(contentOf(first)), user('more')];
    const other = (await (await ask(world, { messages }, tokenOf('bob'))).json()) as Completion;
    expect(other.troupe.session).not.toBe(first.troupe.session);
  });

  it('comes in pieces, with what tools do beside the text, and ends as a client expects it', async () => {
    await using world = await serve();
    const body = { messages: [user('hello')], stream: true, stream_options: { include_usage: true } };
    const frames = await framesOf(await ask(world, body));
    expect(textIn(frames)).toBe('I heard 1.');
    expect(frames.filter(({ data }) => data.includes('"content":"I')).length).toBe(1);
    expect(frames.at(-1)?.data).toBe('[DONE]');
    expect(jsonIn(frames.at(-2) as Frame)).toMatchObject({ choices: [], usage: { total_tokens: 110 } });
    expect(jsonIn(frames.at(-3) as Frame)).toMatchObject({ choices: [{ finish_reason: 'stop' }] });
    const tools = await framesOf(await ask(world, { model: 'keeper', messages: [user('write')], stream: true }));
    const told = tools.filter(({ event }) => event === 'troupe.tool').map((frame) => jsonIn(frame));
    const tool = { agent: 'keeper', tool: 'write' };
    expect(told).toMatchObject([
      { choices: [], troupe: { ...tool, status: 'running' } },
      { troupe: { ...tool, status: 'done' } },
    ]);
    expect(textIn(tools)).toBe('written');
    const asks = await framesOf(await ask(world, { model: 'writer', messages: [user('write')], stream: true }));
    expect(textIn(asks)).toContain('It waits for a permission');
  });
});

describe('what a run asks', () => {
  it('is a text, and the next message is the answer to a question', async () => {
    await using world = await serve();
    const asked = await chat(world, [user('paint')], 'asker');
    expect(contentOf(asked)).toMatch(/^Which colour\?\n\nAnswer here, or at http:\/\/127\.0\.0\.1:\d+\/answer\/run_/);
    const then = [user('paint'), assistant(contentOf(asked)), user('red')];
    const answered = await chat(world, then, 'asker');
    expect([contentOf(answered), answered.troupe.run]).toEqual(['Then red.', asked.troupe.run]);
    // The run before answered: what comes next is a run of its own, in the same session.
    const next = await chat(world, [...then, assistant('Then red.'), user('and again')], 'asker');
    expect([next.troupe.session, next.troupe.run === asked.troupe.run]).toEqual([asked.troupe.session, false]);
  });

  it('is a permission that words do not give; given elsewhere, the run goes on, and what it came to is told', async () => {
    await using world = await serve();
    const asked = await chat(world, [user('write')], 'writer');
    expect(contentOf(asked)).toContain('which words here do not give');
    const then = [user('write'), assistant(contentOf(asked)), user('yes, do it')];
    const again = await chat(world, then, 'writer');
    expect([again.troupe.run, again.troupe.status]).toEqual([asked.troupe.run, 'asks']);
    const [wait] = (await (await world.ask('/api/v1/inbox')).json()) as [{ run: string; wait: string; shown: string }];
    const body = { wait: wait.wait, answer: { kind: 'approved' }, shown: wait.shown };
    expect((await world.ask(`/api/v1/runs/${wait.run}/answers`, sendJson(body))).status).toBe(200);
    const state = async () => (await world.ledger.runs({ session: asked.troupe.session }))[0]?.state;
    await expect.poll(state).toMatch(/^completed/);
    const told = await chat(world, [...then, assistant(contentOf(again)), user('done?')], 'writer');
    expect([told.troupe.session, contentOf(told)]).toEqual([asked.troupe.session, expect.stringMatching(/^written\n\n/)]);
  });
});

describe('responses', () => {
  const respond = async (world: ServedWorld, body: object, token = tokenOf('alice')) =>
    await world.ask('/v1/responses', { ...sendJson({ model: 'talker', ...body }), token });

  it('are runs: the one before is the session, calls are items that are done, and each can be asked for again', async () => {
    await using world = await serve();
    const first = (await (await respond(world, { input: 'hello' })).json()) as { id: string; troupe: { session: string } };
    expect(first).toMatchObject({
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'I heard 1.' }] }],
    });
    const second = await (await respond(world, { input: 'more', previous_response_id: first.id })).json();
    expect(second).toMatchObject({ previous_response_id: first.id, troupe: { session: first.troupe.session } });
    const late = await respond(world, { input: 'x', previous_response_id: first.id });
    expect([late.status, await late.json()]).toMatchObject([400, { error: { param: 'previous_response_id' } }]);
    const got = await (await world.ask(`/v1/responses/${first.id}`, { token: tokenOf('alice') })).json();
    expect(got).toMatchObject({ id: first.id, status: 'completed', output: [{ content: [{ text: 'I heard 1.' }] }] });
    for (const name of ['bob', 'vera']) {
      expect((await world.ask(`/v1/responses/${first.id}`, { token: tokenOf(name) })).status).toBe(404);
      expect((await respond(world, { input: 'x', previous_response_id: first.id }, tokenOf(name))).status).toBe(404);
    }
    const asked = (await (await respond(world, { model: 'asker', input: 'paint' })).json()) as { id: string; output: object[] };
    const answered = await (await respond(world, { model: 'asker', input: 'red', previous_response_id: asked.id })).json();
    expect(answered).toMatchObject({ id: asked.id, status: 'completed' });
    const kept = (await (await respond(world, { model: 'keeper', input: 'keep' })).json()) as { id: string; output: object[] };
    expect(kept.output).toMatchObject([
      {
        type: 'mcp_call',
        name: 'write',
        server_label: 'keeper',
        status: 'completed',
        arguments: '{"path":"a.txt","content":"one"}',
      },
      { type: 'message', phase: 'final_answer', content: [{ text: 'written' }] },
    ]);
    const again = await (await world.ask(`/v1/responses/${kept.id}`, { token: tokenOf('alice') })).json();
    expect(again).toMatchObject({ output: kept.output });
  });

  it('in the background go on alone, and end when they are cancelled', async () => {
    await using world = await serve();
    const begun = (await (await respond(world, { model: 'asker', input: 'paint', background: true })).json()) as { id: string };
    const now = async () => await (await world.ask(`/v1/responses/${begun.id}`, { token: tokenOf('alice') })).json();
    await expect.poll(now).toMatchObject({ status: 'completed', troupe: { status: 'asks' } });
    await world.ask(`/v1/responses/${begun.id}/cancel`, { ...sendJson({}), token: tokenOf('alice') });
    await expect.poll(now).toMatchObject({ status: 'cancelled' });
  });
});

it('whoever goes has what they asked for ended, and a run that failed is an error that no client repeats', async () => {
  let begun = Promise.withResolvers<void>();
  const slow: Brain = async (request, call) => {
    if (!wordsIn(request).includes('slow')) return await brain(request, call);
    begun.resolve();
    await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve(), { once: true }));
    return { kind: 'failed', error: { kind: 'cancelled', message: 'gone' } };
  };
  await using world = await serveWorld({ brain: slow, agents, callers, serve: { openai: {} } });
  for (const stream of [true, false]) {
    begun = Promise.withResolvers();
    const gone = new AbortController();
    const body = { messages: [user(`slow ${stream}`)], stream };
    const asked = ask(world, body, tokenOf('alice'), { signal: gone.signal }).then((response) => response.text());
    await begun.promise;
    gone.abort();
    await asked.catch(() => undefined);
    const states = async () => (await world.ledger.runs({ roots: true })).map(({ state }) => state);
    await expect.poll(states).toEqual(stream ? ['cancelled'] : ['cancelled', 'cancelled']);
  }
  const failed = await ask(world, { messages: [user('fail')] });
  expect([failed.status, failed.headers.get('x-should-retry')]).toEqual([502, 'false']);
  expect(await failed.json()).toMatchObject({ error: { type: 'server_error', message: expect.any(String) } });
  const frames = await framesOf(await ask(world, { messages: [user('fail')], stream: true }));
  expect(jsonIn(frames.at(-2) as Frame)).toMatchObject({ error: { type: 'server_error' } });
});

it('what nobody listens to any more is ended at once, and once', async () => {
  const slow: Brain = async ({ signal }) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    return { kind: 'failed', error: { kind: 'cancelled', message: 'gone' } };
  };
  await using world = await serveWorld({ brain: slow, agents });
  const { engine, ledger, groups, config } = world.project;
  const cancelled: string[] = [];
  const cancel: typeof engine.cancel = (run, ...why) => {
    cancelled.push(run);
    return engine.cancel(run, ...why);
  };
  const needs = createChat({
    ...{ door: 'openai', settings: {}, engine: { ...engine, cancel }, ledger, agents: { list: async () => agents } },
    ...{ clock: systemClock, ids: groups.ids, workspace: config.workspace, answerLink: () => '' },
    ...{ hear: shareWords(world.project.live.hear), stopping: new AbortController().signal },
  });
  const request = { method: 'POST', path: [], caller: callers['alice'] as McpCaller, body: undefined, signal: needs.stopping };
  const said: SaidBefore = {
    agent: 'talker',
    instructions: '',
    turns: [{ content: [{ type: 'text', text: 'slow' }] }],
  };
  const openai = { chat: needs, onError: () => undefined };
  const begun = await taken(openai, request, false, bySaid(openai, request, said));
  if (!begun.ok) throw new Error(JSON.stringify(begun.error));
  begun.value.close();
  begun.value.close();
  expect(cancelled).toEqual([begun.value.turn.run]);
});

it('each caller has a budget for the day, held before a model is asked', async () => {
  await using world = await serve({ budget: { calls: 2 }, budgets: { bob: { calls: 0 } } });
  await chat(world, [user('one')]);
  await chat(world, [user('two')]);
  const third = await ask(world, { messages: [user('three')] });
  expect([third.status, third.headers.get('x-should-retry')]).toEqual([429, 'false']);
  expect(await third.json()).toMatchObject({
    error: { code: 'insufficient_quota', message: expect.stringContaining('serve.openai.budget') },
  });
  expect((await ask(world, { messages: [user('one')] }, tokenOf('bob'))).status).toBe(429);
  expect(await world.ledger.runs({})).toHaveLength(2);
  expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
});

describe('what is refused, in the shape of OpenAI', () => {
  it('is shut unless it is opened', async () => {
    await using world = await serveWorld({ brain, agents, callers });
    expect((await world.ask('/v1/models')).status).toBe(404);
  });

  it('is each said by its name', async () => {
    await using world = await serve({ agents: ['talker', 'asker'] });
    const messages = [user('hi')];
    const huge = 'x'.repeat(limits.httpBodyBytes);
    const table: readonly (readonly [body: unknown, status: number, code: string, param?: string | null])[] = [
      [{ messages, model: 'nobody' }, 404, 'model_not_found', 'model'],
      [{ messages, model: 'writer' }, 404, 'model_not_found', 'model'],
      [{ messages: [] }, 400, 'invalid_value', 'messages'],
      [{ messages: 'hi' }, 400, 'invalid_value', 'messages'],
      [{ messages: [assistant('hi')] }, 400, 'invalid_value', 'messages'],
      [{ messages: [user('hi'), assistant('ho')] }, 400, 'invalid_value', 'messages'],
      [{ messages: [{ role: 'wizard', content: 'x' }] }, 400, 'invalid_value', 'messages[0].role'],
      [{ messages: [user([{ type: 'input_audio' }])] }, 400, 'unsupported_parameter', 'messages[0].content[0]'],
      [{ messages: [user([{ type: 'image_url', image_url: { url: 'http://10.0.0.1/a.png' } }])] }, 400, 'unsupported_parameter'],
      [{ messages, tools: [{ type: 'function' }] }, 400, 'unsupported_parameter', 'tools'],
      [{ messages, n: 2 }, 400, 'unsupported_parameter', 'n'],
      [{ messages, response_format: { type: 'json_schema' } }, 400, 'unsupported_parameter', 'response_format'],
      [{ messages: [user(huge)] }, 413, 'too_large'],
      [[], 400, 'invalid_value'],
    ];
    for (const [body, status, code, param] of table) {
      const given = Array.isArray(body) ? body : { model: 'talker', ...(body as object) };
      const response = await world.ask('/v1/chat/completions', { ...sendJson(given), token: tokenOf('alice') });
      const { error } = (await response.json()) as { error: { code: string; param: string | null; message: string } };
      expect([JSON.stringify(body).slice(0, 80), response.status, error.code]).toEqual([
        JSON.stringify(body).slice(0, 80),
        status,
        code,
      ]);
      if (param !== undefined) expect(error.param).toBe(param);
      expect(error.message.length).toBeGreaterThan(10);
    }
    expect(await world.ledger.runs({})).toEqual([]);
    const text = await world.ask('/v1/chat/completions', { ...sendJson({}), body: '{', token: tokenOf('alice') });
    expect([text.status, await text.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }]);
  });

  it('is so by who asks', async () => {
    await using world = await serve();
    const body = { messages: [user('hi')] };
    const nobody = await ask(world, body, '');
    expect([nobody.status, await nobody.json()]).toMatchObject([401, { error: { code: 'invalid_api_key' } }]);
    expect((await ask(world, body, 'wrong-0123456789abcdef')).status).toBe(401);
    expect((await ask(world, body, tokenOf('vera'))).status).toBe(403);
    expect((await ask(world, { ...body, model: 'writer' }, tokenOf('bob'))).status).toBe(404);
    const listed = async (name: string) => await (await world.ask('/v1/models', { token: tokenOf(name) })).json();
    expect(await listed('bob')).toMatchObject({
      object: 'list',
      data: [{ id: 'talker', object: 'model', description: 'Talks' }],
    });
    expect(((await listed('alice')) as { data: object[] }).data).toHaveLength(4);
    expect(await (await world.ask('/v1/models/talker')).json()).toMatchObject({ id: 'talker' });
    expect((await world.ask('/v1/models/no%2Fbody')).status).toBe(404);
    expect((await world.ask('/v1/elsewhere')).status).toBe(404);
    expect((await world.ask('/v1/models/%E0%A4%A', {})).status).toBe(404);
  });
});
