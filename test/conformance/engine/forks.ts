/** Sessions that begin with the past of another: what lies before is answered from the record, what comes after is asked anew. */
import { expect } from 'vitest';
import type { RunId } from '../../../src/base/ids.ts';
import type { ForkOutcome, ForkRequest, RunHandle } from '../../../src/engine/port.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { textOf } from '../../../src/events/messages.ts';
import type { ModelRequest } from '../../../src/models/port.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import { foldCosts, initialCosts } from '../../../src/projections/costs.ts';
import { replayRun } from '../../../src/replay/replay.ts';
import { agent, type Brain, calls, reports, says, turnOf, type World } from '../../support/world.ts';
import { answered, type EngineCase, question, resultOf, resumedResult, start, transcript } from './checks.ts';

type Forked = Extract<ForkOutcome, { readonly kind: 'forked' }>;

export async function forkOf(world: World, run: RunId, more: Partial<ForkRequest> = {}): Promise<Forked> {
  const outcome = await world.engine.fork({ run, ...more });
  if (outcome.kind !== 'forked') throw new Error(JSON.stringify(outcome));
  return outcome;
}

async function forkedResult(world: World, run: RunId, more: Partial<ForkRequest> = {}): Promise<RunResult & Forked> {
  const forked = await forkOf(world, run, more);
  return { ...(await resumedResult(world, forked.run)), ...forked };
}

/** That nothing of the source has changed meanwhile, and that all of it can be checked. */
async function leavesAlone(world: World, handle: RunHandle, work: () => Promise<void>): Promise<void> {
  const before = await readAll(world.ledger, handle.session);
  await work();
  expect(await readAll(world.ledger, handle.session)).toEqual(before);
  expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
}

async function costOf(world: World, { session }: Pick<Forked, 'session'>): Promise<number> {
  return (await readAll(world.ledger, session)).reduce(foldCosts, initialCosts()).total.calls;
}

const acts = (name: string) => calls({ name: 'act', input: { name } });
/** Acts twice and reports; what it says last is for the test. */
const acting =
  (last: (request: ModelRequest) => string): Brain =>
  (request) =>
    turnOf(request) < 3 ? acts(`in turn ${turnOf(request)}`) : reports(last(request));
const family = [agent({ agents: ['helper'] }), agent({ name: 'helper' })];
const helps = (prompt: string) => ({ name: 'helper', input: { prompt, reason: 'need' }, id: prompt });
const said = (request: ModelRequest): string => JSON.stringify(request.messages);

const ofOneLoop: readonly EngineCase[] = [
  {
    name: 'a fork asks only what comes after the last turn, and costs only that',
    async play(worlds) {
      let answer = 'First.';
      const world = await worlds.create({ agents: [agent({ budget: { calls: 3 } })], brain: acting(() => answer) });
      const handle = await start(world);
      expect(await resultOf(handle)).toMatchObject({ report: { body: 'First.' } });
      await leavesAlone(world, handle, async () => {
        answer = 'Second.';
        const forked = await forkedResult(world, handle.run);
        expect(forked).toMatchObject({ status: 'completed', report: { body: 'Second.' }, turns: 3, kept: { calls: 2 } });
        expect(world.outside.modelCalls).toHaveLength(4);
        expect(world.outside.effects).toEqual(['act in turn 1', 'act in turn 2']);
        expect(await costOf(world, forked)).toBe(1);
        expect(await world.ledger.counter(`budget/${forked.run}/calls`)).toBe(1);
        const [first] = await readAll(world.ledger, forked.session);
        const from = { session: handle.session, run: handle.run };
        expect(first?.payload).toMatchObject({ forked: from });
        expect(await transcript(world, { ...handle, ...forked })).toHaveLength(6);
      });
    },
  },
  {
    name: 'a fork at a turn does everything after it anew; at its start, everything; at its end, nothing',
    async play(worlds) {
      const world = await worlds.create({ brain: acting(() => 'Done.') });
      const handle = await start(world);
      await resultOf(handle);
      await leavesAlone(world, handle, async () => {
        await forkedResult(world, handle.run, { at: 'turn 1' });
        expect(world.outside.effects).toEqual(['act in turn 1', 'act in turn 2', 'act in turn 2']);
        expect(world.outside.modelCalls).toHaveLength(5);
        await forkedResult(world, handle.run, { at: 'start' });
        expect(world.outside.modelCalls).toHaveLength(8);
        const { run } = await forkOf(world, handle.run, { at: 'end' });
        expect(await world.engine.resume(run)).toMatchObject({ kind: 'ended', result: { report: { body: 'Done.' } } });
        expect(world.outside.modelCalls).toHaveLength(8);
      });
    },
  },
  {
    name: 'a call that was under way at the place is made anew, also one that must not be repeated',
    async play(worlds) {
      const world = await worlds.create({ brain: acting(() => 'Done.') });
      const handle = await start(world);
      await resultOf(handle);
      const call = (await readAll(world.ledger, handle.session)).findLast(({ event_type }) => event_type === 'tool.call');
      const forked = await forkedResult(world, handle.run, { at: call?.event_id ?? '' });
      expect(forked).toMatchObject({ status: 'completed' });
      expect(world.outside.effects).toEqual(['act in turn 1', 'act in turn 2', 'act in turn 2']);
      expect(JSON.stringify(await transcript(world, { ...handle, ...forked }))).not.toContain('not known');
    },
  },
  {
    name: 'a fork of a conversation knows what was said before, and a fork of a fork what was done in that',
    async play(worlds) {
      let answer = 'A';
      const heard: string[] = [];
      const world = await worlds.create({
        brain: (request) => {
          heard.push(said(request));
          return says(answer);
        },
      });
      const first = await start(world);
      await resultOf(first);
      answer = 'B';
      const second = await start(world, { session: first.session });
      await resultOf(second);
      answer = 'C';
      const once = await forkedResult(world, second.run);
      expect(heard.at(-1)).toContain('"A"');
      expect(heard.at(-1)).not.toContain('"B"');
      answer = 'D';
      const third = await start(world, { session: once.session });
      await resultOf(third);
      answer = 'E';
      const twice = await forkedResult(world, third.run);
      expect(heard.at(-1)).toContain('"C"');
      expect(twice).toMatchObject({ report: { body: 'E' } });
      const [begun] = await readAll(world.ledger, twice.session);
      expect(begun?.payload).toMatchObject({ forked: { session: once.session, run: third.run } });
      expect(await costOf(world, twice)).toBe(1);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
];

const withoutParts: EngineCase = {
  name: 'a fork without parts of the context sends all but these, in later turns and prompts too, and its record is whole',
  async play(worlds) {
    const requests: ModelRequest[] = [];
    const agents = [agent({ advisors: ['helper'] }), agent({ name: 'helper' })];
    const world = await worlds.create({
      agents,
      brain: (request) => {
        if (request.agent === 'helper') return says('Do not merge.');
        requests.push(request);
        return turnOf(request) < 3 ? acts(`in turn ${turnOf(request)}`) : reports('Done.');
      },
    });
    const handle = await start(world);
    await resultOf(handle);
    const whole = said(requests[2] as ModelRequest);
    await leavesAlone(world, handle, async () => {
      const without = ['system', 'turn/1/tool/0', 'fenced analysis'];
      const forked = await forkedResult(world, handle.run, { at: 'turn 1', set: { without } });
      expect(forked.from).toMatchObject({ without });
      const [second, third] = requests.slice(-2);
      for (const request of [second, third]) {
        expect(request?.system).toBe('');
        expect(said(request as ModelRequest)).not.toContain('Do not merge.');
        expect(resultsIn(request)[0]).toBe('[left out]');
      }
      expect(resultsIn(third)[1]).toBe(resultsIn(requests[2])[1]);
      expect(said(third as ModelRequest).match(/\[left out\]/g)).toHaveLength(2);
      // What was said stays as it is recorded, and the fork is played again like any run.
      const events = await readAll(world.ledger, forked.session);
      expect(JSON.stringify(events)).toContain('Do not merge.');
      expect(events.find(({ event_type }) => event_type === 'run.reopened')?.payload).toMatchObject({
        without: [
          { origin: 'system' },
          { from: `${forked.run} turn/1/tool/0` },
          { origin: 'fenced analysis', text: 'Do not merge.' },
        ],
      });
      expect(await replayRun(world.ledger, forked.run)).toMatchObject({ kind: 'identical' });
      const next = await start(world, { session: forked.session });
      await resultOf(next);
      expect(said(requests.at(-1) as ModelRequest)).toContain('[left out]');
    });
    expect(said(requests[2] as ModelRequest)).toBe(whole);
    for (const [name, says] of [
      ['tool write', 'There is no "tool write" in the request of turn 3'],
      ['tools', 'Tools are a matter of the agent'],
    ] as const)
      expect(await world.engine.fork({ run: handle.run, set: { without: [name] } })).toMatchObject({
        ...{ kind: 'refused', error: { code: 'fork_set', message: expect.stringContaining(says) } },
      });
  },
};

const resultsIn = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ content }) => textOf(content)) : [],
  );

const ofTrees: readonly EngineCase[] = [
  withoutParts,
  {
    name: 'a fork inside a sub-agent keeps what everybody had done by then, and both go on',
    async play(worlds) {
      const world = await worlds.create({
        agents: family,
        brain: (request) => {
          if (request.agent === 'helper') return turnOf(request) === 1 ? acts('below') : reports('Helped.');
          return turnOf(request) === 1 ? calls(helps('help')) : reports(said(request).includes('Helped.') ? 'Yes.' : 'No.');
        },
      });
      const handle = await start(world);
      await resultOf(handle);
      const [child] = (await world.ledger.runs({ session: handle.session })).filter(({ parent }) => parent !== null);
      await leavesAlone(world, handle, async () => {
        const forked = await forkedResult(world, child?.run as RunId, { at: 'turn 1' });
        expect(forked).toMatchObject({ status: 'completed', report: { body: 'Yes.' } });
        expect(world.outside.effects).toEqual(['act below']);
        expect(world.outside.modelCalls).toHaveLength(6);
        expect(await world.ledger.runs({ session: forked.session })).toHaveLength(2);
      });
    },
  },
  {
    name: 'a sub-agent that a fork has called is found again by a fork of that',
    async play(worlds) {
      const world = await worlds.create({
        agents: family,
        brain: (request) => {
          if (request.agent === 'helper') return reports('Helped.');
          if (turnOf(request) === 1) return acts('above');
          return turnOf(request) === 2 ? calls(helps('help')) : reports('Done.');
        },
      });
      const handle = await start(world);
      await resultOf(handle);
      const once = await forkedResult(world, handle.run, { at: 'turn 1' });
      expect(world.outside.modelCalls).toHaveLength(7);
      const twice = await forkedResult(world, once.run, { at: 'turn 2' });
      expect(world.outside.modelCalls).toHaveLength(8);
      expect(await world.ledger.runs({ session: twice.session })).toHaveLength(2);
      expect(await world.ledger.verify()).toMatchObject({ kind: 'sound' });
    },
  },
];

const ask = (text: string) => calls({ name: 'ask', input: { question: text } });

const ofWhatIsSet: readonly EngineCase[] = [
  {
    name: 'answers before the place are kept, later ones are asked for again, and one at the place can be another',
    async play(worlds) {
      const world = await worlds.create({
        agents: [agent({ tools: ['ask'] })],
        tools: [question],
        brain: (request) => (turnOf(request) < 3 ? ask(`Question ${turnOf(request)}?`) : reports(said(request))),
      });
      const handle = await start(world);
      const second = await answered(world, handle, { kind: 'text', text: 'red' }).catch(() => undefined);
      expect(second).toBeUndefined();
      const open = await world.engine.waits(handle.run);
      for (const { run, wait } of open) await world.engine.answer(run, wait, { kind: 'text', text: 'green' });
      expect(await resumedResult(world, handle.run)).toMatchObject({ report: { body: expect.stringMatching(/red.*green/s) } });
      await leavesAlone(world, handle, async () => {
        const forked = await forkOf(world, handle.run, { at: 'turn 1' });
        const resumed = await world.engine.resume(forked.run);
        if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
        const again = await answered(world, resumed.handle, { kind: 'text', text: 'blue' });
        expect(again.report.body).toMatch(/red.*blue/s);
        const other = await forkedResult(world, handle.run, { set: { answer: 'yellow' } });
        expect(other.report.body).toMatch(/red.*yellow/s);
        expect(other.report.body).not.toContain('green');
        expect(world.outside.modelCalls).toHaveLength(6);
      });
    },
  },
  {
    name: 'a permission that was denied is given, and the call is made',
    async play(worlds) {
      const world = await worlds.create({
        agents: [agent({ permissions: { act: 'ask' } })],
        brain: (request) => (turnOf(request) === 1 ? acts('asked') : reports(said(request))),
      });
      const handle = await start(world);
      expect((await answered(world, handle, { kind: 'denied' })).report.body).toContain('said no');
      const forked = await forkedResult(world, handle.run, { set: { answer: 'yes' } });
      expect(forked.report.body).toContain('act asked done');
      expect(world.outside.effects).toEqual(['act asked']);
      const wrong = await world.engine.fork({ run: handle.run, set: { answer: 'perhaps' } });
      expect(wrong).toMatchObject({ kind: 'refused', error: { code: 'fork_set' } });
    },
  },
  {
    name: 'another result, model, prompt or agent holds from the place on',
    async play(worlds) {
      const asked: string[] = [];
      const world = await worlds.create({
        brain: (request) => {
          asked.push(`${request.system}`);
          return turnOf(request) < 3 ? acts(`in turn ${turnOf(request)}`) : reports(said(request));
        },
      });
      const handle = await start(world);
      await resultOf(handle);
      await leavesAlone(world, handle, async () => {
        const result = await forkedResult(world, handle.run, { set: { result: 'Nothing was there.' } });
        expect(result.report.body).toContain('Nothing was there.');
        expect(result.report.body).not.toContain('act in turn 2 done');
        expect(world.outside.modelCalls).toHaveLength(4);
        const prompt = await forkedResult(world, handle.run, { set: { prompt: 'Do something else.' } });
        expect(prompt.report.body).toContain('Do something else.');
        expect(prompt.report.body).not.toContain('Do it.');
        const other = agent({ prompt: 'You are another.' });
        const changed = await forkedResult(world, handle.run, { at: 'turn 2', set: { agent: other, model: 'test/other' } });
        expect(asked.at(-1)).toContain('You are another.');
        const requests = (await readAll(world.ledger, changed.session)).filter(isRequest).map(({ payload }) => payload.model);
        expect(requests).toEqual(['test/model', 'test/model', 'test/other']);
      });
    },
  },
];

const isRequest = (event: LedgerEvent) => event.event_type === 'model.request';

const impossible: readonly EngineCase[] = [
  {
    name: 'a place where nothing can be forked is refused, with the nearest that can',
    async play(worlds) {
      const world = await worlds.create({ agents: family, brain: acting(() => 'Done.') });
      const handle = await start(world);
      await resultOf(handle);
      const later = await start(world, { session: handle.session });
      await resultOf(later);
      const elsewhere = await start(world);
      await resultOf(elsewhere);
      const last = (await readAll(world.ledger, handle.session)).length;
      const refused: readonly (readonly [string, RegExp, RegExp])[] = [
        ['0', /before the start/, new RegExp(`1 to ${last}`)],
        ['-3', /before the start/, /1 to/],
        [String(last + 1), /behind the end/, new RegExp(`1 to ${last}`)],
        [String(last), /is of run/, /troupe fork/],
        [`${elsewhere.session}.5`, /another session/, new RegExp(handle.session)],
        ['turn 9', /has no turn 9/, /start, turn 1 to turn 3, end/],
        ['yesterday', /no yesterday/, /turn 1 to turn 3/],
      ];
      for (const [at, message, fix] of refused)
        expect(await world.engine.fork({ run: handle.run, at })).toMatchObject({
          kind: 'refused',
          error: { code: 'fork_place', message: expect.stringMatching(message), fix: expect.stringMatching(fix) },
        });
      const late = await world.engine.fork({ run: handle.run, at: 'turn 1', set: { prompt: 'Else.' } });
      expect(late).toMatchObject({ error: { code: 'fork_set', fix: expect.stringContaining('--at start') } });
      const none = await world.engine.fork({ run: handle.run, at: 'turn 1', set: { answer: 'yes' } });
      expect(none).toMatchObject({ error: { code: 'fork_set', fix: expect.stringContaining('none in this session') } });
      expect(await world.ledger.runs({ roots: true })).toHaveLength(3);
    },
  },
];

export const forkCases: readonly EngineCase[] = [...ofOneLoop, ...ofTrees, ...ofWhatIsSet, ...impossible];
