/** Engine conformance: what a person says to a run at work, whoever works on it. */
import { expect } from 'vitest';
import type { RunId } from '../../../src/base/ids.ts';
import { limits } from '../../../src/base/limits.ts';
import type { RunHandle } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import { answered, type EngineCase, resultOf, resumedResult, start, typesIn } from './checks.ts';

const WORDS = 'Leave the tests alone.';
const ADA = { by: 'ada@desk', where: 'command' } as const;

const runOf = ({ idempotencyKey }: ModelRequest): RunId => idempotencyKey.split('/')[0] as RunId;
/** How often the request has it. */
const timesIn = ({ messages }: ModelRequest): number => JSON.stringify(messages).split(WORDS).length - 1;
const look = (turn: number) => calls({ name: 'look', input: { name: String(turn) } });
const patient = (changes = {}) => agent({ maxTurns: 60, ...changes });

/** Looks until it hears it, and says in how many places it found it then. */
const untilHeard: Brain = (request) => {
  const times = timesIn(request);
  return times === 0 ? look(turnOf(request)) : reports(`heard ${times} time`);
};

async function receiptsIn(world: World, { session }: RunHandle): Promise<(string | undefined)[]> {
  const events = await readAll(world.ledger, session);
  return events.flatMap((event) => (event.event_type === 'message.included' ? [event.payload.reader] : []));
}

export const sentCases: readonly EngineCase[] = [
  {
    name: 'what a person says is heard before the next turn, once, as the word of the user',
    async play(worlds) {
      let sent = false;
      let prompt = '';
      const world = await worlds.create({
        agents: [patient()],
        brain: async (request, call) => {
          if (!sent) expect(await world.engine.send(runOf(request), WORDS, ADA)).toMatchObject({ kind: 'accepted', live: true });
          sent = true;
          if (timesIn(request) > 0) prompt = JSON.stringify(request.messages);
          return await untilHeard(request, call);
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'completed', report: { body: 'heard 1 time' } });
      expect(prompt).toMatch(/MESSAGE FROM THE USER.*ada@desk/);
      expect(await receiptsIn(world, handle)).toEqual([handle.run]);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'what a person says while the run makes its report is heard before it ends',
    async play(worlds) {
      let sent = false;
      const world = await worlds.create({
        agents: [patient({ tools: [] })],
        brain: async (request) => {
          if (!sent) await world.engine.send(runOf(request), WORDS, ADA);
          sent = true;
          return says(timesIn(request) > 0 ? 'With it.' : 'Without it.');
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ report: { body: 'With it.' } });
      expect(await receiptsIn(world, handle)).toHaveLength(1);
    },
  },
  {
    name: 'of much that was said at once a turn hears no more than one message may hold, and the next turn the rest',
    async play(worlds) {
      const long = (word: string): string => word.repeat(Math.ceil((limits.messageBytes * 0.6) / word.length));
      let sent = false;
      const heard: string[] = [];
      const world = await worlds.create({
        agents: [patient()],
        brain: async (request) => {
          const said = JSON.stringify(request.messages);
          heard.push(['alpha', 'beta', 'short'].filter((word) => said.includes(`${word} `)).join(' '));
          if (!sent) for (const word of ['alpha ', 'beta ']) await world.engine.send(runOf(request), long(word), ADA);
          if (!sent) await world.engine.send(runOf(request), 'short words', ADA);
          sent = true;
          return said.includes('short words') ? reports('Done.') : look(turnOf(request));
        },
      });
      expect(await resultOf(await start(world))).toMatchObject({ status: 'completed' });
      expect(heard).toEqual(['', 'alpha', 'alpha beta short']);
    },
  },
  {
    name: 'what a person says to a child is heard by the child',
    async play(worlds) {
      let sent = false;
      const heard = new Set<string>();
      const world = await worlds.create({
        agents: [patient({ agents: ['helper'] }), patient({ name: 'helper' })],
        brain: async (request, call) => {
          if (timesIn(request) > 0) heard.add(request.agent ?? '');
          if (request.agent === 'worker')
            return turnOf(request) === 1
              ? calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } })
              : reports('Done.');
          if (!sent) await world.engine.send(runOf(request), WORDS, ADA);
          sent = true;
          return await untilHeard(request, call);
        },
      });
      expect(await resultOf(await start(world))).toMatchObject({ status: 'completed' });
      expect([...heard]).toEqual(['helper']);
    },
  },
  {
    name: 'what a person says to a run that has passed its work on is heard by whoever answers in its place',
    async play(worlds) {
      let sent = false;
      const heard = new Set<string>();
      const world = await worlds.create({
        agents: [patient({ tools: [], handoff: { to: 'helper', include: 'report' } }), patient({ name: 'helper' })],
        brain: async (request, call) => {
          if (timesIn(request) > 0) heard.add(request.agent ?? '');
          if (request.agent === 'worker') return says('Over to you.');
          if (!sent) await world.engine.send(handle.run, WORDS, ADA);
          sent = true;
          return await untilHeard(request, call);
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'completed', report: { body: 'heard 1 time' } });
      expect([...heard]).toEqual(['helper']);
      expect(await receiptsIn(world, handle)).toHaveLength(1);
    },
  },
  {
    name: 'what a person says to a run that waits is kept, and heard when it goes on',
    async play(worlds) {
      const world = await worlds.create({
        agents: [patient({ permissions: { act: 'ask' } })],
        brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports(`heard ${timesIn(request)} time`)),
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'waiting' });
      expect(await world.engine.send(handle.run, WORDS, ADA)).toMatchObject({ kind: 'accepted' });
      expect(await world.engine.waits(handle.run)).toHaveLength(1);
      expect((await answered(world, handle, { kind: 'approved' })).report.body).toBe('heard 1 time');
    },
  },
  {
    name: 'what a person says to a run that is paused is kept, and the run stays paused until it is resumed',
    async play(worlds) {
      const world = await worlds.create({
        agents: [patient()],
        brain: async (request) => {
          if (turnOf(request) > 1) return reports(`heard ${timesIn(request)} time`);
          await world.engine.pause(runOf(request), 'wait');
          return look(1);
        },
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'paused' });
      expect(await world.engine.send(handle.run, WORDS, ADA)).toMatchObject({ kind: 'accepted' });
      expect(await world.ledger.runs({ run: handle.run })).toMatchObject([{ state: 'paused' }]);
      expect((await resumedResult(world, handle.run)).report.body).toBe('heard 1 time');
    },
  },
  {
    name: 'a run that has ended takes no message',
    async play(worlds) {
      const world = await worlds.create({ brain: () => reports('Done.') });
      const handle = await start(world);
      await resultOf(handle);
      expect(await world.engine.send(handle.run, WORDS, ADA)).toEqual({ kind: 'ended' });
      expect(await world.engine.send('run_00000000000000000000' as RunId, WORDS, ADA)).toEqual({ kind: 'unknown' });
      expect(await typesIn(world, handle)).not.toContain('message.sent');
    },
  },
  {
    name: 'a message has a length, only so many wait, and only so many are heard at once',
    async play(worlds) {
      const world = await worlds.create({
        agents: [patient({ permissions: { act: 'ask' } })],
        brain: (request) => calls({ name: 'act', input: { name: `${turnOf(request)}` } }),
      });
      const handle = await start(world);
      await handle.done;
      const send = (text: string) => world.engine.send(handle.run, text, ADA);
      expect(await send('x'.repeat(limits.messageBytes + 1))).toEqual({ kind: 'too long', bytes: limits.messageBytes + 1 });
      for (let count = 0; count < limits.messagesUnheard; count += 1)
        expect(await send(`${count}`)).toMatchObject({ kind: 'accepted' });
      expect(await send('one more')).toEqual({ kind: 'full' });
      for (const { run, wait } of await world.engine.waits(handle.run))
        await world.engine.answer(run, wait, { kind: 'approved' });
      const resumed = await world.engine.resume(handle.run);
      expect(resumed.kind === 'resumed' && (await resumed.handle.done)).toMatchObject({ kind: 'waiting' });
      expect(await receiptsIn(world, handle)).toHaveLength(limits.messagesPerTurn);
      expect(await send('one more')).toMatchObject({ kind: 'accepted' });
    },
  },
];
