/** What executors may use up: hard stops, and money that is reserved before it is spent. */
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import { foldCosts, initialCosts } from '../../src/projections/costs.ts';
import { diligent, executing } from '../support/executors/brain-executors.ts';
import {
  bodyOf,
  driven,
  eventsOf,
  type KeptPlay,
  live,
  newPlay,
  type Play,
  payloadsOf,
  RUN,
  worldOf,
} from '../support/executors/executor-play.ts';
import { handClock } from '../support/hand-clock.ts';

const coder = (executor: Omit<NonNullable<AgentDefinition['executor']>, 'name'>, more: Partial<AgentDefinition> = {}) =>
  executing('coder', { executor: { name: 'sample', ...executor }, ...more });

const three = diligent(['silent', 'one'], ['silent', 'two'], ['silent', 'three']);

describe('a hard stop', () => {
  it('comes with the command that is one too many, and is written at once', async () => {
    const kept = newPlay({ agents: [coder({ maxCliCalls: 2 })], brain: three });
    const { end } = await live(kept);
    const error = { code: 'executor_limit', category: 'cli_calls' };
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'failed', error } });
    expect(kept.memory.effects).toEqual(['one', 'two', 'three']);
    const events = await eventsOf(kept);
    const [first] = events.filter(({ event_type: type }) => type === 'task.error');
    expect(first).toMatchObject({ step: 'turn/1/model', payload: { category: 'cli_calls', code: 'executor_limit' } });
    const kinds = events.map(({ event_type: type }) => type);
    expect(kinds.indexOf('task.error')).toBeLessThan(kinds.indexOf('model.failed'));
    expect(kept.memory.ended).toBe(1);
  });

  it('counts the commands of earlier lives', async () => {
    const kept = newPlay({ agents: [coder({ maxCliCalls: 2 })], brain: three, habits: { loads: false } });
    const { appends } = await live(newPlay(kept));
    const second = appends.findIndex((kinds, index) => kinds.includes('executor.result') && index > 4);
    await live(kept, second + 1);
    const { end } = await live(kept);
    expect(end).toMatchObject({ kind: 'ended', result: { error: { code: 'executor_limit' } } });
  });

  it('comes when the time is over, and nobody waits for one that does not heed it', async () => {
    const clock = handClock();
    const kept = newPlay({ agents: [coder({ maxDuration: 60_000 })], brain: () => new Promise<never>(() => undefined) });
    const world = worldOf(kept, { clock });
    const end = driven(world, kept);
    await until(async () => kept.memory.prompts.length > 0);
    clock.advance(60_000);
    await settled();
    clock.advance(60_000);
    expect(await end).toMatchObject({
      kind: 'ended',
      result: { error: { code: 'executor_limit', message: expect.stringContaining('1m') } },
    });
    await world.close();
    expect(await payloadsOf(kept, 'task.error')).toMatchObject([{ category: 'timeout' }, { code: 'executor_limit' }]);
    expect(kept.memory.ended).toBe(1);
  });

  it('comes when its processes use too much memory', async () => {
    const clock = handClock();
    let used = 100;
    const engineOptions = { executorMemory: async () => used };
    const kept = newPlay({
      agents: [coder({ maxMemory: 512 })],
      brain: () => new Promise<never>(() => undefined),
      habits: { pid: 7 },
      engineOptions,
    });
    const world = worldOf(kept, { clock });
    const end = driven(world, kept);
    await until(async () => kept.memory.prompts.length > 0);
    clock.advance(1_000);
    await settled();
    used = 600;
    clock.advance(1_000);
    await settled();
    clock.advance(60_000);
    expect(await end).toMatchObject({ kind: 'ended', result: { error: { code: 'executor_limit' } } });
    await world.close();
    expect((await payloadsOf(kept, 'task.error'))[0]).toMatchObject({ category: 'memory' });
  });

  it('comes when it says that it cost too much', async () => {
    const kept = newPlay({ agents: [coder({ maxUsd: 1 })], brain: three, habits: { says: [0.4, 1.2] } });
    const { end } = await live(kept);
    expect(end).toMatchObject({ kind: 'ended', result: { error: { code: 'executor_limit' } } });
    expect((await payloadsOf(kept, 'task.error'))[0]).toMatchObject({ category: 'cost' });
  });

  it('counts what a prompt took together with what had to be said behind it', async () => {
    const brain = diligent(['silent', 'one'], ['shell', 'two'], ['silent', 'three']);
    const agents = [coder({ maxUsd: 1 }, { permissions: { shell: { two: 'deny' } } })];
    const kept = newPlay({ agents, brain, habits: { refusal: 'cancels', says: [0.7, 0.7] } });
    const { end } = await live(kept);
    expect(kept.memory.prompts).toHaveLength(2);
    expect(end).toMatchObject({ kind: 'ended', result: { error: { code: 'executor_limit', category: 'cost' } } });
    expect((await payloadsOf(kept, 'model.failed')).at(-1)?.cost).toMatchObject({ nanoUsd: 1_400_000_000 });
  });
});

/** Whatever is ready has its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function until(is: () => Promise<boolean>): Promise<void> {
  while (!(await is())) await new Promise((resolve) => setImmediate(resolve));
}

const costs = async (kept: KeptPlay) => (await eventsOf(kept)).reduce(foldCosts, initialCosts()).total;
const budgeted = (play: Partial<Play> & { readonly executor?: Parameters<typeof coder>[0] }) =>
  newPlay({ brain: diligent(), agents: [coder(play.executor ?? { maxUsd: 2 }, { budget: { usd: 5, calls: 3 } })], ...play });

describe('what it costs', () => {
  it('is what it says, and the rest of what was reserved is given back', async () => {
    const kept = budgeted({ habits: { costUsd: 0.25, usage: { inputTokens: 900, outputTokens: 100 } } });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(await payloadsOf(kept, 'budget.reserved')).toMatchObject([
      { amounts: { calls: 1, tokens: 0, nanoUsd: 2_000_000_000 } },
    ]);
    expect(await payloadsOf(kept, 'budget.settled')).toEqual([
      expect.objectContaining({ spent: { calls: 1, tokens: 1_000, nanoUsd: 250_000_000 } }),
    ]);
    expect((await payloadsOf(kept, 'model.response'))[0]?.cost).toEqual({ nanoUsd: 250_000_000, prices: 'executor' });
    expect(await costs(kept)).toMatchObject({ calls: 1, nanoUsd: 250_000_000, unknownCalls: 0 });
  });

  it('is estimated from the price of its model, and marked so', async () => {
    const kept = budgeted({
      executor: { maxUsd: 2, model: 'test/model' },
      habits: { usage: { inputTokens: 10, outputTokens: 5 } },
    });
    await live(kept);
    expect((await payloadsOf(kept, 'model.response'))[0]?.cost).toEqual({ nanoUsd: 20_000, prices: 'test', estimated: true });
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([{ spent: { nanoUsd: 20_000 } }]);
  });

  it('is all that it may be where it says nothing', async () => {
    const kept = budgeted({});
    await live(kept);
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([
      { spent: { calls: 1, nanoUsd: 2_000_000_000 }, assumed: true },
    ]);
    expect(await costs(kept)).toMatchObject({ unknownCalls: 1 });
  });

  it.each<[string, Partial<Play> & { readonly executor?: Parameters<typeof coder>[0] }]>([
    ['a limit stopped it', { executor: { maxUsd: 2, maxCliCalls: 2 }, brain: three }],
    ['it crashed each time', { habits: { falls: () => ({ why: 'crashed', message: 'it ended by itself' }) } }],
    ['it refused', { brain: () => ({ kind: 'failed', error: { kind: 'refused', message: 'No.' } }) }],
  ])('is all that it may be where it says nothing and %s', async (_how, play) => {
    const kept = budgeted(play);
    await live(kept);
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([{ spent: { nanoUsd: 2_000_000_000 }, inDoubt: true }]);
    expect((await payloadsOf(kept, 'model.failed')).at(-1)).toMatchObject({ final: true, inDoubt: true });
    expect(await costs(kept)).toMatchObject({ calls: 1, nanoUsd: 0, unknownCalls: 1 });
  });

  it('is what it said until a limit stopped it', async () => {
    const kept = budgeted({ executor: { maxUsd: 1 }, brain: three, habits: { says: [0.4, 1.2] } });
    await live(kept);
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([{ spent: { nanoUsd: 1_200_000_000 } }]);
    expect(await costs(kept)).toMatchObject({ calls: 1, nanoUsd: 1_200_000_000, unknownCalls: 0 });
  });

  it('is not known when it was cancelled, also where that comes after a crash', async () => {
    const play = { habits: { costUsd: 0.25 }, brain: three };
    const { appends } = await live(budgeted(play));
    const prompted = appends.findIndex((kinds) => kinds.includes('executor.prompted'));
    const kept = budgeted(play);
    await live(kept, prompted + 1);
    const later = worldOf(kept);
    await later.engine.cancel(RUN, 'enough');
    expect(await driven(later, kept)).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    await later.close();
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([{ spent: { nanoUsd: 2_000_000_000 }, inDoubt: true }]);
    expect(await costs(kept)).toMatchObject({ calls: 1, unknownCalls: 1 });
  });

  it('is not known whole where another session took over from one that was lost', async () => {
    const play = { habits: { costUsd: 0.25, loads: false }, brain: three };
    const { appends } = await live(budgeted(play));
    const prompted = appends.findIndex((kinds) => kinds.includes('executor.prompted'));
    const kept = budgeted(play);
    await live(kept, prompted + 1);
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(await payloadsOf(kept, 'budget.settled')).toMatchObject([{ spent: { nanoUsd: 2_000_000_000 }, assumed: true }]);
    expect(await costs(kept)).toMatchObject({ unknownCalls: 1 });
  });

  it('is reserved once for a prompt, however often it is taken up', async () => {
    const play = { habits: { costUsd: 0.25 }, brain: three };
    const { appends } = await live(budgeted(play));
    for (let cut = 0; cut <= appends.length; cut += 1) {
      const kept = budgeted(play);
      await live(kept, cut);
      expect(bodyOf((await live(kept)).end), `cut at ${cut}`).toBe('Done: one, two, three.');
      expect((await payloadsOf(kept, 'budget.reserved')).length, `cut at ${cut}`).toBe(1);
      expect((await payloadsOf(kept, 'budget.settled')).length, `cut at ${cut}`).toBe(1);
    }
  });

  it('does not fit where more is reserved than is left', async () => {
    const kept = newPlay({ brain: diligent(), agents: [coder({ maxUsd: 2 }, { budget: { usd: 1 } })] });
    expect((await live(kept)).end).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    expect(kept.memory.prompts).toEqual([]);
  });

  it('must be bounded under a budget in dollars', async () => {
    const kept = newPlay({ brain: diligent(), agents: [coder({}, { budget: { usd: 1 } })] });
    const world = worldOf(kept);
    await expect(driven(world, kept)).rejects.toThrow(/unknown_price.*executor\.maxUsd/s);
    await world.close();
    const free = newPlay({ brain: diligent(), agents: [coder({}, { budget: { usd: 1, allowUnknownPrices: true } })] });
    expect((await live(free)).end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  });

  it('is not known in tokens, so a budget in tokens is refused, also one with a bound in dollars', async () => {
    const kept = newPlay({ brain: diligent(), agents: [coder({ maxUsd: 1 }, { budget: { tokens: 1_000 } })] });
    const world = worldOf(kept);
    await expect(driven(world, kept)).rejects.toThrow(/unknown_price.*in tokens/s);
    await world.close();
    expect(kept.memory.prompts).toEqual([]);
  });
});
