import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { crashAt } from '../../../test/support/ledger/crash.ts';
import { playsAgain } from '../../../test/support/replayed.ts';
import { agent, calls, createWorld, PENNY_PRICES, says, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { ok } from '../../base/result.ts';
import type { Budget, ModelFailure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type Usage, userText } from '../../events/messages.ts';
import type { Model, ModelOutcome } from '../../models/port.ts';
import { foldBudget, initialBudget } from '../../projections/budget.ts';
import { readAll } from '../record/read-all.ts';
import { counterName } from './budget.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-attempts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = 'run_000000000000attempt' as RunId;
const DEAD_PID = 2 ** 22 + 1;
const WORKING = { name: 'look', input: { name: 'x' } };

/** Waits no longer than it must: the provider says how long, and it is not long. */
const fails = (kind: ModelFailure['kind'], more: Partial<ModelFailure> = {}): ModelOutcome => ({
  kind: 'failed',
  error: { kind, message: kind, retryAfterMs: 1, ...more },
});

function counted(outcome: ModelOutcome, usage: Usage): ModelOutcome {
  return outcome.kind === 'answer' ? { kind: 'answer', answer: { ...outcome.answer, usage } } : outcome;
}

async function drive(world: World, budget?: Budget) {
  const resumed = await world.engine.resume(RUN);
  const going =
    resumed.kind === 'resumed'
      ? resumed
      : await world.engine.start({ agent: 'worker', input: userText('go'), workspace: '.', run: RUN, budget });
  if (!('handle' in going)) throw new Error('not driven');
  const end = await going.handle.done;
  return end.kind === 'ended' ? end.result : undefined;
}

async function eventsOf(world: World): Promise<readonly LedgerEvent[]> {
  const [row] = await world.ledger.runs({ run: RUN });
  return row === undefined ? [] : await readAll(world.ledger, row.session);
}

/** What the ledger says was spent; the counters must say the same. */
async function spentIn(world: World) {
  const use = (await eventsOf(world)).reduce(foldBudget, initialBudget()).get(RUN);
  const { reserved, spent } = use ?? { reserved: undefined, spent: undefined };
  for (const unit of ['calls', 'tokens', 'nanoUsd'] as const)
    expect(await world.ledger.counter(counterName(RUN, unit))).toBe((reserved?.[unit] ?? 0) + (spent?.[unit] ?? 0));
  return { reserved, spent };
}

async function play(brain: WorldOptions['brain'], budget: Budget, more: Partial<WorldOptions> = {}) {
  const world = createWorld({ agents: [agent({ maxTurns: 1_000, maxOutputTokens: 1_000 })], brain, ...more });
  const result = await drive(world, budget);
  const { reserved, spent } = await spentIn(world);
  const events = await eventsOf(world);
  await world.close();
  const settled = events.flatMap((event) => (event.event_type === 'budget.settled' ? [event.payload] : []));
  return { result, reserved, spent, settled, made: world.outside.modelCalls.length, events };
}

describe('an answer', () => {
  it('that nobody has counted costs what was reserved', async () => {
    let call = 0;
    const { result, settled, spent, made } = await play(
      () => counted(calls({ name: 'look', input: { name: `${call++}` } }), {}),
      { tokens: 60_000 },
    );
    expect(result).toMatchObject({ status: 'budget_exhausted' });
    expect(made).toBeGreaterThan(2);
    expect(made).toBeLessThan(60);
    for (const one of settled) expect(one).toMatchObject({ spent: one.reserved, assumed: true });
    expect(spent?.tokens).toBeLessThanOrEqual(60_000);
  });

  it.each<[string, Usage]>([
    ['its input', { outputTokens: 7 }],
    ['its output', { inputTokens: 90 }],
  ])('of which only a part was counted costs the rest as it was reserved: not %s', async (_what, usage) => {
    const { settled } = await play(() => counted(says('Done.'), usage), { tokens: 60_000, usd: 1 });
    const [one] = settled;
    const reservedInput = (one?.reserved.tokens ?? 0) - 1_000;
    const input = usage.inputTokens ?? reservedInput;
    const output = usage.outputTokens ?? 1_000;
    expect(one).toMatchObject({ assumed: true, spent: { tokens: input + output, nanoUsd: 1_000 * input + 2_000 * output } });
  });

  it('whose price is not known any more costs what was reserved', async () => {
    const prices = { ...PENNY_PRICES, cost: (_model: string, usage: Usage) => (usage.inputTokens === 1 ? 1 : undefined) };
    const { settled } = await play(() => says('Done.'), { usd: 1 }, { prices });
    expect(settled).toMatchObject([{ assumed: true, spent: { tokens: 110, nanoUsd: settled[0]?.reserved.nanoUsd } }]);
  });
});

describe('every attempt', () => {
  it('is one call, and the last one of the budget is the last one', async () => {
    const { result, made, spent } = await play(
      (_request, call) => (call % 3 === 0 ? calls(WORKING) : fails('overloaded', { status: 503 })),
      { calls: 10 },
    );
    expect(made).toBe(10);
    expect(result).toMatchObject({ status: 'budget_exhausted', error: { code: 'budget_exhausted' } });
    expect(spent?.calls).toBe(10);
  });

  it('of an outage is free, or is not made when the usual number of them is over', async () => {
    const away = fails('overloaded', { status: 503 });
    const brain =
      (failure: ModelOutcome): WorldOptions['brain'] =>
      (_request, call) =>
        call <= 8 ? failure : says('Done.');
    const waited = await play(brain(away), { tokens: 60_000 });
    expect(waited).toMatchObject({ made: 9, result: { status: 'completed' } });
    expect(waited.settled.slice(0, 8).map(({ spent }) => spent.tokens)).toEqual(Array(8).fill(0));
    // It may have cost something each time, or each is one of those that are counted.
    expect(await play(brain(fails('timeout')), { tokens: 1_000_000 })).toMatchObject({ made: 6 });
    expect(await play(brain(away), { calls: 100 })).toMatchObject({ made: 6 });
    const told = await play(brain(away), { tokens: 60_000 }, { agents: [agent({ maxRetries: 5 })] });
    expect(told).toMatchObject({ made: 6 });
    const both = await play(brain(away), { tokens: 60_000 }, { agents: [agent({ maxRetries: 0, outagePatience: 60_000 })] });
    expect(both).toMatchObject({ made: 9, result: { status: 'completed' } });
  });

  it('of a model that never answers in time costs what was reserved', async () => {
    const { result, made, settled } = await play(
      () => fails('timeout'),
      { tokens: 8_000 },
      {
        agents: [agent({ maxRetries: 50, maxOutputTokens: 1_000 })],
      },
    );
    expect(result).toMatchObject({ status: 'budget_exhausted' });
    expect(made).toBeLessThan(8);
    for (const one of settled) expect(one).toMatchObject({ inDoubt: true, spent: one.reserved });
  });

  it.each<[string, ModelOutcome, 'nothing' | 'all']>([
    ['a refused key', fails('auth', { status: 401 }), 'nothing'],
    ['a rate limit', fails('rate_limited', { status: 429 }), 'nothing'],
    ['a rate limit in the middle of an answer', fails('rate_limited', { begun: true }), 'all'],
    ['a provider that turned it away', fails('overloaded', { status: 529 }), 'nothing'],
    ['a gateway that gave up', fails('overloaded', { status: 504 }), 'all'],
    ['a connection that was refused', fails('network', { unsent: true }), 'nothing'],
    ['a connection that broke', fails('network'), 'all'],
    ['a request that is too long', fails('context_overflow', { status: 400 }), 'nothing'],
    ['an answer that cannot be read', fails('bad_response'), 'all'],
    ['a content filter', fails('refused'), 'all'],
    ['a time-out', fails('timeout'), 'all'],
  ])('that failed is settled by how it failed: %s', async (_name, outcome, cost) => {
    const { settled } = await play(() => outcome, { tokens: 60_000 }, { agents: [agent({ maxRetries: 0 })] });
    const [one] = settled;
    expect(one?.spent).toEqual(cost === 'all' ? one?.reserved : { calls: 1, tokens: 0, nanoUsd: 0 });
    expect(one?.inDoubt).toBe(cost === 'all' ? true : undefined);
  });

  it('is reserved at the price of the model that is asked', async () => {
    const named = (id: string): Model => ({
      id,
      account: id,
      ask: async () => (id === 'test/cheap' ? fails('overloaded', { status: 503 }) : says('Done.')),
    });
    const prices = {
      ...PENNY_PRICES,
      worstCase: (model: string, input: number, output: number) => (model === 'test/dear' ? 9 : 1) * (input + output),
    };
    const { events } = await play(
      () => says(''),
      { usd: 1 },
      {
        agents: [agent({ models: ['test/cheap', 'test/dear'] })],
        prices,
        engineOptions: { models: { open: async (name) => ok(named(name)) } },
      },
    );
    const [cheap, dear] = events.flatMap((event) => (event.event_type === 'budget.reserved' ? [event.payload.amounts] : []));
    expect(cheap?.nanoUsd).toBe(cheap?.tokens);
    expect(dear?.nanoUsd).toBe(9 * (dear?.tokens ?? 0));
  });

  it('is counted wherever the power goes', async () => {
    const brain: WorldOptions['brain'] = (_request, call) => (call % 3 === 0 ? says('Done.') : fails('timeout'));
    const agents = [agent({ maxOutputTokens: 1_000 })];
    for (let cut = 1, last = 100; cut <= last; cut += 1) {
      const path = join(folder, `cut-${cut}.db`);
      const outside = { modelCalls: [], effects: [] };
      const dying = createWorld({
        path,
        outside,
        brain,
        agents,
        owner: { pid: DEAD_PID },
        wrapLedger: (inner) => crashAt(inner, cut).ledger,
      });
      if ((await drive(dying, { tokens: 1_000_000 }).catch(() => undefined)) !== undefined) last = cut;
      await dying.ledger.close();
      const world = createWorld({ path, outside, brain, agents });
      const again = await world.engine.resume(RUN);
      if (again.kind === 'resumed') await again.handle.done;
      const { reserved, spent } = await spentIn(world);
      await world.close();
      expect(reserved).toEqual({ calls: 0, tokens: 0, nanoUsd: 0 });
      // An attempt that was reserved and not made before the power went counts too; none that was made is missing.
      expect(spent?.calls).toBeGreaterThanOrEqual(world.outside.modelCalls.length);
      expect(spent?.calls).toBeLessThanOrEqual(world.outside.modelCalls.length + 1);
    }
  });
});

describe('what is under way', () => {
  it('is only lent: whoever finds no room beside it waits until it is settled', async () => {
    const workers = ['ana', 'ben', 'cleo', 'dan'];
    const group = { mode: 'broadcast' as const, workers };
    const agents = [
      agent({ tools: [], group, budget: { tokens: 3_000 } }),
      ...workers.map((name) => agent({ name, tools: [], maxOutputTokens: 1_000 })),
    ];
    let busy = 0;
    let most = 0;
    const { result, settled } = await play(
      async () => {
        busy += 1;
        most = Math.max(most, busy);
        await new Promise((resolve) => setImmediate(resolve));
        busy -= 1;
        return says('Done.');
      },
      {},
      { agents },
    );
    expect(result).toMatchObject({ status: 'completed' });
    expect(settled).toHaveLength(4);
    expect(most).toBeLessThan(4);
  });

  it('keeps nobody who is cancelled: it ends while the call that takes up the room goes on', async () => {
    const group = { mode: 'broadcast' as const, workers: ['ana', 'ben'] };
    const agents = [
      agent({ tools: [], group, budget: { tokens: 1_500 } }),
      ...group.workers.map((name) => agent({ name, tools: [], maxOutputTokens: 1_000 })),
    ];
    const asked: string[] = [];
    const answer = Promise.withResolvers<void>();
    const world = createWorld({
      agents,
      brain: async (request) => {
        asked.push(request.agent ?? '');
        await answer.promise;
        return says('Done.');
      },
    });
    const started = await world.engine.start({ agent: 'worker', input: userText('go'), workspace: '.', run: RUN });
    if (started.kind !== 'started') throw new Error(started.kind);
    const rows = () => world.ledger.runs({ session: started.handle.session });
    await expect.poll(async () => [asked.length, (await rows()).length]).toEqual([1, 3]);
    const waiting = (await rows()).find((row) => group.workers.includes(row.agent) && row.agent !== asked[0]);
    await world.engine.cancel(waiting?.run as RunId, 'not needed');
    await expect.poll(async () => (await rows()).find(({ run }) => run === waiting?.run)?.state).toBe('cancelled');
    expect(asked).toHaveLength(1);
    answer.resolve();
    await started.handle.done;
    await playsAgain(world.ledger);
    await world.close();
  });
});
