/** Runs that ended for a reason outside of them and go on once it is mended: where they stopped, and nothing twice. */
import { expect } from 'vitest';
import type { RunId } from '../../../src/base/ids.ts';
import { present } from '../../../src/base/present.ts';
import type { ResumeTerms } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { Budget, ModelFailure } from '../../../src/events/catalogue.ts';
import { userText } from '../../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { agent, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import { answered, type EngineCase, resultOf, start, statesOf, untilStopped } from './checks.ts';

const failed = (kind: ModelFailure['kind'], status?: number): ModelOutcome => ({
  kind: 'failed',
  error: { kind, message: `${kind} just now`, ...present({ status }) },
});

/** Goes on under these terms, to its end. */
async function goesOn(world: World, run: RunId, terms: ResumeTerms = {}): Promise<RunResult> {
  const resumed = await world.engine.resume(run, terms);
  if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
  return await resultOf(resumed.handle);
}

const acts = (name: string): ModelOutcome => calls({ name: 'act', input: { name } });
const alone = agent({ maxRetries: 0 });

/** The events that say how often a run ended and went on. */
async function lives(world: World, run: RunId): Promise<string[]> {
  const [row] = await world.ledger.runs({ run });
  const events = row === undefined ? [] : await readAll(world.ledger, row.session, { run });
  return events.flatMap(({ event_type: type }) => (type === 'run.ended' || type === 'run.reopened' ? [type] : []));
}

async function sound(world: World): Promise<void> {
  expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
}

const FAILURES: readonly (readonly [ModelFailure['kind'], string, number?])[] = [
  ['network', 'provider'],
  ['overloaded', 'provider', 503],
  ['timeout', 'provider'],
  ['bad_response', 'provider'],
  ['auth', 'key', 401],
  ['rate_limited', 'quota', 429],
];

const failures: readonly EngineCase[] = FAILURES.map(([kind, reason, status]) => ({
  name: `a run whose model cannot be asked (${kind}) is parked, and goes on at the turn that failed`,
  async play(worlds) {
    let down = true;
    const world = await worlds.create({
      agents: [alone],
      brain: (request) => {
        if (turnOf(request) === 1) return acts('once');
        return down ? failed(kind, status) : reports('Done.');
      },
    });
    const handle = await start(world);
    const told = { code: `model_${kind}`, fix: expect.stringContaining('troupe resume') };
    expect(await handle.done).toMatchObject({ kind: 'parked', error: told });
    const [parked] = (await readAll(world.ledger, handle.session, { types: ['run.parked'] })).map(({ payload }) => payload);
    expect(parked).toMatchObject({ reason });
    expect(await statesOf(world, handle)).toEqual(['worker parked']);
    // As long as it is so, it stands still again.
    const again = await world.engine.resume(handle.run);
    expect(again.kind === 'resumed' && (await again.handle.done)).toMatchObject({ kind: 'parked' });
    down = false;
    expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed', turns: 2 });
    expect(world.outside.effects).toEqual(['act once']);
    expect(world.outside.modelCalls).toHaveLength(4);
    expect(await lives(world, handle.run)).toEqual(['run.reopened', 'run.reopened', 'run.ended']);
    expect(await statesOf(world, handle)).toEqual(['worker completed']);
    await sound(world);
    // What it came to is told again, not the end that it had before.
    expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  },
}));

const lead = (request: ModelRequest, then: () => ModelOutcome): ModelOutcome =>
  turnOf(request) === 1 ? calls({ name: 'helper', input: { prompt: 'help', reason: 'need' }, id: 'h' }) : then();

const family = (more: { readonly lead?: Budget; readonly helper?: Budget } = {}) => [
  agent({ maxRetries: 0, agents: ['helper'], ...present({ budget: more.lead }) }),
  agent({ name: 'helper', maxRetries: 0, ...present({ budget: more.helper }) }),
];

const trees: readonly EngineCase[] = [
  {
    name: 'a sub-agent that failed for the same reason goes on too, and its caller never hears that it had failed',
    async play(worlds) {
      let down = true;
      const heard: string[] = [];
      const world = await worlds.create({
        agents: family(),
        brain: (request) => {
          if (request.agent === 'worker')
            return lead(request, () => {
              heard.push(JSON.stringify(request.messages.at(-1)));
              return down ? failed('network') : reports('All done.');
            });
          if (turnOf(request) === 1) return acts('below');
          return down ? failed('network') : reports('Helped.');
        },
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'parked' });
      expect(await statesOf(world, handle)).toEqual(['helper failed', 'worker parked']);
      down = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['helper completed', 'worker completed']);
      expect(heard.at(-1)).toContain('Helped.');
      expect(heard.at(-1)).not.toContain('did not succeed');
      expect(world.outside.effects).toEqual(['act below']);
      await sound(world);
    },
  },
  {
    name: 'a failed sub-agent whose caller went on without it is left as it is',
    async play(worlds) {
      let down = true;
      const world = await worlds.create({
        agents: family(),
        brain: (request) => {
          if (request.agent === 'helper') return failed('network');
          return lead(request, () => {
            if (turnOf(request) === 2) return acts('without it');
            return down ? failed('network') : reports('Done alone.');
          });
        },
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'parked' });
      down = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['helper failed', 'worker completed']);
      expect(world.outside.effects).toEqual(['act without it']);
      await sound(world);
    },
  },
  {
    name: 'a budget that was used up below is raised for the whole tree',
    async play(worlds) {
      const world = await worlds.create({
        agents: family({ lead: { calls: 2 } }),
        brain: (request) => {
          if (request.agent === 'worker') return lead(request, () => reports('All done.'));
          return turnOf(request) === 1 ? acts('below') : reports('Helped.');
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'budget_exhausted', exhausted: handle.run });
      expect(await goesOn(world, handle.run, { budget: { calls: 4 } })).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['helper completed', 'worker completed']);
      expect(world.outside.effects).toEqual(['act below']);
      expect(world.outside.modelCalls).toHaveLength(4);
      await sound(world);
    },
  },
  {
    name: 'workers of a group that all failed for a reason outside go on',
    async play(worlds) {
      let down = true;
      const workers = ['ana', 'ben'];
      const world = await worlds.create({
        agents: [
          agent({ tools: [], group: { mode: 'broadcast', workers } }),
          ...workers.map((name) => agent({ name, maxRetries: 0 })),
        ],
        brain: (request) => {
          if (turnOf(request) === 1) return acts(request.agent ?? '');
          return down ? failed('overloaded', 503) : says('Done.');
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'failed' });
      down = false;
      expect(await goesOn(world, handle.run)).toMatchObject({ status: 'completed' });
      expect(await statesOf(world, handle)).toEqual(['ana completed', 'ben completed', 'worker completed']);
      expect(world.outside.effects.toSorted()).toEqual(['act ana', 'act ben']);
      await sound(world);
    },
  },
];

/** Enough for the first calls, and not for all of them. */
const spent = [
  ['tokens', { tokens: 2_700 }, { tokens: 1_000_000 }],
  ['dollars', { usd: 0.0037 }, { usd: 10 }],
] as const;

const usedUp: readonly EngineCase[] = spent.map(([what, had, more]) => ({
  name: `a run whose ${what} were used up goes on with more, and nothing is done twice`,
  async play(worlds) {
    const world = await worlds.create({
      agents: [agent({ budget: had, maxOutputTokens: 1_000, maxTurns: 30 })],
      brain: (request) => (turnOf(request) <= 20 ? acts(String(turnOf(request))) : reports('Done.')),
    });
    const handle = await start(world);
    expect(await resultOf(handle)).toMatchObject({ status: 'budget_exhausted', exhausted: handle.run });
    const { length } = world.outside.effects;
    expect(length).toBeGreaterThan(0);
    expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'ended' });
    expect(await world.engine.resume(handle.run, { budget: had })).toMatchObject({ kind: 'refused' });
    // Less than what is spent already is no more, either.
    expect(await world.engine.resume(handle.run, { budget: { tokens: 1, usd: 0.000_001 } })).toMatchObject({ kind: 'refused' });
    expect(await goesOn(world, handle.run, { budget: more })).toMatchObject({ status: 'completed', turns: 21 });
    expect(world.outside.effects).toEqual(Array.from({ length: 20 }, (_, turn) => `act ${turn + 1}`));
    expect(world.outside.modelCalls).toHaveLength(21);
    await sound(world);
  },
}));

const limits: readonly EngineCase[] = [
  ...usedUp,
  {
    name: 'a run whose calls were used up goes on with more, and only with more',
    async play(worlds) {
      const world = await worlds.create({
        agents: [agent({ budget: { calls: 2 } })],
        brain: (request) => (turnOf(request) <= 3 ? acts(String(turnOf(request))) : reports('Done.')),
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'budget_exhausted' });
      expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'ended' });
      expect(await world.engine.resume(handle.run, { budget: { calls: 2 } })).toMatchObject({
        kind: 'refused',
        error: { code: 'ended' },
      });
      expect(await lives(world, handle.run)).toEqual(['run.ended']);
      expect(await goesOn(world, handle.run, { budget: { calls: 3 } })).toMatchObject({ status: 'budget_exhausted' });
      expect(await goesOn(world, handle.run, { budget: { calls: 9 } })).toMatchObject({ status: 'completed', turns: 4 });
      // Each of its ends is there, in its place.
      const ends = ['run.ended', 'run.reopened', 'run.ended', 'run.reopened', 'run.ended'];
      expect(await lives(world, handle.run)).toEqual(ends);
      expect(world.outside.effects).toEqual(['act 1', 'act 2', 'act 3']);
      expect(world.outside.modelCalls).toHaveLength(4);
      await sound(world);
    },
  },
  {
    name: 'a run whose time was up goes on with more of it, at the call that was cut off',
    async play(worlds) {
      let slow = true;
      const world = await worlds.create({
        agents: [agent({ budget: { wall: 300 } })],
        brain: (request) => {
          if (turnOf(request) === 1) return acts('once');
          return slow ? untilStopped(request) : reports('Done.');
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'budget_exhausted', exhausted: handle.run });
      slow = false;
      expect(await world.engine.resume(handle.run, { budget: { calls: 100 } })).toMatchObject({ kind: 'refused' });
      expect(await goesOn(world, handle.run, { budget: { wallMs: 600_000 } })).toMatchObject({ status: 'completed', turns: 2 });
      expect(world.outside.effects).toEqual(['act once']);
      await sound(world);
    },
  },
  {
    name: 'a run that used its turns goes on with more of them',
    async play(worlds) {
      const world = await worlds.create({
        agents: [agent({ maxTurns: 2 })],
        brain: (request) => (turnOf(request) <= 2 ? acts(String(turnOf(request))) : reports('Done.')),
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'failed', error: { code: 'no_report' } });
      expect(await world.engine.resume(handle.run, { maxTurns: 2 })).toMatchObject({ kind: 'refused' });
      expect(await goesOn(world, handle.run, { maxTurns: 5 })).toMatchObject({ status: 'completed', turns: 3 });
      // The call that there was no turn left for is made now.
      expect(world.outside.effects).toEqual(['act 1', 'act 2']);
      expect(world.outside.modelCalls).toHaveLength(3);
      await sound(world);
    },
  },
  {
    name: 'a run whose model refuses the request goes on with another one, and so do all below it',
    async play(worlds) {
      const asked: string[] = [];
      const world = await worlds.create({
        agents: family(),
        brain: (request) => (request.agent === 'worker' ? lead(request, () => reports('All done.')) : reports('Helped.')),
        engineOptions: {
          models: {
            open: async (name) => ({
              ok: true,
              value: {
                id: name,
                account: name,
                async ask(request) {
                  asked.push(`${request.agent} ${name}`);
                  if (name === 'test/model') return failed('invalid_request', 404);
                  return request.agent === 'worker' ? lead(request, () => reports('All done.')) : reports('Helped.');
                },
              },
            }),
          },
        },
      });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ status: 'failed', error: { code: 'model_invalid_request' } });
      expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'ended' });
      expect(await goesOn(world, handle.run, { model: 'test/other' })).toMatchObject({ status: 'completed' });
      expect(asked).toEqual(['worker test/model', 'worker test/other', 'helper test/other', 'worker test/other']);
      await sound(world);
    },
  },
];

const others: readonly EngineCase[] = [
  {
    name: 'a run that is parked can be cancelled, and blocks its session until then',
    async play(worlds) {
      const world = await worlds.create({ agents: [alone], brain: () => failed('auth', 401) });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'parked' });
      const next = { agent: 'worker', input: userText('More.'), workspace: '.', session: handle.session };
      expect(await world.engine.start(next)).toMatchObject({ kind: 'refused', error: { code: 'session_busy' } });
      expect(await world.engine.cancel(handle.run, 'enough')).toMatchObject({ kind: 'accepted' });
      await expect.poll(() => statesOf(world, handle)).toEqual(['worker cancelled']);
      expect(world.outside.modelCalls).toHaveLength(1);
      await sound(world);
    },
  },
  {
    name: 'a run that gave its answer, could not do it or was cancelled is told again, whatever it is given',
    async play(worlds) {
      const world = await worlds.create({
        agents: [alone],
        brain: (request) => {
          const text = JSON.stringify(request.messages);
          if (text.includes('cancel')) return untilStopped(request);
          return text.includes('fail') ? reports('No.', { status: 'failure' }) : reports('Yes.');
        },
      });
      const done = await start(world);
      const could = await start(world, { input: userText('fail') });
      const cancelled = await start(world, { input: userText('cancel') });
      await expect.poll(() => world.outside.modelCalls.length).toBe(3);
      await world.engine.cancel(cancelled.run, 'enough');
      for (const handle of [done, could, cancelled]) {
        const { status } = await resultOf(handle);
        expect(await world.engine.resume(handle.run, {})).toMatchObject({ kind: 'ended', result: { status } });
        const terms = { budget: { calls: 100 }, model: 'test/other', maxTurns: 100 };
        expect(await world.engine.resume(handle.run, terms)).toMatchObject({ kind: 'refused', error: { code: 'ended' } });
        expect(await lives(world, handle.run)).toEqual(['run.ended']);
      }
    },
  },
  {
    name: 'a run whose session went on with another prompt stays as it ended',
    async play(worlds) {
      let down = true;
      const world = await worlds.create({ agents: [alone], brain: () => (down ? failed('invalid_request') : reports('Done.')) });
      const first = await start(world);
      expect(await resultOf(first)).toMatchObject({ status: 'failed' });
      down = false;
      const second = await start(world, { session: first.session });
      expect(await resultOf(second)).toMatchObject({ status: 'completed' });
      expect(await world.engine.resume(first.run, { model: 'test/other' })).toMatchObject({ kind: 'refused' });
      expect(await lives(world, first.run)).toEqual(['run.ended']);
    },
  },
  {
    name: 'a run that has not ended goes on under other terms, too',
    async play(worlds) {
      const asking = agent({ permissions: { act: 'ask' }, budget: { calls: 1 } });
      const world = await worlds.create({
        agents: [asking],
        brain: (request) => (turnOf(request) === 1 ? acts('once') : reports('Done.')),
      });
      const handle = await start(world);
      expect(await handle.done).toMatchObject({ kind: 'waiting' });
      const resumed = await world.engine.resume(handle.run, { budget: { calls: 5 } });
      if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
      expect(await answered(world, resumed.handle, { kind: 'approved' })).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toEqual(['act once']);
      await sound(world);
    },
  },
];

export const reopenedCases: readonly EngineCase[] = [...failures, ...trees, ...limits, ...others];
