/** Spans of real runs at a real collector: what it takes is what the official code would send, each once, whatever happens. */
import { describe, expect, it } from 'vitest';
import { handClock } from '../../test/support/hand-clock.ts';
import { PATIENCE_MS } from '../../test/support/patience.ts';
import { attributesOf, type Collector, expectOfficial, spansIn, startCollector } from '../../test/support/telemetry/collector.ts';
import { agent, type Brain, calls, createWorld, reports, turnOf, type World } from '../../test/support/world.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import type { RunHandle } from '../engine/port.ts';
import { userText } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import { spansOf } from './backfill.ts';
import { readCursor } from './cursor.ts';
import { followLedger } from './follow.ts';
import { otlpRequest } from './otlp.ts';
import { type TelemetrySettings, type TelemetryWanted, telemetrySettings } from './settings.ts';

const agents = [
  agent({ name: 'boss', tools: ['look'], agents: ['worker'] }),
  agent({ name: 'worker', permissions: { act: 'allow' } }),
  agent({ name: 'breaks', tools: [], maxRetries: 0 }),
];
const brain: Brain = (request) => {
  if (request.agent === 'breaks') return { kind: 'failed', error: { kind: 'invalid_request', message: 'the word mulberry' } };
  const first = turnOf(request) === 1;
  if (request.agent === 'boss')
    return first
      ? calls({ name: 'look', input: { name: 'quince' } }, { name: 'worker', input: { prompt: 'medlar', reason: 'medlar' } })
      : reports('persimmon');
  return first ? calls({ name: 'act', input: { name: 'damson' } }) : reports('greengage');
};
const WORDS = ['quince', 'medlar', 'persimmon', 'damson', 'greengage', 'mulberry', 'loquat'];

/** Spans are gathered for no time; how long a collector may take is nothing that should pass here. */
const hasty: Clock = {
  ...systemClock,
  after: (ms, callback, hold) => systemClock.after(ms < limits.telemetryCloseMs ? 0 : PATIENCE_MS, callback, hold),
};

function settingsTo({ url }: Collector, wanted: TelemetryWanted = {}): TelemetrySettings {
  const settings = telemetrySettings({ endpoint: url, ...wanted }, {});
  if (settings?.ok !== true) throw new Error('no settings');
  return settings.value;
}

const follow = (ledger: Ledger, settings: TelemetrySettings, clock: Clock = hasty) => {
  const troubles: string[] = [];
  const follower = followLedger({
    ledger,
    clock,
    random: seededRandom(1),
    settings,
    onTrouble: (why) => void troubles.push(why),
  });
  return { troubles, close: follower.close };
};

async function begin({ engine }: World, name: string): Promise<RunHandle> {
  const started = await engine.start({ agent: name, input: userText('loquat'), workspace: '/work' });
  if (started.kind === 'refused') throw new Error(started.error.message);
  return started.handle;
}

async function play(world: World, name: string): Promise<RunHandle> {
  const handle = await begin(world, name);
  await handle.done;
  return handle;
}

const ids = (collector: Collector): readonly string[] => collector.spans().map(({ spanId }) => spanId);

describe('spans of a run', () => {
  it('are what the official code would send, hang together, and say nothing that was said', async () => {
    await using collector = await startCollector();
    const world = createWorld({ brain, agents });
    const follower = follow(world.ledger, settingsTo(collector));
    await play(world, 'boss');
    await follower.close();
    const spans = collector.spans();
    collector.bodies.forEach(expectOfficial);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      ...['chat model', 'chat model', 'chat model', 'chat model', 'execute_tool act', 'execute_tool look', 'execute_tool worker'],
      ...['invoke_agent boss', 'invoke_agent worker'],
    ]);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    expect([byId.size, new Set(spans.map(({ traceId }) => traceId)).size]).toEqual([spans.length, 1]);
    const above = (name: string): string | undefined =>
      byId.get(spans.find((span) => span.name === name)?.parentSpanId ?? '')?.name;
    expect(['execute_tool worker', 'invoke_agent worker', 'execute_tool act', 'invoke_agent boss'].map(above)).toEqual([
      ...['invoke_agent boss', 'execute_tool worker', 'invoke_agent worker', undefined],
    ]);
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano)).toBe(true);
    const chat = attributesOf(spans.find(({ name }) => name === 'chat model') ?? { attributes: [] });
    expect(chat).toMatchObject({
      ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'test', 'gen_ai.request.model': 'model' },
      ...{ 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 10, 'gen_ai.response.finish_reasons': ['stop'] },
      ...{ 'openinference.span.kind': 'LLM', 'llm.token_count.total': 110, 'troupe.cost.usd': 0.00012 },
    });
    for (const word of WORDS) expect(collector.bodies.join()).not.toContain(word);
    expect(collector.paths[0]).toBe('/v1/traces');
    expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    await world.close();
  });

  it('carry what was said where somebody wants that, and older names where somebody reads these', async () => {
    await using collector = await startCollector();
    const world = createWorld({ brain, agents });
    const follower = follow(world.ledger, settingsTo(collector, { content: true, conventions: '1.36' }));
    await play(world, 'boss');
    await follower.close();
    collector.bodies.forEach(expectOfficial);
    for (const word of WORDS.filter((one) => one !== 'mulberry')) expect(collector.bodies.join()).toContain(word);
    expect(collector.bodies.join()).toContain('gen_ai.system');
    expect(collector.bodies.join()).not.toContain('gen_ai.provider.name');
    const tool = collector.spans().find(({ name }) => name === 'execute_tool act');
    expect(attributesOf(tool ?? { attributes: [] })).toMatchObject({ 'gen_ai.tool.call.arguments': '{"name":"damson"}' });
    await world.close();
  });

  it('say what failed, without its words', async () => {
    await using collector = await startCollector();
    const world = createWorld({ brain, agents });
    const follower = follow(world.ledger, settingsTo(collector));
    await play(world, 'breaks');
    await follower.close();
    const [chat, run] = collector.spans();
    expect([chat?.status.code, run?.status.code]).toEqual([2, 2]);
    expect(attributesOf(chat ?? { attributes: [] })).toMatchObject({ 'error.type': 'invalid_request' });
    expect(collector.bodies.join()).not.toContain('mulberry');
    await world.close();
  });

  it('are the same when they are told again', async () => {
    await using collector = await startCollector();
    const settings = settingsTo(collector);
    const world = createWorld({ brain, agents });
    const follower = follow(world.ledger, settings);
    const { run, session } = await play(world, 'boss');
    await follower.close();
    const again = [];
    for await (const spans of spansOf(world.ledger, { kind: 'run', session, root: run }, settings))
      again.push(...JSON.parse(JSON.stringify(otlpRequest(spans, settings))).resourceSpans[0].scopeSpans[0].spans);
    expect(again).toEqual(collector.spans());
    await world.close();
  });
});

describe('a crash', () => {
  it('at any append of how far it was told loses no span, and doubles only those of the batch that it cut off', async () => {
    for (const cut of [1, 2, 3]) {
      await using collector = await startCollector();
      const settings = settingsTo(collector);
      const world = createWorld({ brain, agents });
      let moved = 0;
      const dying: Ledger = {
        ...world.ledger,
        append: (request) => {
          if (request.events.some(({ type }) => type === 'push.told') && ++moved === cut) throw new Error('killed');
          return world.ledger.append(request);
        },
      };
      const { run: before } = await play(world, 'worker');
      for (const name of ['worker', 'boss']) {
        const follower = follow(dying, settings);
        await play(world, name);
        await follower.close();
      }
      const last = follow(world.ledger, settings);
      await play(world, 'worker');
      await last.close();
      const wanted: string[] = [];
      for await (const spans of spansOf(world.ledger, { kind: 'since', ms: 0 }, settings))
        wanted.push(...spans.filter(({ attributes }) => attributes['troupe.run_id'] !== before).map(({ spanId }) => spanId));
      const told = ids(collector);
      // Where not even the beginning was written down, the first run was before anybody followed.
      if (cut > 1) expect(new Set(told)).toEqual(new Set(wanted));
      const twice = told.filter((id, index) => told.indexOf(id) !== index);
      const inOne = collector.bodies.some((body) => twice.every((id) => spansIn(body).some(({ spanId }) => spanId === id)));
      expect([inOne, twice.length > 0]).toEqual([true, cut > 1]);
      await world.close();
    }
  });

  it('of the collector, or none at all, touches no run: what was not told is told later', async () => {
    await using collector = await startCollector({ status: 503 });
    const settings = settingsTo(collector);
    const world = createWorld({ brain, agents });
    const first = follow(world.ledger, settings);
    await play(world, 'worker');
    await first.close();
    expect([collector.asked > 0, collector.spans().length]).toEqual([true, 0]);
    expect(first.troubles).toEqual(['it answered 503']);
    collector.answers = [{ status: 200 }];
    const second = follow(world.ledger, settings);
    await second.close();
    expect(collector.spans()).toHaveLength(4);
    expect(await readCursor(world.ledger, settings)).toMatchObject({ spans: 4, refused: 0 });
    await world.close();
  });

  it('of who tells hands the work to the next, who goes on in the middle of a run', async () => {
    await using collector = await startCollector();
    const settings = settingsTo(collector);
    const world = createWorld({ brain, agents: [agent({ name: 'worker', permissions: { act: 'ask' } })] });
    const first = follow(world.ledger, settings);
    const { run, done } = await play(world, 'worker');
    expect(await done).toMatchObject({ kind: 'waiting' });
    await first.close();
    expect(ids(collector)).toHaveLength(1);
    const second = follow(world.ledger, settings);
    const [wait] = await world.engine.waits(run);
    await world.engine.answer(run, wait?.wait ?? '', { kind: 'approved' });
    const resumed = await world.engine.resume(run);
    if (resumed.kind === 'resumed') await resumed.handle.done;
    await second.close();
    const spans = collector.spans();
    expect(spans.map(({ name }) => name)).toEqual([
      ...['chat model', 'troupe.wait', 'execute_tool act', 'chat model', 'invoke_agent worker'],
    ]);
    expect(new Set(ids(collector)).size).toBe(5);
    const { spanId } = spans.at(-1) ?? {};
    expect(spans.slice(0, -1).map(({ parentSpanId }) => parentSpanId)).toEqual(Array(4).fill(spanId));
    await world.close();
  });
});

it('of two that follow, one tells', async () => {
  await using collector = await startCollector();
  const settings = settingsTo(collector);
  const world = createWorld({ brain, agents });
  const standing = handClock();
  const first = follow(world.ledger, settings);
  await play(world, 'worker');
  const second = follow(world.ledger, settings, standing);
  await play(world, 'worker');
  await first.close();
  await second.close();
  expect([ids(collector).length, new Set(ids(collector)).size]).toEqual([8, 8]);
  await world.close();
});
