import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropicStream } from '../../../test/support/models/anthropic.ts';
import { answerIn, modelRequest, openModel, serverCatalogue } from '../../../test/support/models/client.ts';
import { type ModelServer, startModelServer } from '../../../test/support/models/model-server.ts';
import { chatStream, responsesStream } from '../../../test/support/models/openai.ts';
import type { Answer, Reply, SeenRequest } from '../../../test/support/models/script.ts';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import type { ModelOutcome } from '../port.ts';
import { createJoinedEvents } from './joined-events.ts';

/** Streams from a real server through the real providers, cut and damaged at random. */
let server: ModelServer;
let reply: (request: SeenRequest) => Reply = () => ({ text: '' });
const unhandled: unknown[] = [];
const onUnhandled = (error: unknown): void => void unhandled.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', onUnhandled);
  server = await startModelServer((request) => reply(request));
});
afterAll(async () => {
  process.off('unhandledRejection', onUnhandled);
  await server.close();
});

const names = ['openai/m-1', 'anthropic/claude-m', 'responses/gpt-m'] as const;
const answer: Answer = { text: 'Ahoy, söhne der See! 🌊⛵', calls: [{ id: 'c', name: 'lookup', input: { query: 'größe ≤ 3' } }] };

async function stream(name: string): Promise<ModelOutcome> {
  const model = await openModel(serverCatalogue(server), name);
  return await model.ask(modelRequest({ timeoutMs: PATIENCE_MS, onDelta: () => undefined }));
}

function wire(name: string, request: SeenRequest): string {
  if (name.startsWith('openai')) return chatStream(answer, request);
  return name.startsWith('anthropic') ? anthropicStream(answer, request) : responsesStream(answer, request);
}

/** What follows each other at the same place as one. */
function said(text: string): readonly string[] {
  const told: { place: string; words: string }[] = [];
  for (const event of text.split('\n\n').slice(0, -1)) {
    const [, before, words, after] = /^(data: \{"index":.*?":")((?:[^"\\]|\\.)*)(".*)$/.exec(event) ?? ['', event, '', ''];
    const place = `${before}…${after}`;
    const last = told.at(-1);
    if (last?.place === place && before !== event) last.words += words;
    else told.push({ place, words: words ?? '' });
  }
  return told.map(({ place, words }) => `${place} ${words}`);
}

describe('streams of a provider', () => {
  it('mean the same however they are cut', async () => {
    for (const name of names) {
      reply = () => answer;
      const whole = answerIn(await stream(name));
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 200 }), async (chunkBytes) => {
          reply = () => ({ ...answer, chunkBytes });
          expect(answerIn(await stream(name))).toEqual(whole);
        }),
        { numRuns: 15 },
      );
    }
  });

  it('that come together are told together, and say the same', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 8 });
    const event = fc.oneof(
      fc.record({ index: fc.nat(1), key: fc.constantFrom('content', 'arguments', 'text'), word }),
      fc.constantFrom('data: [DONE]', ': a comment', 'data: {"content":"a","text":"b"}', 'event: x\ndata: {"text":"\\"}'),
    );
    const written = (one: typeof event extends fc.Arbitrary<infer One> ? One : never): string =>
      typeof one === 'string' ? one : `data: ${JSON.stringify({ index: one.index, delta: { [one.key]: one.word }, last: null })}`;
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 9 }),
        (all, cuts) => {
          const bytes = Buffer.from(all.map((one) => `${written(one)}\n\n`).join(''));
          const together = createJoinedEvents();
          const parts: Uint8Array[] = [];
          let at = 0;
          for (const cut of [...cuts, bytes.length]) {
            parts.push(together.take(bytes.subarray(at, at + cut)));
            at += cut;
          }
          const came = Buffer.concat(parts).toString();
          expect(said(came)).toEqual(said(bytes.toString()));
          if (cuts.length === 0) expect(came.split('\n\n').length).toBeLessThanOrEqual(said(came).length + 1);
        },
      ),
    );
    const two = '{"delta":{"content":"Grüß "}}\n\ndata: {"delta":{"content":"\\"dich\\""}}';
    expect(Buffer.from(createJoinedEvents().take(Buffer.from(`data: ${two}\n\n`))).toString()).toBe(
      'data: {"delta":{"content":"Grüß \\"dich\\""}}\n\n',
    );
  });

  it('never make the model throw, however they are damaged', async () => {
    const damage = fc.record({
      name: fc.constantFrom(...names),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(60),
      insert: fc.oneof(
        fc.string({ maxLength: 30, unit: 'binary' }),
        fc.constantFrom(
          '\n\n',
          'data: ',
          'data: {}\n\n',
          'event: error\n',
          'data: null\n\n',
          'data: [DONE]\n\n',
          '\u0000',
          '{"a":',
          'data: {"type":"x"}\n\n',
        ),
        fc.json().map((text) => `data: ${text}\n\n`),
      ),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ name, at, cut, insert }) => {
        reply = (request) => {
          const text = wire(name, request);
          const position = Math.floor(at * text.length);
          const chunks = [text.slice(0, position), insert, text.slice(position + cut)];
          return { fault: 'raw', contentType: 'text/event-stream', chunks };
        };
        const outcome = await stream(name);
        if (outcome.kind === 'failed') expect(outcome.error.message).not.toBe('');
        else expect(Array.isArray(outcome.answer.message.content)).toBe(true);
      }),
      { numRuns: 300 },
    );
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  });
});
