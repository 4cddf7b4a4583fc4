import { afterEach, describe, expect, it } from 'vitest';
import { answerIn, modelRequest, openModel, serverCatalogue, TEST_KEY } from '../../../test/support/models/client.ts';
import { type ModelServer, startModelServer } from '../../../test/support/models/model-server.ts';
import type { ServerScript } from '../../../test/support/models/script.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { type Message, userText } from '../../events/messages.ts';
import type { ModelDelta, ModelRequest } from '../port.ts';

const servers: ModelServer[] = [];
async function serve(script: ServerScript): Promise<ModelServer> {
  const server = await startModelServer(script);
  servers.push(server);
  return server;
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const names = ['openai/m-1', 'anthropic/claude-m', 'responses/gpt-m', 'google/gemini-m'] as const;
const ignore = (): void => undefined;
const lookup = {
  name: 'lookup',
  description: 'Finds things.',
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
};
const conversation: readonly Message[] = [
  userText('Where is my order?'),
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'Let me see.' },
      { type: 'tool-call', id: 'call_a', name: 'lookup', input: { query: 'order' } },
    ],
  },
  {
    role: 'tool',
    content: [{ type: 'tool-result', id: 'call_a', name: 'lookup', content: [{ type: 'text', text: 'lost' }], isError: true }],
  },
];

async function ask(server: ModelServer, name: string, change: Partial<ModelRequest> = {}) {
  const model = await openModel(serverCatalogue(server), name);
  return answerIn(await model.ask(modelRequest(change)));
}

for (const name of names) {
  describe(`${name}, through the real provider`, () => {
    it('answers with text, usage and the model that served', async () => {
      const server = await serve(() => ({
        text: 'Good day. ⛵',
        usage: { input: 120, output: 7, cached: 100 },
        model: 'm-served',
      }));
      const answer = await ask(server, name);
      expect(answer.message).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Good day. ⛵' }] });
      expect(answer.finish).toBe('stop');
      expect(answer.usage).toMatchObject({ inputTokens: 120, cacheReadTokens: 100, outputTokens: 7 });
      if (!name.startsWith('google')) expect(answer.served).toBe(`${name.split('/')[0]}/m-served`);
      expect(server.requests[0]?.headers['idempotency-key']).toBe('run_test/turn/1/model');
    });

    it.each([1e300, 2 ** 53, 100_000_001, -5])('takes %d tokens for not counted', async (absurd) => {
      const server = await serve(() => ({ text: 'Good day.', usage: { input: absurd, output: absurd } }));
      const { usage } = await ask(server, name);
      expect(usage).not.toHaveProperty('inputTokens');
      expect(usage).not.toHaveProperty('outputTokens');
    });

    it('asks for tools and returns their calls', async () => {
      const server = await serve(() => ({
        text: 'One moment.',
        calls: [
          { name: 'lookup', input: { query: 'a' } },
          { name: 'lookup', input: { query: 'b', deep: [1, { two: null }] } },
        ],
      }));
      const answer = await ask(server, name, { tools: [lookup], toolChoice: 'required' });
      expect(answer.finish).toBe('tool-calls');
      const calls = answer.message.content.filter((part) => part.type === 'tool-call');
      expect(calls.map((call) => [call.name, call.input])).toEqual([
        ['lookup', { query: 'a' }],
        ['lookup', { query: 'b', deep: [1, { two: null }] }],
      ]);
      expect(new Set(calls.map((call) => call.id)).size).toBe(2);
      expect(JSON.stringify(server.requests[0]?.body)).toContain('Finds things.');
    });

    it('assembles the same answer from a stream, and shows it piece by piece', async () => {
      const server = await serve(() => ({
        text: 'A longer answer, in several pieces.',
        calls: [{ id: 'call_x', name: 'lookup', input: { query: 'ä ö ü' } }],
        usage: { input: 50, output: 9 },
      }));
      const deltas: ModelDelta[] = [];
      const whole = await ask(server, name, { tools: [lookup] });
      const streamed = await ask(server, name, { tools: [lookup], onDelta: (delta) => deltas.push(delta) });
      if (name.startsWith('google')) {
        // Gemini's calls have no ids of their own.
        const withoutIds = (value: typeof whole): string => JSON.stringify(value).replace(/"id":"[^"]*"/g, '');
        expect(withoutIds(streamed)).toEqual(withoutIds(whole));
      } else expect(streamed).toEqual(whole);
      expect(deltas.flatMap((delta) => (delta.type === 'text' ? [delta.text] : [])).join('')).toBe(
        'A longer answer, in several pieces.',
      );
      expect(deltas.some((delta) => delta.type === 'tool' && delta.name === 'lookup')).toBe(true);
    });

    it('sends back calls and results', async () => {
      const server = await serve((request) => ({ text: `results: ${request.toolResults}` }));
      const answer = await ask(server, name, { messages: conversation, tools: [lookup] });
      expect(answer.message.content).toEqual([{ type: 'text', text: 'results: 1' }]);
      expect(JSON.stringify(server.requests[0]?.body)).toContain('lost');
    });

    it('asks for an answer that fits a schema', async () => {
      const outputSchema = {
        type: 'object',
        properties: { total_of_it: { type: 'number' } },
        required: ['total_of_it'],
        additionalProperties: false,
      };
      const server = await serve((request) =>
        request.protocol === 'anthropic' && JSON.stringify(request.body).includes('"tool_choice"')
          ? { calls: [{ name: 'json', input: { total_of_it: 3 } }] }
          : { text: '{"total_of_it":3}' },
      );
      for (const onDelta of [undefined, ignore]) {
        const answer = await ask(server, name, { outputSchema, onDelta });
        expect(answer.message.content).toEqual([{ type: 'text', text: '{"total_of_it":3}' }]);
      }
      expect(JSON.stringify(server.requests[0]?.body)).toContain('total_of_it');
    });

    it('sends images', async () => {
      const server = await serve(() => ({ text: 'a ship' }));
      const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
      const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] }];
      await ask(server, name, { messages });
      expect(JSON.stringify(server.requests[0]?.body)).toContain('iVBORw0KGgo=');
    });
  });
}

describe('what a provider needs of its own', () => {
  it('gives reasoning back only to the provider that wrote it', async () => {
    const server = await serve(() => ({ reasoning: 'They mean the ship.', text: 'A ship.' }));
    const whole = await ask(server, 'anthropic/claude-m');
    const streamed = await ask(server, 'anthropic/claude-m', { onDelta: ignore });
    expect(streamed).toEqual(whole);
    expect(whole.message.content[0]).toMatchObject({ type: 'reasoning', text: 'They mean the ship.', provider: 'anthropic' });
    const messages = [userText('What is it?'), whole.message, userText('Sure?')];
    await ask(server, 'anthropic/claude-m', { messages });
    await ask(server, 'openai/m-1', { messages });
    const [again, foreign] = server.requests.slice(-2).map((request) => JSON.stringify(request.body));
    expect(again).toContain('"thinking":"They mean the ship."');
    expect(again).toContain('"signature":"c2lnbmF0dXJl"');
    expect(foreign).not.toContain('They mean the ship.');
    expect(foreign).toContain('A ship.');
  });

  it('reads the reasoning of chat-completions', async () => {
    const server = await serve(() => ({ reasoning: 'Hm.', text: 'Yes.' }));
    const shown: ModelDelta[] = [];
    const whole = await ask(server, 'openai/m-1');
    const streamed = await ask(server, 'openai/m-1', { onDelta: (delta) => shown.push(delta) });
    expect(whole.message.content).toContainEqual({ type: 'reasoning', text: 'Hm.', provider: 'openai' });
    expect(streamed).toEqual(whole);
    expect(shown).toContainEqual({ type: 'reasoning', text: 'Hm.' });
  });

  it('passes settings on', async () => {
    const server = await serve(() => ({ text: 'ok' }));
    const settings = { maxOutputTokens: 77, temperature: 0.3, topP: 0.9, reasoning: 'low' as const };
    await ask(server, 'openai/m-1', { settings, tools: [lookup], toolChoice: { name: 'lookup' } });
    expect(server.requests[0]?.body).toMatchObject({
      model: 'm-1',
      max_tokens: 77,
      temperature: 0.3,
      top_p: 0.9,
      reasoning_effort: 'low',
      tool_choice: { type: 'function', function: { name: 'lookup' } },
    });
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TEST_KEY}`);
  });

  it('marks the prompt for Anthropic to cache, at its end only', async () => {
    const server = await serve(() => ({ text: 'ok' }));
    await ask(server, 'anthropic/claude-m', { messages: conversation, tools: [lookup] });
    const body = server.requests[0]?.body;
    const messages = body?.['messages'];
    expect(JSON.stringify(body?.['system'])).toContain('cache_control');
    expect(Array.isArray(messages) && messages.map((message: Json) => JSON.stringify(message).includes('cache_control'))).toEqual(
      [false, false, true],
    );
  });

  it('puts images of tool results where chat-completions can see them', async () => {
    const server = await serve(() => ({ text: 'ok' }));
    const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
    const result = {
      type: 'tool-result',
      id: 'call_a',
      name: 'lookup',
      content: [{ type: 'text', text: 'see' }, image],
    } as const;
    const messages: Message[] = [
      ...conversation.slice(0, 2),
      { role: 'tool', content: [{ ...result, content: [...result.content] }] },
    ];
    await ask(server, 'openai/m-1', { messages, tools: [lookup] });
    await ask(server, 'anthropic/claude-m', { messages, tools: [lookup] });
    const sent = server.requests[0]?.body['messages'];
    const last: Json | undefined = Array.isArray(sent) ? sent.at(-1) : undefined;
    expect(isJsonObject(last) && last['role']).toBe('user');
    expect(JSON.stringify(last)).toContain('data:image/png;base64,iVBORw0KGgo=');
    expect(JSON.stringify(server.requests[1]?.body)).toContain('iVBORw0KGgo=');
  });

  it('keeps nothing at OpenAI', async () => {
    const server = await serve(() => ({ text: 'ok' }));
    await ask(server, 'responses/gpt-m');
    expect(server.requests[0]?.body).toMatchObject({ store: false });
  });

  it('repairs arguments that are almost JSON, and keeps the text of those that are not', async () => {
    const server = await serve(() => ({
      calls: [
        { name: 'lookup', rawInput: '{"query": "a",}' },
        { name: 'lookup', rawInput: '{"query": "half a na' },
        { name: 'lookup', rawInput: '' },
      ],
    }));
    for (const onDelta of [undefined, ignore]) {
      const { message } = await ask(server, 'openai/m-1', { tools: [lookup], onDelta });
      expect(message.content).toMatchObject([
        { input: { query: 'a' } },
        { input: {}, malformed: '{"query": "half a na' },
        { input: {} },
      ]);
    }
  });

  it('gives calls without ids, or with the same one, ids of their own', async () => {
    const server = await serve(() => ({
      calls: [
        { id: 'x', name: 'lookup' },
        { id: 'x', name: 'lookup' },
      ],
    }));
    const { message } = await ask(server, 'openai/m-1', { tools: [lookup] });
    const ids = message.content.map((part) => part.type === 'tool-call' && part.id);
    expect(new Set(ids).size).toBe(2);
  });
});
