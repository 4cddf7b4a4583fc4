/** Whoever went on to the next one of theirs after somebody failed for a reason outside, and found nobody either. */
import { expect } from 'vitest';
import { eventLoopTurn, systemClock } from '../../../src/base/clock.ts';
import { type RunId, shortId } from '../../../src/base/ids.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import { agent, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import { type EngineCase, resultOf, start, statesOf } from './checks.ts';

const down: ModelOutcome = { kind: 'failed', error: { kind: 'overloaded', message: 'out of order', status: 500 } };
const silent: ModelOutcome = { kind: 'failed', error: { kind: 'network', message: 'nobody answers' } };
const acts = (name: string): ModelOutcome => calls({ name: 'act', input: { name } });
const member = (name: string) => agent({ name, maxRetries: 0 });
const team = [agent({ maxRetries: 0, team: { members: ['ana', 'ben'] } }), member('ana'), member('ben')];
const inTurn = (...workers: string[]) => [
  agent({ tools: [], group: { mode: 'sequential', workers } }),
  ...workers.map((name) => member(name)),
];

async function goesOn(world: World, run: RunId) {
  const resumed = await world.engine.resume(run, {});
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  return await resultOf(resumed.handle);
}

async function startsOf(world: World, { session }: { readonly session: Parameters<typeof readAll>[1] }): Promise<string[]> {
  const events = await readAll(world.ledger, session, { types: ['run.started'] });
  return events.flatMap((event) => (event.event_type === 'run.started' ? [event.payload.agent] : []));
}

/** Acts once, and then says this, unless nobody is there to be asked. */
const works = (request: ModelRequest, isDown: boolean): ModelOutcome => {
  if (turnOf(request) === 1) return acts(request.agent ?? '');
  return isDown ? down : says(`${request.agent} is done.`);
};

export const reopenedPatterns: readonly EngineCase[] = [
  {
    name: 'a member of a team that failed before its supervisor did goes on, and the supervisor hears nothing of it',
    async play(worlds) {
      let isDown = true;
      const heard: string[] = [];
      const world = await worlds.create({
        agents: team,
        brain: (request) => {
          if (request.agent === 'ben') return works(request, false);
          if (request.agent === 'ana') return works(request, isDown);
          heard.push(JSON.stringify(request.messages));
          return isDown ? down : reports('All done.');
        },
      });
      const handle = await start(world);
      const fix = expect.stringMatching(/ (Then|mended,) go on where it stopped: troupe resume \w+$/);
      expect(await handle.done).toMatchObject({ kind: 'parked', error: { fix } });
      expect(heard.at(-1)).toContain('member ana failed');
      // As long as it is so, it stands still again.
      const again = await world.engine.resume(handle.run);
      expect(again.kind === 'resumed' && (await again.handle.done)).toMatchObject({ kind: 'parked' });
      isDown = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['ana completed', 'ben completed', 'worker completed', 'worker completed']);
      expect(heard.at(-1)).toContain('ana is done.');
      expect(heard.at(-1)).toContain('ben is done.');
      expect(heard.at(-1)).not.toContain('member ana failed');
      expect(world.outside.effects.toSorted()).toEqual(['act ana', 'act ben']);
      expect(await startsOf(world, handle)).toEqual(['worker', 'ana', 'ben', 'worker', 'worker', 'worker']);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'a member of a team stays failed where its supervisor has worked without it',
    async play(worlds) {
      let isDown = true;
      const world = await worlds.create({
        agents: team,
        brain: (request) => {
          if (request.agent === 'ben') return works(request, false);
          if (request.agent === 'ana') return isDown ? down : says('Too late.');
          if (turnOf(request) === 1) return acts('without ana');
          return isDown ? down : reports('Done.');
        },
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'parked' });
      isDown = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['ana failed', 'ben completed', 'worker completed', 'worker completed']);
      expect(world.outside.effects.toSorted()).toEqual(['act ben', 'act without ana']);
    },
  },
  {
    name: 'workers in turn that failed all go on, and each begins with what the one before it found',
    async play(worlds) {
      let isDown = true;
      const heard: string[] = [];
      const world = await worlds.create({
        agents: inTurn('ana', 'ben', 'cem'),
        brain: (request) => {
          if (request.agent === 'ana') return works(request, isDown);
          heard.push(JSON.stringify(request.messages));
          return isDown ? down : says(`${request.agent} is done.`);
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({
        status: 'failed',
        error: { code: 'all_workers_failed', fix: expect.stringContaining(`troupe resume ${shortId(handle.run)}`) },
      });
      heard.length = 0;
      isDown = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed', report: { body: 'cem is done.' } });
      expect(await statesOf(world, handle)).toEqual(['ana completed', 'ben completed', 'cem completed', 'worker completed']);
      expect(heard).toEqual([expect.stringContaining('ana is done.'), expect.stringContaining('ben is done.')]);
      expect(heard.join(' ')).not.toContain('out of order');
      expect(world.outside.effects).toEqual(['act ana']);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'agents side by side that failed in every attempt name resume, and each goes on where it stopped',
    async play(worlds) {
      let isDown = true;
      const agentInstructions = ['ana', 'ben'].map((agentId) => ({ agentId, instruction: `Do ${agentId}.` }));
      const choice = { agentId: 'ana', confidence: 0.9, reasoning: 'fits', additionalAgents: ['ben'], agentInstructions };
      const world = await worlds.create({
        agents: [
          agent({ tools: [], dispatch: { agents: ['ana', 'ben'], retries: 1, retryDelay: 0 } }),
          member('ana'),
          member('ben'),
        ],
        brain: (request) => (request.agent === 'worker' ? says(JSON.stringify(choice)) : works(request, isDown)),
      });
      const handle = await start(world);
      const fix = expect.stringContaining(`troupe resume ${shortId(handle.run)}`);
      expect(await resultOf(handle)).toMatchObject({ status: 'failed', error: { code: 'all_agents_failed', fix } });
      const before = [...world.outside.effects];
      isDown = false;
      const body = expect.stringMatching(/ana is done\.[\s\S]*ben is done\./);
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed', report: { body } });
      expect(world.outside.effects).toEqual(before);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
  {
    name: 'an outage that a sub-agent has waited for is not waited for again by its caller: both go on when it is over',
    async play(worlds) {
      let isDown = true;
      const world = await worlds.create({
        agents: [agent({ agents: ['helper'], outagePatience: 1 }), agent({ name: 'helper', maxRetries: 0 })],
        async brain(request) {
          if (request.agent === 'worker' && turnOf(request) === 1)
            return calls({ name: 'helper', input: { prompt: 'help', reason: 'need' } });
          // When the caller has failed its patience is over, counted from the beginning of the outage.
          const asked = systemClock.now();
          while (systemClock.now() <= asked + 2) await eventLoopTurn();
          return isDown ? silent : reports('Done.');
        },
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'parked' });
      expect(world.outside.modelCalls).toHaveLength(3);
      expect(await statesOf(world, handle)).toEqual(['helper failed', 'worker parked']);
      // Whoever has it go on begins to wait anew.
      const again = await world.engine.resume(handle.run);
      expect(again.kind === 'resumed' && (await again.handle.done)).toMatchObject({ kind: 'parked' });
      isDown = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['helper completed', 'worker completed']);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
];
