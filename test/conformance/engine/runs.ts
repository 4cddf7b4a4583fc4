/** Engine conformance: single runs, their waits and what is done to them from outside. */
import { expect } from 'vitest';
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import { rememberedIn } from '../../../src/engine/forget.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import { userText } from '../../../src/events/messages.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../support/world.ts';
import {
  answered,
  type EngineCase,
  question,
  resultOf,
  resumedResult,
  start,
  statesOf,
  transcript,
  typesIn,
  untilStopped,
} from './checks.ts';

const RUN = 'run_0000000000conforming' as RunId;

/**
 * A signal reaches whoever works on the run by a notification, some turns after it was taken. Until then it goes on with what
 * changes nothing, and never with the same.
 */
const untilHeard = (request: Parameters<Brain>[0]) => calls({ name: 'look', input: { name: `turn ${turnOf(request)}` } });
const MANY_TURNS = 100_000;

export const runCases: readonly EngineCase[] = [
  {
    name: 'a run ends with a plain answer',
    async play(worlds) {
      const world = await worlds.create({ brain: () => says('Hello.') });
      const result = await resultOf(await start(world));
      expect(result).toMatchObject({ status: 'completed', report: { body: 'Hello.' }, finalAgent: 'worker' });
    },
  },
  {
    name: 'a run uses tools, answers in call order and reports',
    async play(worlds) {
      const world = await worlds.create({
        brain: (asked) => (turnOf(asked) === 1 ? calls({ name: 'look' }, { name: 'act' }, { name: 'look' }) : reports('Done.')),
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'completed', report: { body: 'Done.' } });
      // Where others work on it, it brings along what they need.
      const types = (await typesIn(world, handle)).filter((type) => type !== 'session.brought');
      expect(types.slice(0, 5)).toEqual(['session.started', 'run.started', 'session.config', 'model.request', 'model.response']);
      expect(types.filter((type) => type === 'tool.result')).toHaveLength(3);
      expect(types.at(-1)).toBe('run.ended');
      const [, , results] = await transcript(world, handle);
      expect(results?.content.map((part) => ('id' in part ? part.id : ''))).toEqual(['c0-look', 'c1-act', 'c2-look']);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'a session goes on with the conversation, without storing it again',
    async play(worlds) {
      const seen: number[] = [];
      const world = await worlds.create({
        brain: (asked) => {
          seen.push(asked.messages.length);
          return says(`Answer ${seen.length}.`);
        },
      });
      const first = await start(world);
      await resultOf(first);
      const second = await start(world, { session: first.session, input: userText('And then?') });
      await resultOf(second);
      expect(seen).toEqual([1, 3]);
      const roles = (await transcript(world, second)).map((message) => message.role);
      expect(roles).toEqual(['user', 'assistant', 'user', 'assistant']);
      const requests = (await readAll(world.ledger, first.session)).filter((event) => event.event_type === 'model.request');
      expect(requests.at(-1)?.payload).toMatchObject({ added: [{ step: 'input' }] });
    },
  },
  {
    name: 'a busy session refuses a second run by name',
    async play(worlds) {
      const world = await worlds.create({
        brain: () => calls({ name: 'ask', input: { question: 'Which?' } }),
        tools: [question],
        agents: [agent({ tools: ['ask'] })],
      });
      const first = await start(world);
      await first.done;
      const second = await world.engine.start({ agent: 'worker', input: userText('Hi'), workspace: '.', session: first.session });
      const error = { code: 'session_busy', message: expect.stringContaining(first.run) };
      expect(second).toMatchObject({ kind: 'refused', error });
    },
  },
  {
    name: 'a run starts once however often it is asked with the same id',
    async play(worlds) {
      const world = await worlds.create({ brain: () => says('Once.') });
      const first = await start(world, { run: RUN });
      const meanwhile = await start(world, { run: RUN });
      const ends = [await resultOf(first), await resultOf(meanwhile), await resultOf(await start(world, { run: RUN }))];
      expect(ends.map(({ report }) => report.body)).toEqual(['Once.', 'Once.', 'Once.']);
      expect(world.outside.modelCalls).toHaveLength(1);
    },
  },
  {
    name: 'an agent that nobody knows is refused before anything is written',
    async play(worlds) {
      const world = await worlds.create({ brain: () => says('') });
      const refused = await world.engine.start({ agent: 'nobody', input: userText('Hi'), workspace: '.', run: RUN });
      expect(refused).toMatchObject({ kind: 'refused', error: { message: expect.stringContaining('nobody') } });
      expect(await world.ledger.runs({ run: RUN })).toEqual([]);
    },
  },
];

const asks: Brain = (asked) =>
  turnOf(asked) === 1 ? calls({ name: 'look' }, { name: 'act' }, { name: 'look' }) : reports('Done.');
const careful = [agent({ permissions: { act: 'ask' } })];

export const waitCases: readonly EngineCase[] = [
  {
    name: 'a run stops for a permission, with what stands before it done, and goes on with the answer',
    async play(worlds) {
      const world = await worlds.create({ brain: asks, agents: careful });
      const handle = await start(world);
      const wait = { kind: 'permission', wait: 'turn/1/tool/1/approval', agent: 'worker' };
      expect(await handle.done).toMatchObject({ kind: 'waiting', waits: [wait] });
      expect(await world.engine.waits(handle.run)).toMatchObject([wait]);
      expect(world.outside.effects).toEqual(['look 0']);
      expect(await answered(world, handle, { kind: 'approved' })).toMatchObject({ status: 'completed' });
      expect(world.outside).toMatchObject({ effects: ['look 0', 'act 1', 'look 2'], modelCalls: { length: 2 } });
    },
  },
  {
    name: 'the model is told when the answer is no',
    async play(worlds) {
      const world = await worlds.create({ brain: asks, agents: careful });
      const handle = await start(world);
      await answered(world, handle, { kind: 'denied', note: 'not today' });
      expect(world.outside.effects).toEqual(['look 0', 'look 2']);
      expect(JSON.stringify(await transcript(world, handle))).toContain('not today');
    },
  },
  {
    name: 'an approval is remembered for the rest of the session',
    async play(worlds) {
      const brain: Brain = (asked) => (turnOf(asked) < 3 ? calls({ name: 'act' }) : reports('Done.'));
      const world = await worlds.create({ brain, agents: careful });
      const result = await answered(world, await start(world), { kind: 'approved', remember: true });
      expect(result).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toEqual(['act 0', 'act 0']);
    },
  },
  {
    name: 'what was remembered can be taken back: it is asked for again, and remembered again when somebody says so',
    async play(worlds) {
      const brain: Brain = (asked) => (turnOf(asked) % 3 === 0 ? reports('Done.') : calls({ name: 'act' }));
      const world = await worlds.create({ brain, agents: careful });
      const first = await start(world);
      expect(await world.engine.forget(first.session, 'act')).toEqual({ kind: 'forgotten', rules: [] });
      await answered(world, first, { kind: 'approved', remember: true });
      expect(await rememberedIn(world.ledger, first.session)).toEqual([{ tool: 'act' }]);
      expect(await world.engine.forget(first.session, 'other')).toEqual({ kind: 'forgotten', rules: [] });
      expect(await world.engine.forget(first.session, 'act')).toEqual({ kind: 'forgotten', rules: ['act'] });
      expect(await rememberedIn(world.ledger, first.session)).toEqual([]);
      // The next run of the session is asked, and both of its calls are made by its answer.
      const second = await start(world, { session: first.session });
      await answered(world, second, { kind: 'approved', remember: true });
      expect(await rememberedIn(world.ledger, first.session)).toEqual([{ tool: 'act' }]);
      const third = await start(world, { session: first.session });
      expect(await resultOf(third)).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toHaveLength(6);
      expect(await world.engine.forget(first.session)).toEqual({ kind: 'forgotten', rules: ['act'] });
      expect((await (await start(world, { session: first.session })).done).kind).toBe('waiting');
      expect(await world.engine.forget('ses_00000000000000nobody' as SessionId)).toEqual({ kind: 'unknown' });
      expect((await world.ledger.verify()).kind).toBe('sound');
    },
  },
  {
    name: 'what is taken back while a run is at work holds from its next call on, and when it is taken up again',
    async play(worlds) {
      let session: SessionId | undefined;
      // The model's third turn is when somebody takes it back, just before the call.
      const brain: Brain = async (asked) => {
        if (turnOf(asked) === 3 && session !== undefined) await world.engine.forget(session, 'act');
        return turnOf(asked) < 5 ? calls({ name: 'act' }) : reports('Done.');
      };
      const world = await worlds.create({ brain, agents: careful });
      const handle = await start(world);
      session = handle.session;
      expect((await handle.done).kind).toBe('waiting');
      for (const wait of await world.engine.waits(handle.run))
        await world.engine.answer(wait.run, wait.wait, { kind: 'approved', remember: true });
      const taken = await world.engine.resume(handle.run);
      if (taken.kind !== 'resumed') throw new Error(taken.kind);
      expect((await taken.handle.done).kind).toBe('waiting');
      expect(world.outside.effects).toHaveLength(2);
      expect(await rememberedIn(world.ledger, session)).toEqual([]);
      // Approved once only: the call after it is asked for as well.
      for (const wait of await world.engine.waits(handle.run))
        await world.engine.answer(wait.run, wait.wait, { kind: 'approved' });
      const again = await world.engine.resume(handle.run);
      if (again.kind !== 'resumed') throw new Error(again.kind);
      expect((await again.handle.done).kind).toBe('waiting');
      expect(world.outside.effects).toHaveLength(3);
    },
  },
  {
    name: 'the answer to a question is its result',
    async play(worlds) {
      const world = await worlds.create({
        brain: (asked) => (turnOf(asked) === 1 ? calls({ name: 'ask', input: { question: 'Which one?' } }) : reports('Done.')),
        tools: [question],
        agents: [agent({ tools: ['ask'] })],
      });
      const handle = await start(world);
      await answered(world, handle, { kind: 'text', text: 'the blue one' });
      expect(JSON.stringify(await transcript(world, handle))).toContain('the blue one');
    },
  },
  {
    name: 'a run can be cancelled while it waits',
    async play(worlds) {
      const world = await worlds.create({ brain: asks, agents: careful });
      const handle = await start(world);
      await handle.done;
      expect(await world.engine.cancel(handle.run, 'changed my mind')).toMatchObject({ kind: 'accepted' });
      await expect.poll(async () => (await world.ledger.runs({ run: handle.run }))[0]?.state).toBe('cancelled');
      expect(await resumedResult(world, handle.run)).toMatchObject({ status: 'cancelled' });
      expect(await world.engine.cancel(handle.run, 'again')).toEqual({ kind: 'ended' });
      expect(world.outside.effects).toEqual(['look 0']);
    },
  },
];

export const signalCases: readonly EngineCase[] = [
  {
    name: 'a run is cancelled in the middle of a model call',
    async play(worlds) {
      const world = await worlds.create({ brain: untilStopped });
      const handle = await start(world);
      await expect.poll(() => world.outside.modelCalls.length).toBe(1);
      await world.engine.cancel(handle.run, 'enough');
      expect(await resultOf(handle)).toMatchObject({ status: 'cancelled', report: { synthetic: true } });
    },
  },
  {
    name: 'a run pauses after what is under way and resumes',
    async play(worlds) {
      const brain: Brain = async (asked) => {
        if (paused) return reports('Done.');
        if (turnOf(asked) === 1) await world.engine.pause(RUN, 'lunch');
        return untilHeard(asked);
      };
      let paused = false;
      const world = await worlds.create({ brain, agents: [agent({ maxTurns: MANY_TURNS })] });
      const handle = await start(world, { run: RUN });
      expect(await handle.done).toEqual({ kind: 'paused', reason: 'lunch' });
      paused = true;
      const { length } = world.outside.modelCalls;
      await expect.poll(() => world.ledger.runs({ run: RUN })).toMatchObject([{ state: 'paused', owner: null }]);
      expect(await resumedResult(world, RUN)).toMatchObject({ status: 'completed' });
      expect(world.outside.modelCalls).toHaveLength(length + 1);
    },
  },
  {
    name: 'a paused run can be cancelled, with those below it',
    async play(worlds) {
      const brain: Brain = async (asked) => {
        if (asked.agent === 'worker') return calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } });
        if (turnOf(asked) === 1) await world.engine.pause(RUN, 'lunch');
        return untilHeard(asked);
      };
      const agents = [agent({ agents: ['helper'] }), agent({ name: 'helper', maxTurns: MANY_TURNS })];
      const world = await worlds.create({ brain, agents });
      const handle = await start(world, { run: RUN });
      expect(await handle.done).toEqual({ kind: 'paused', reason: 'lunch' });
      const { length } = world.outside.modelCalls;
      await world.engine.cancel(RUN, 'not at all');
      await expect.poll(() => statesOf(world, handle)).toEqual(['helper cancelled', 'worker cancelled']);
      expect(world.outside.modelCalls).toHaveLength(length);
    },
  },
  {
    name: 'a run below a paused one can be cancelled alone, and the rest stays paused',
    async play(worlds) {
      const brain: Brain = async (asked) => {
        if (asked.agent === 'worker') {
          const first = turnOf(asked) === 1;
          return first ? calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } }) : reports('Without help.');
        }
        await world.engine.pause(RUN, 'lunch');
        return calls({ name: 'look' });
      };
      const agents = [agent({ agents: ['helper'] }), agent({ name: 'helper' })];
      const world = await worlds.create({ brain, agents });
      const handle = await start(world, { run: RUN });
      expect(await handle.done).toEqual({ kind: 'paused', reason: 'lunch' });
      const child = (await world.ledger.runs({ session: handle.session })).find((row) => row.agent === 'helper');
      const asked = world.outside.modelCalls.length;
      expect(await world.engine.cancel(child?.run as RunId, 'not this')).toMatchObject({ kind: 'accepted' });
      await expect.poll(() => statesOf(world, handle)).toEqual(['helper cancelled', 'worker paused']);
      expect(world.outside.modelCalls).toHaveLength(asked);
      expect(await resumedResult(world, RUN)).toMatchObject({ report: { body: 'Without help.' } });
      expect(world.outside.modelCalls).toHaveLength(asked + 1);
    },
  },
  {
    name: 'a call that is cut off when the engine is closed is made again by the next',
    async play(worlds) {
      const first = await worlds.create({ brain: untilStopped });
      const handle = await start(first);
      await expect.poll(() => first.outside.modelCalls.length).toBe(1);
      await first.close();
      expect(await handle.done).toMatchObject({ kind: 'interrupted' });
      const next = await worlds.create({ brain: () => says('Back again.') });
      expect(await resumedResult(next, handle.run)).toMatchObject({ status: 'completed', report: { body: 'Back again.' } });
    },
  },
];
