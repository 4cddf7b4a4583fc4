import { afterEach, describe, expect, it } from 'vitest';
import { failureIn, modelRequest, openModel, serverCatalogue, serverEnv, TEST_KEY } from '../../test/support/models/client.ts';
import { type ModelServer, startModelServer } from '../../test/support/models/model-server.ts';
import type { Fault } from '../../test/support/models/script.ts';
import { FOR_EVER_MS } from '../../test/support/patience.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import { createModelCatalogue } from './catalogue.ts';
import { toFailure } from './failures.ts';
import type { ModelRequest } from './port.ts';
import { aiSdkModel } from './provider/ai-sdk.ts';
import { dialectOf, findProvider, loadModel } from './provider/providers.ts';
import { createTransport } from './provider/transport.ts';

const servers: ModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(fault: Fault): Promise<ModelServer> {
  const server = await startModelServer(() => fault);
  servers.push(server);
  return server;
}

async function failWith(
  fault: Fault,
  name: string,
  change: Partial<ModelRequest> = {},
  clock: Clock = systemClock,
): Promise<ModelFailure> {
  const model = await openModel(serverCatalogue(await serve(fault), { clock }), name);
  return failureIn(await model.ask(modelRequest(change)));
}

const error = (message: string, type = 'error'): string => JSON.stringify({ type: 'error', error: { type, message } });
const streamed = { onDelta: () => undefined };
const usedUp = {
  kind: 'auth',
  message: expect.stringMatching(/^The quota or the credit of the account at \w+ is used up \(HTTP/),
  fix: expect.stringMatching(/billing of the account.*--model/),
} as const;
/** As OpenAI, Anthropic, DeepSeek and others say it. */
const USED_UP = [
  ['429 of a quota that is used up', 429, 'You exceeded your current quota, please check your plan.', 'insufficient_quota'],
  ['429 about billing', 429, 'Please check your plan and billing details.', 'error'],
  ['400 about credit', 400, 'Your credit balance is too low to access the API.', 'invalid_request_error'],
  ['402', 402, 'Insufficient Balance', 'unknown_error'],
  ['403 about a limit of money', 403, 'The team has reached its monthly spending limit.', 'error'],
] as const;

const statuses: readonly (readonly [
  name: string,
  fault: Omit<Extract<Fault, { fault: 'status' }>, 'fault'>,
  expected: Partial<ModelFailure>,
])[] = [
  ['401', { status: 401, body: error(`bad key ${TEST_KEY}`) }, { kind: 'auth', status: 401 }],
  ['403', { status: 403 }, { kind: 'auth', status: 403 }],
  ...USED_UP.map(([title, status, message, type]) => [title, { status, body: error(message, type) }, usedUp] as const),
  [
    '429 of a quota that renews',
    {
      status: 429,
      body: error('You exceeded your current quota, please check your plan and billing details. Please retry in 12s.'),
    },
    { kind: 'rate_limited' },
  ],
  ['404', { status: 404, body: error('no such model') }, { kind: 'invalid_request', status: 404 }],
  ['400 about a tool', { status: 400, body: error("Invalid schema for function 'billing_lookup'") }, { kind: 'invalid_request' }],
  ['400', { status: 400, body: error('bad schema') }, { kind: 'invalid_request', status: 400 }],
  [
    '400 about length',
    { status: 400, body: error('prompt is too long: 210000 tokens > 200000 maximum') },
    { kind: 'context_overflow' },
  ],
  [
    '400 of OpenAI about length',
    { status: 400, body: error("This model's maximum context length is 8192 tokens.") },
    { kind: 'context_overflow' },
  ],
  [
    '429 in seconds',
    { status: 429, headers: { 'retry-after': '7' } },
    { kind: 'rate_limited', status: 429, retryAfterMs: 7_000 },
  ],
  [
    '429 in milliseconds',
    { status: 429, headers: { 'retry-after-ms': '250', 'retry-after': '1' } },
    { kind: 'rate_limited', retryAfterMs: 250 },
  ],
  [
    '429 with reset headers',
    {
      status: 429,
      headers: { 'x-ratelimit-reset-tokens': '1m30s', 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-requests': '9h' },
    },
    { kind: 'rate_limited', retryAfterMs: 90_000 },
  ],
  ['500', { status: 500 }, { kind: 'overloaded', status: 500 }],
  ['503', { status: 503, headers: { 'retry-after': '2' } }, { kind: 'overloaded', status: 503, retryAfterMs: 2_000 }],
  ['529', { status: 529, body: error('Overloaded', 'overloaded_error') }, { kind: 'overloaded', status: 529 }],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, { kind: 'invalid_request', status: 307 }],
];

for (const name of ['openai/m-1', 'anthropic/claude-m']) {
  describe(`failures of ${name}`, () => {
    for (const [title, fault, expected] of statuses) {
      it(`names ${title}`, async () => {
        for (const change of [{}, streamed]) {
          const failure = await failWith({ fault: 'status', ...fault }, name, change);
          expect(failure).toMatchObject(expected);
          expect(failure.message).not.toContain(TEST_KEY);
        }
      });
    }

    it('reads a Retry-After that is a date', async () => {
      const now = Date.UTC(2026, 0, 1, 12);
      const headers = { 'retry-after': new Date(now + 30_000).toUTCString() };
      const stopped = { ...systemClock, now: () => now };
      expect(await failWith({ fault: 'status', status: 429, headers }, name, {}, stopped)).toMatchObject({
        retryAfterMs: 30_000,
      });
    });

    it('knows an overload inside a stream that began well', async () => {
      const overloaded = { type: 'overloaded_error', message: 'Overloaded' };
      for (const after of [undefined, 'The beginning of']) {
        const fault = { fault: 'error-in-stream', error: overloaded, ...present({ after }) } as const;
        expect(await failWith(fault, name, streamed)).toMatchObject({ kind: 'overloaded' });
      }
      const limited = { type: 'rate_limit_error', message: 'Slow down' };
      expect(await failWith({ fault: 'error-in-stream', error: limited, after: 'x' }, name, streamed)).toMatchObject({
        kind: 'rate_limited',
      });
    });

    it('says what an HTML page says', async () => {
      for (const change of [{}, streamed]) {
        const failure = await failWith({ fault: 'html' }, name, change);
        expect(failure.kind).toBe('bad_response');
        expect(failure.message).toContain('HTML');
        expect(failure.message).toContain('Sign in to the proxy');
        expect(await failWith({ fault: 'html', status: 502 }, name, change)).toMatchObject({ kind: 'overloaded', status: 502 });
      }
    });

    it('does not take garbage for an answer', async () => {
      for (const change of [{}, streamed])
        expect(await failWith({ fault: 'garbage' }, name, change)).toMatchObject({ kind: 'bad_response' });
    });

    it('knows half a stream, whether it ends or is cut', async () => {
      const shown: string[] = [];
      const onDelta: ModelRequest['onDelta'] = (delta) => shown.push(delta.type === 'text' ? delta.text : '');
      expect(await failWith({ fault: 'half-stream', text: 'Half of' }, name, { onDelta })).toMatchObject({
        kind: 'bad_response',
        fix: expect.stringContaining('If it breaks off each time'),
      });
      expect(shown.join('')).toBe('Half of');
      const cut = await failWith({ fault: 'half-stream', text: 'Half of', reset: true }, name, streamed);
      expect(['network', 'bad_response']).toContain(cut.kind);
    });

    it('knows JSON where a stream was asked for', async () => {
      const fault = { fault: 'raw', contentType: 'application/json', chunks: ['{}'] } as const;
      expect(await failWith(fault, name, streamed)).toMatchObject({ kind: 'bad_response' });
    });

    it('knows a connection that is refused or reset, and a host that is not there', async () => {
      for (const change of [{}, streamed])
        expect(await failWith({ fault: 'reset' }, name, change)).toMatchObject({ kind: 'network' });
      const gone = await serve({ fault: 'reset' });
      await gone.close();
      const refused = await openModel(serverCatalogue(gone), name);
      expect(failureIn(await refused.ask(modelRequest()))).toMatchObject({ kind: 'network' });
      const env = {
        ...serverEnv(gone),
        OPENAI_BASE_URL: 'http://nowhere.invalid/v1',
        ANTHROPIC_BASE_URL: 'http://nowhere.invalid',
      };
      const lost = await openModel(createModelCatalogue({ env, clock: systemClock, folder: '.' }), name);
      expect(failureIn(await lost.ask(modelRequest()))).toMatchObject({ kind: 'network' });
    });

    it('gives up on a server that hangs, before the answer and in the middle of it', async () => {
      const timeoutMs = 100;
      expect(await failWith({ fault: 'hang' }, name, { timeoutMs })).toMatchObject({ kind: 'timeout' });
      expect(await failWith({ fault: 'hang' }, name, { timeoutMs, ...streamed })).toMatchObject({ kind: 'timeout' });
      const middle = await failWith({ fault: 'hang', after: 'Wait' }, name, { timeoutMs, ...streamed });
      expect(middle).toMatchObject({ kind: 'timeout' });
      expect(middle.message).toContain('llmTimeout');
    });

    it('stops at once when cancelled', async () => {
      for (const change of [{}, streamed]) {
        const controller = new AbortController();
        const server = await serve({ fault: 'hang', after: 'Wait' });
        const model = await openModel(serverCatalogue(server), name);
        const asking = model.ask(modelRequest({ signal: controller.signal, ...change }));
        await expect.poll(() => server.requests).toHaveLength(1);
        controller.abort();
        expect(failureIn(await asking)).toMatchObject({ kind: 'cancelled' });
        expect(await failWith({ fault: 'hang' }, name, { signal: AbortSignal.abort(), ...change })).toMatchObject({
          kind: 'cancelled',
        });
      }
    });

    it('stops reading an answer that is too long', async () => {
      const chunk = `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: 'x'.repeat(1_000) } }] })}\n\n`;
      const small = createTransport({ env: {}, maxResponseBytes: 50_000 });
      for (const [contentType, change] of [
        ['application/json', {}],
        ['text/event-stream', streamed],
      ] as const) {
        const server = await serve({
          fault: 'raw',
          contentType,
          chunks: name.startsWith('openai') ? [chunk] : [': comment\n'.repeat(100)],
          repeat: 200,
        });
        const model = await openModel(serverCatalogue(server, { transport: small }), name);
        const failure = failureIn(await model.ask(modelRequest(change)));
        expect(failure).toMatchObject({ kind: 'bad_response' });
        expect(failure.message).toContain('modelResponseBytes');
      }
    });
  });
}

describe('a stream that goes quiet', () => {
  const slowly = { text: 'A slow answer, but an answer.', chunkBytes: 150, dripMs: 15 };

  it('is given up after the idle time, however long the whole may take', async () => {
    const server = await serve({ fault: 'hang', after: 'Wait' });
    const provider = findProvider('openai', { env: serverEnv(server) });
    if (provider?.ok !== true) throw new Error('no provider');
    const model = aiSdkModel({
      model: await loadModel(provider.value, 'm-1', createTransport({ env: {} })),
      id: 'openai/m-1',
      account: 'test',
      dialect: dialectOf(provider.value),
      clock: systemClock,
      idleMs: 80,
    });
    const failure = failureIn(await model.ask(modelRequest({ timeoutMs: FOR_EVER_MS, ...streamed })));
    expect(failure).toMatchObject({ kind: 'timeout' });
    expect(failure.message).toContain('modelIdleMs');
  });

  it('is waited for while it drips', async () => {
    const server = await startModelServer(() => slowly);
    servers.push(server);
    const model = await openModel(serverCatalogue(server), 'openai/m-1');
    expect(await model.ask(modelRequest(streamed))).toMatchObject({ kind: 'answer' });
  });
});

describe('toFailure', () => {
  const context = { provider: 'p', clock: systemClock, secrets: ['the-secret'] };

  it('takes anything and never throws', () => {
    const loop: { cause?: unknown } = new Error('round');
    loop.cause = loop;
    for (const thrown of [undefined, null, 0, 'text', {}, [], loop, Symbol('s'), Object.create(null), new Error('')]) {
      expect(toFailure(thrown, context).kind).toBe('bad_response');
    }
  });

  it('keeps out every line of a secret over several, together and alone', () => {
    const secrets = ['first-half-1\nline2abcdef'];
    for (const said of ['"first-half-1\nline2abcdef" is wrong', '"first-half-1 line2abcdef"', 'only line2abcdef'])
      expect(toFailure(new Error(said), { ...context, secrets }).message).not.toMatch(/first-half|line2/);
  });

  it.each([
    ['Incorrect API key provided', 'Incorrect API key provided'],
    [
      'Incorrect API key provided: sk-proj-****abcd. See keyboard-shortcuts',
      'API key provided: [redacted]. See keyboard-shortcuts',
    ],
    ['the key abcd1234efgh is not known', 'the key [redacted] is not known'],
    ['key=ABCD1234EFGH', 'key=[redacted]'],
    ['authorization: Bearer abcdefghijklmnop', 'Bearer [redacted]'],
    ['skABCDEFGH12345678 and AIzaSyA-abcdefghijkl', '[redacted] and [redacted]'],
    ['Bearer authentication required', 'Bearer authentication required'],
  ])('hides the key in "%s", and not what is said about it', (said, expected) => {
    expect(toFailure(new Error(said), context).message).toContain(expected);
  });

  it('keeps secrets and key-like words out, and messages short', () => {
    const { message } = toFailure(
      new Error(`the-secret sk-abcdefghijklmnop Bearer abcdefghijklmnop ${'x'.repeat(5_000)}`),
      context,
    );
    expect(message).not.toMatch(/the-secret|sk-abc|Bearer abc/);
    expect(message.length).toBeLessThan(limits.modelErrorCharacters + 200);
  });
});
