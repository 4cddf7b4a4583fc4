/**
 * What a replay says of records that are not what they were, not whole, or of somebody else. That every kind of session comes to
 * the same when it is played again is checked where the scenarios are played: `playOnEngine` in test/support/patterns/table.ts.
 */
import { describe, expect, it } from 'vitest';
import { actor, byAgent, type Scenario } from '../../test/support/patterns/scenarios.ts';
import { ROOT_RUN, ROOT_SESSION, scenarios } from '../../test/support/patterns/table.ts';
import { agent, calls, createWorld, reports, says, type World } from '../../test/support/world.ts';
import type { RunId } from '../base/ids.ts';
import type { EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { userText } from '../events/messages.ts';
import type { Ledger } from '../ledger/port.ts';
import { replayRun } from './replay.ts';

const scenario: Pick<Scenario, 'agents' | 'brain'> = {
  agents: [agent({ name: 'boss', agents: ['helper'], tools: ['look'] }), actor('helper')],
  brain: byAgent({
    boss: (_request, turn) => {
      if (turn === 1) return calls({ name: 'look' }, { name: 'helper', input: { prompt: 'Help.', reason: 'it can' } });
      return reports('All done.');
    },
    helper: () => says('Helped.'),
  }),
};

async function played(): Promise<World> {
  const world = createWorld(scenario);
  const started = await world.engine.start({
    ...{ agent: 'boss', input: userText('Go.'), workspace: '.', run: ROOT_RUN, session: ROOT_SESSION },
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { report: { body: 'All done.' } } });
  return world;
}

/** The same ledger, in which some events read otherwise; those that become nothing are not there. */
function changed(ledger: Ledger, change: (event: LedgerEvent) => LedgerEvent | undefined): Ledger {
  return { ...ledger, read: async (query) => (await ledger.read(query)).flatMap((event) => change(event) ?? []) };
}

const of = (type: EventType, change: (payload: never) => unknown) => (event: LedgerEvent) =>
  event.event_type === type ? ({ ...event, payload: change(event.payload as never) } as LedgerEvent) : event;

describe('a replay', () => {
  it('of what was recorded is identical, and writes nothing', async () => {
    const world = await played();
    const before = await world.ledger.stats();
    const calls = world.outside.modelCalls.length;
    expect(await replayRun(world.ledger, ROOT_RUN)).toMatchObject({
      kind: 'identical',
      run: ROOT_RUN,
      runs: 2,
      status: 'completed',
    });
    expect(await world.ledger.stats()).toEqual(before);
    expect(world.outside.modelCalls).toHaveLength(calls);
    expect(world.outside.effects).toEqual(['look 0']);
    await world.close();
  });

  it('of a run below another plays the whole tree', async () => {
    const world = await played();
    const rows = await world.ledger.runs({ session: ROOT_SESSION });
    const child = rows.find(({ parent }) => parent !== null)?.run as RunId;
    expect(await replayRun(world.ledger, child)).toMatchObject({ kind: 'identical', run: ROOT_RUN });
    await world.close();
  });

  const mutations = [
    {
      what: 'an answer of a model',
      change: of('model.response', (payload: { message: unknown }) => ({
        ...payload,
        message: JSON.parse(JSON.stringify(payload.message).replace('All done.', 'Nothing done.')),
      })),
      first: { kind: 'changed', type: 'run.ended', path: 'report.body', recorded: 'All done.', now: 'Nothing done.' },
    },
    {
      what: 'the answer of a sub-agent',
      change: of('tool.result', (payload: { content: unknown }) =>
        JSON.parse(JSON.stringify(payload).replace('Helped.', 'Hindered.')),
      ),
      first: { kind: 'changed', agent: 'boss', type: 'tool.result', step: 'turn/1/tool/1' },
    },
    {
      what: 'what a child was told',
      change: of('run.started', (payload) => JSON.parse(JSON.stringify(payload).replace('Help.', 'Hide.'))),
      first: {
        kind: 'changed',
        agent: 'helper',
        type: 'run.started',
        path: 'input.content.0.text',
        recorded: 'Hide.',
        now: 'Help.',
      },
    },
    {
      what: 'what was asked',
      change: of('model.request', (payload: object) => ({ ...payload, added: [] })),
      first: { kind: 'changed', agent: 'boss', type: 'model.request', step: 'turn/1/model', path: 'added.0' },
    },
    {
      what: 'the agent that worked',
      change: of('session.config', (payload: object) => ({ ...payload, tools: [] })),
      first: { kind: 'missing', agent: 'boss', type: 'tool.result', step: 'turn/1/tool/0' },
    },
  ] as const;
  it.each(mutations)('names the first difference when the record has another $what', async ({ change, first }) => {
    const world = await played();
    expect(await replayRun(changed(world.ledger, change), ROOT_RUN)).toMatchObject({ kind: 'different', first });
    await world.close();
  });

  it('never asks anybody for an answer that is missing', async () => {
    const world = await played();
    const without = changed(world.ledger, (event) =>
      event.event_type === 'model.response' && event.step === 'turn/2/model' ? undefined : event,
    );
    const calls = world.outside.modelCalls.length;
    const outcome = await replayRun(without, ROOT_RUN);
    expect(outcome).toMatchObject({
      kind: 'refused',
      error: { code: 'no_answer', message: expect.stringContaining('turn/2/model of boss') },
    });
    expect(world.outside.modelCalls).toHaveLength(calls);
    await world.close();
  });

  it('says that an answer which nobody asks for any more did not come about again', async () => {
    const world = await played();
    const more = changed(world.ledger, (event) =>
      event.event_type === 'tool.result' && event.step === 'turn/1/tool/0' ? { ...event, step: 'turn/1/tool/7' } : event,
    );
    expect(await replayRun(more, ROOT_RUN)).toMatchObject({
      kind: 'different',
      first: { step: 'turn/1/tool/7', kind: 'missing' },
    });
    await world.close();
  });

  it('of a run that goes on is refused', async () => {
    const world = createWorld({ ...scenario, brain: () => calls({ name: 'ask', input: { question: 'Shall I?' } }) });
    const started = await world.engine.start({ agent: 'boss', input: userText('Go.'), workspace: '.' });
    if (started.kind !== 'started') throw new Error(JSON.stringify(started));
    await world.engine.pause(started.handle.run, 'later');
    await world.engine.close();
    const outcome = await replayRun(world.ledger, started.handle.run);
    expect(outcome).toMatchObject({ kind: 'refused', error: { code: 'not_ended', fix: expect.stringContaining('troupe show') } });
    await world.close();
  });

  it('of no run, of a newer version, and of one that cannot be read whole is refused', async () => {
    const world = await played();
    const refused = async (ledger: Ledger, run = ROOT_RUN) => {
      const outcome = await replayRun(ledger, run);
      return outcome.kind === 'refused' ? outcome.error.code : outcome;
    };
    expect(await refused(world.ledger, 'run_0000000000000000none' as RunId)).toBe('unknown_run');
    expect(await refused(changed(world.ledger, (event) => ({ ...event, schema_version: 2 })))).toBe('newer_version');
    const endless: Ledger = {
      ...world.ledger,
      read: async ({ after = 0, limit = 1 }) => {
        const [event] = await world.ledger.read({ session: ROOT_SESSION, limit: 1 });
        return Array.from({ length: limit }, (_none, index) => ({ ...event, position: after + index + 1 }) as LedgerEvent);
      },
    };
    expect(await refused(endless)).toBe('too_long');
    const gone = { ...world.ledger, read: async () => Promise.reject(new Error('the payload is gone')) };
    expect(await refused(gone)).toBe('unreadable');
    await world.close();
  });

  it('has more than a hundred sessions of every kind to be proved on', () => {
    expect(scenarios.length).toBeGreaterThan(100);
  });
});
