/** Models that count with real tokenizers never count more than was reserved for them. */
import { encode as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { encode as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import llama2 from 'llama-tokenizer-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serverCatalogue } from '../../../test/support/models/client.ts';
import { startModelServer } from '../../../test/support/models/model-server.ts';
import { agent, calls, createWorld, type Outside, PENNY_PRICES, reports, says, turnOf } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { ok } from '../../base/result.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import type { Model, ModelOutcome, ModelRequest } from '../../models/port.ts';
import { type Tool, textResult } from '../../tools/port.ts';
import { readAll } from '../record/read-all.ts';
import { createSpendMeter } from './worst-case.ts';

const tokenizers: Readonly<Record<string, (text: string) => number>> = {
  'test/o200k': (text) => o200k(text, { disallowedSpecial: new Set() }).length,
  'test/cl100k': (text) => cl100k(text, { disallowedSpecial: new Set() }).length,
  'test/llama2': (text) => llama2.encode(text, false).length,
};

const tokenCount = (text: string): number => tokenizers['test/o200k']?.(text) ?? 0;

const TEXTS = [
  '東京都の天気は晴れです。明日は雨が降るでしょう。'.repeat(40),
  'กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย'.repeat(20),
  Buffer.from(Array.from({ length: 900 }, (_, index) => (index * 7_919) % 256)).toString('base64'),
  'for (const item of items) { if (item.id === 42) return item; }\n'.repeat(30),
  '👩🏽‍💻🇩🇪❤️‍🔥'.repeat(60),
  `{"a":[${Array.from({ length: 300 }, (_, index) => index * 13).join(',')}]}`,
];

const asked = (request: ModelRequest): string =>
  [request.system, JSON.stringify(request.tools), JSON.stringify(request.outputSchema ?? ''), JSON.stringify(request.messages)]
    .join('\n')
    // A provider reads texts as they are, not as JSON writes them.
    .replaceAll('\\n', '\n')
    .replaceAll('\\"', '"');

type Counting = (request: ModelRequest) => ModelOutcome;

function counting(id: string, brain: Counting): Model {
  const count = tokenizers[id] ?? (() => 0);
  return {
    id,
    account: id,
    async ask(request) {
      const outcome = brain(request);
      if (outcome.kind !== 'answer') return outcome;
      const usage = { inputTokens: count(asked(request)), outputTokens: count(JSON.stringify(outcome.answer.message)) };
      return { kind: 'answer', answer: { ...outcome.answer, usage, served: id } };
    },
  };
}

const read: Tool = {
  name: 'read',
  description: TEXTS[0] ?? '',
  inputSchema: { type: 'object', properties: { name: { type: 'string', description: 'どの部分' } }, required: ['name'] },
  replay: 'safe',
  run: async (input) => textResult(TEXTS[Number((input as { name: string }).name) % TEXTS.length] ?? ''),
};

async function reservedAndCounted(agents: readonly AgentDefinition[], brain: Counting) {
  const outside: Outside = { modelCalls: [], effects: [] };
  const world = createWorld({
    agents: agents.map((one) => ({ ...one, budget: { tokens: 100_000_000 } })),
    brain,
    outside,
    tools: [read],
    engineOptions: { models: { open: async (name) => ok(counting(name, brain)) } },
  });
  const started = await world.engine.start({ agent: agents[0]?.name ?? '', input: userText(TEXTS[1] ?? ''), workspace: '.' });
  if (started.kind !== 'started') throw new Error(started.error.message);
  const end = await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  await world.close();
  expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  return { pairs: pairsIn(events), events };
}

function pairsIn(events: readonly LedgerEvent[]) {
  const settled = events.flatMap((event) => (event.event_type === 'budget.settled' ? [event.payload] : []));
  return settled.map(({ reserved, spent }) => ({ reserved: reserved.tokens, spent: spent.tokens }));
}

const working: Counting = (request) => {
  const turn = turnOf(request);
  if (request.toolChoice !== undefined) return reports('終わりました。');
  return calls({ name: 'read', input: { name: `${turn}` }, id: `call_${turn}` });
};

describe('what is reserved', () => {
  it.each(Object.keys(tokenizers))('holds for a long conversation, its last turn and its exits: %s', async (model) => {
    const output = { format: 'json' as const, schema: { type: 'string', description: TEXTS[0] ?? '' } };
    const { pairs } = await reservedAndCounted([agent({ models: [model], tools: ['read'], maxTurns: 14, output })], working);
    expect(pairs).toHaveLength(14);
    for (const { reserved, spent } of pairs) expect(spent).toBeLessThanOrEqual(reserved);
  });

  it('holds when the conversation was condensed', async () => {
    const condensing = agent({ models: ['test/llama2'], tools: ['read'], maxTurns: 24, contextWindow: 16_000 });
    const { pairs, events } = await reservedAndCounted([{ ...condensing, maxOutputTokens: 1_000 }], working);
    expect(events.some((event) => event.event_type === 'task.summary')).toBe(true);
    for (const { reserved, spent } of pairs) expect(spent).toBeLessThanOrEqual(reserved);
  });

  it('holds for a fallback that counts otherwise', async () => {
    let tries = 0;
    const models = ['test/o200k', 'test/llama2'];
    const { pairs, events } = await reservedAndCounted([agent({ models, tools: ['read'], maxTurns: 6 })], (request) => {
      tries += 1;
      const error = { kind: 'overloaded' as const, message: 'busy', status: 503, retryAfterMs: 1 };
      return tries % 2 === 1 ? { kind: 'failed', error } : working(request);
    });
    const served = events.flatMap((event) => (event.event_type === 'model.response' ? [event.payload.served] : []));
    expect(new Set(served)).toEqual(new Set(['test/llama2']));
    for (const { reserved, spent } of pairs) expect(spent).toBeLessThanOrEqual(reserved);
  });

  it('has room for the thinking that a provider adds to the maximum', async () => {
    const server = await startModelServer(() => ({ text: 'Good day.' }));
    onTestFinished(server.close);
    const thinking = agent({ models: ['anthropic/claude-sonnet-4-5'], tools: [], maxOutputTokens: 2_000, reasoning: 'high' });
    const world = createWorld({
      agents: [{ ...thinking, budget: { tokens: 100_000_000 } }],
      brain: working,
      outside: { modelCalls: [], effects: [] },
      engineOptions: { models: serverCatalogue(server) },
    });
    const started = await world.engine.start({ agent: thinking.name, input: userText('Hello.'), workspace: '.' });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    const events = await readAll(world.ledger, started.handle.session);
    await world.close();
    const [reserved] = events.flatMap((event) => (event.event_type === 'budget.reserved' ? [event.payload.amounts] : []));
    const { max_tokens: sent = 0 } = (server.requests[0]?.body ?? {}) as { max_tokens?: number };
    expect(sent).toBeGreaterThan(2_000);
    expect(reserved?.tokens).toBeGreaterThanOrEqual(sent);
  });

  it('holds for the exits of a router and of a team', async () => {
    const models = ['test/llama2'];
    const agents = [
      agent({ name: 'lead', models, tools: [], router: { destinations: ['crew', 'x'.repeat(60)] } }),
      agent({ name: 'crew', models, tools: [], team: { members: ['ana', 'ben'] } }),
      ...['ana', 'ben', 'x'.repeat(60)].map((name) => agent({ name, models, tools: ['read'] })),
    ];
    const { pairs } = await reservedAndCounted(agents, (request) => {
      if (request.agent === 'lead') return calls({ name: 'handoff-to', input: { agent: 'crew', message: TEXTS[2] ?? '' } });
      if (request.agent === 'crew') return reports('終わりました。');
      return calls({ name: 'team_broadcast', input: { message: TEXTS[0] ?? '', final: true } });
    });
    expect(pairs.length).toBeGreaterThanOrEqual(4);
    for (const { reserved, spent } of pairs) expect(spent).toBeLessThanOrEqual(reserved);
  });

  it('is what was counted and what is new, not more', () => {
    const meter = createSpendMeter(PENNY_PRICES, 'You work.');
    const messages = [userText('One.'), userText('Two.')];
    const sent = { messages, tools: [read] };
    const first = meter.worstCase('m', sent, 100).inputTokens;
    meter.counted('m', sent, { inputTokens: 50 });
    const next = { messages: [...messages, userText('Three.')], tools: [read] };
    const second = meter.worstCase('m', next, 100).inputTokens;
    expect(second).toBeGreaterThan(50);
    expect(second).toBeLessThan(100);
    expect(meter.worstCase('other', next, 100).inputTokens).toBeGreaterThan(first);
    expect(meter.worstCase('m', { messages: [userText('Anew.'), ...messages], tools: [read] }, 100).inputTokens).toBeGreaterThan(
      first,
    );
    expect(meter.worstCase('m', { ...next, tools: [read, { ...read, name: 'more' }] }, 100).inputTokens).toBeGreaterThan(
      second + 900,
    );
  });

  it('has room for what a turn sends anew around the conversation: a form of the answer, a call that must be', () => {
    const meter = createSpendMeter(PENNY_PRICES, 'You work.');
    const sent = { messages: [userText('One.')], tools: [read] };
    meter.counted('m', sent, { inputTokens: 50 });
    const before = meter.worstCase('m', sent, 100).inputTokens;
    const outputSchema = { type: 'string', description: TEXTS[0] ?? '' };
    const inForm = meter.worstCase('m', { ...sent, outputSchema }, 100).inputTokens;
    expect(inForm).toBeGreaterThan(before + tokenCount(outputSchema.description));
    expect(meter.worstCase('m', { ...sent, toolChoice: 'required' }, 100).inputTokens).toBeGreaterThan(before);
    meter.counted('m', { ...sent, outputSchema }, { inputTokens: 900 });
    expect(meter.worstCase('m', { ...sent, outputSchema }, 100).inputTokens).toBe(900);
  });

  it('sees that a model gave more than it was allowed', async () => {
    const brain: Counting = () => says('word '.repeat(5_000));
    const { pairs } = await reservedAndCounted([agent({ models: ['test/o200k'], tools: [], maxOutputTokens: 10 })], brain);
    const [only] = pairs;
    expect(only?.spent).toBeGreaterThan(only?.reserved ?? 0);
  });
});
