/** Engine conformance: runs below runs, what they may spend together, and calls that may or may not have happened. */
import { expect } from 'vitest';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { RunId } from '../../../src/base/ids.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import {
  answered,
  type EngineCase,
  type EngineWorlds,
  resultOf,
  resumedResult,
  start,
  statesOf,
  untilStopped,
} from './checks.ts';

const boss = (changes = {}) => agent({ name: 'worker', agents: ['helper'], ...changes });
const helper = agent({ name: 'helper', tools: [] });
const help = (prompt: string) => ({ name: 'helper', input: { prompt, reason: 'need' } });

/** Asks for so many helpers at once, then says what they answered. */
const delegates =
  (count: number, helped: Brain): Brain =>
  (request, call) => {
    if (request.agent === 'helper') return helped(request, call);
    if (turnOf(request) > 1) return says(JSON.stringify(request.messages.at(-1)));
    return calls(...Array.from({ length: count }, (_, index) => ({ ...help(`Part ${index}`), id: `help${index}` })));
  };

export const treeCases: readonly EngineCase[] = [
  {
    name: 'children answer their parent',
    async play(worlds) {
      const world = await worlds.create({ agents: [boss(), helper], brain: delegates(3, () => says('Helped.')) });
      const handle = await start(world);
      expect((await resultOf(handle)).report.body.split('Helped.')).toHaveLength(4);
      expect(await statesOf(world, handle)).toEqual([...Array(3).fill('helper completed'), 'worker completed']);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'a child that was answered goes on at once, while one works and another waits',
    async play(worlds) {
      const asks = agent({ name: 'helper', permissions: { act: 'ask' } });
      const part = (request: Parameters<Brain>[0]): string => /Part \d/.exec(JSON.stringify(request.messages))?.[0] ?? '';
      const went: string[] = [];
      const waits = async () => (await world.engine.waits(handle.run)).map(({ run, wait }) => ({ run, wait }));
      const helped: Brain = async (request) => {
        if (part(request) !== 'Part 2') {
          if (turnOf(request) === 1) return calls({ name: 'act' });
          went.push(part(request));
          return reports('Helped.');
        }
        // It works until the first that was answered has gone on; the second is still waiting then.
        await expect.poll(waits).toHaveLength(2);
        for (const left of [1, 0]) {
          const [open] = await waits();
          if (open !== undefined) await world.engine.answer(open.run, open.wait, { kind: 'approved' });
          await expect.poll(() => went.length).toBe(2 - left);
          expect(await waits()).toHaveLength(left);
        }
        return reports('Helped.');
      };
      const world = await worlds.create({ agents: [boss(), asks], brain: delegates(3, helped) });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
      expect(went.toSorted()).toEqual(['Part 0', 'Part 1']);
    },
  },
  {
    name: 'cancelling reaches every descendant',
    async play(worlds) {
      const world = await worlds.create({ agents: [boss(), helper], brain: delegates(2, untilStopped) });
      const handle = await start(world);
      await expect.poll(() => world.outside.modelCalls.length).toBe(3);
      await world.engine.cancel(handle.run, 'enough');
      expect(await resultOf(handle)).toMatchObject({ status: 'cancelled' });
      expect(await statesOf(world, handle)).toEqual(['helper cancelled', 'helper cancelled', 'worker cancelled']);
    },
  },
  {
    name: 'cancelling a child leaves its parent at work',
    async play(worlds) {
      const world = await worlds.create({ agents: [boss(), helper], brain: delegates(1, untilStopped) });
      const handle = await start(world);
      await expect.poll(() => world.outside.modelCalls.length).toBe(2);
      const child = (await world.ledger.runs({ session: handle.session })).find(({ agent }) => agent === 'helper');
      await world.engine.cancel(child?.run ?? handle.run, 'not needed');
      expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['helper cancelled', 'worker completed']);
    },
  },
  {
    name: 'a child that waits for a person holds its parent up, and only then',
    async play(worlds) {
      const asking = agent({ name: 'helper', tools: ['act'], permissions: { act: 'ask' } });
      const helped: Brain = (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : says('Helped.'));
      const world = await worlds.create({ agents: [boss(), asking], brain: delegates(1, helped) });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'waiting', waits: [{ agent: 'helper', kind: 'permission' }] });
      expect((await answered(world, handle, { kind: 'approved' })).report.body).toContain('Helped.');
      expect(world.outside.effects).toEqual(['act 0']);
      expect(world.outside.modelCalls).toHaveLength(4);
    },
  },
];

async function spend(worlds: EngineWorlds, budget: AgentDefinition['budget'], children: number) {
  const world = await worlds.create({ agents: [boss({ budget }), helper], brain: delegates(children, () => says('Helped.')) });
  const handle = await start(world);
  const result = await resultOf(handle);
  return { world, handle, result, made: world.outside.modelCalls.length };
}

export const budgetCases: readonly EngineCase[] = [
  {
    name: 'children share what the parent has',
    async play(worlds) {
      const { world, handle, made } = await spend(worlds, { calls: 3 }, 4);
      expect(made).toBe(3);
      const states = (await statesOf(world, handle)).filter((state) => state.startsWith('helper'));
      expect(states.filter((state) => state === 'helper completed')).toHaveLength(2);
      expect(states.filter((state) => state === 'helper budget_exhausted')).toHaveLength(2);
    },
  },
  ...[{ calls: 0 }, { usd: 0 }, { tokens: 0 }].map((budget) => ({
    name: `zero means zero: ${Object.keys(budget)[0]}`,
    async play(worlds: EngineWorlds) {
      expect(await spend(worlds, budget, 1)).toMatchObject({ result: { status: 'budget_exhausted' }, made: 0 });
    },
  })),
  {
    name: 'a call is reserved before it is made, and settled with what it cost',
    async play(worlds) {
      const { world, handle } = await spend(worlds, { usd: 1 }, 1);
      const events = await readAll(world.ledger, handle.session);
      const types = events.map((event) => event.event_type);
      expect(types.indexOf('budget.reserved')).toBeLessThan(types.indexOf('model.response'));
      const settled = events.find((event) => event.event_type === 'budget.settled');
      expect(settled?.payload).toMatchObject({ spent: { calls: 1, tokens: 110, nanoUsd: 120_000 } });
    },
  },
  {
    name: 'wall time ends a run and those below it with what there is',
    async play(worlds) {
      const wall = [boss({ budget: { wall: 300 } }), helper];
      const world = await worlds.create({ agents: wall, brain: delegates(1, untilStopped) });
      const handle = await start(world);
      const result = await resultOf(handle);
      expect(result).toMatchObject({ status: 'budget_exhausted', error: { message: expect.stringContaining('wall') } });
      expect((await statesOf(world, handle)).some((state) => state.endsWith('running'))).toBe(false);
    },
  },
];

/** A ledger that loses power when somebody wants to write an event of this type. */
function dyingAt(type: string): (inner: Ledger) => Ledger {
  let dead = false;
  return (inner) => ({
    ...inner,
    append: async (request) => {
      dead ||= request.events.some((event) => event.type === type);
      if (dead) throw new Error('the power is gone');
      return await inner.append(request);
    },
  });
}

const RUN = 'run_00000000000indoubt00' as RunId;

/** `act` has happened, but nobody has written that down. */
async function inDoubt(worlds: EngineWorlds, whenInDoubt: 'tell' | 'ask'): Promise<World> {
  const outside = { modelCalls: [] as string[], effects: [] as string[] };
  const brain: Brain = (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.'));
  const options = { outside, brain, engineOptions: { whenInDoubt } };
  const dying = await worlds.create({ ...options, wrapLedger: dyingAt('tool.result') });
  void (await start(dying, { run: RUN })).done;
  await expect.poll(() => outside.effects).toEqual(['act 0']);
  await dying.close();
  return await worlds.create(options);
}

export const doubtCases: readonly EngineCase[] = [
  {
    name: 'a call in doubt is told to the model and not repeated',
    async play(worlds) {
      const world = await inDoubt(worlds, 'tell');
      expect(await resumedResult(world, RUN)).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toEqual(['act 0']);
    },
  },
  {
    name: 'a call in doubt becomes a question where that is the policy',
    async play(worlds) {
      const world = await inDoubt(worlds, 'ask');
      const resumed = await world.engine.resume(RUN);
      const handle = 'handle' in resumed ? resumed.handle : await start(world, { run: RUN });
      const end = await handle.done;
      expect(end).toMatchObject({ waits: [{ kind: 'question', question: expect.stringContaining('may or may not') }] });
      expect(await answered(world, handle, { kind: 'text', text: 'again' })).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toEqual(['act 0', 'act 0']);
    },
  },
];
