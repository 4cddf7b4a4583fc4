import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { crashAt } from '../../test/support/ledger/crash.ts';
import { agent, calls, createWorld, reports, says, turnOf, type World, type WorldOptions } from '../../test/support/world.ts';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { RunId } from '../base/ids.ts';
import { fail, ok } from '../base/result.ts';
import type { Budget } from '../events/catalogue.ts';
import { userText } from '../events/messages.ts';
import type { ModelRequest } from '../models/port.ts';
import type { EngineOptions } from './options.ts';
import { readAll } from './record/read-all.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-models-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = 'run_00000000000000models' as RunId;
const NO_KEY = { kind: 'auth' as const, message: 'There is no key for none: set the environment variable NONE_API_KEY.' };

/** `none/…` has no key; everything else answers. */
function world(agents: readonly AgentDefinition[], brain: WorldOptions['brain'], more: Partial<WorldOptions> = {}): World {
  const outside = more.outside ?? { modelCalls: [], effects: [] };
  const ask: WorldOptions['brain'] = (request, call) => {
    outside.modelCalls.push(request.idempotencyKey);
    return brain(request, call);
  };
  return createWorld({ agents, brain, outside, ...more, engineOptions: { models: opens(ask), ...more.engineOptions } });
}

function opens(ask: WorldOptions['brain'], closed = 'none/'): EngineOptions['models'] {
  const open = async (name: string) =>
    name.startsWith(closed)
      ? fail(NO_KEY)
      : ok({ id: name, account: name, ask: async (request: Parameters<typeof ask>[0]) => ask(request, 0) });
  return { open };
}

const keyless = (name: string): AgentDefinition => agent({ name, models: ['none/model'], tools: [] });
const start = (one: World, name: string) => one.engine.start({ agent: name, input: userText('Go.'), workspace: '.', run: RUN });

describe('before the first call', () => {
  it.each<[string, Partial<AgentDefinition>]>([
    ['an advisor', { advisors: ['poor'] }],
    ['a handoff', { handoff: { to: 'poor', include: 'report' } }],
    ['a member of a team', { team: { members: ['rich', 'poor'] } }],
    ['a worker', { group: { mode: 'broadcast', workers: ['rich', 'poor'] } }],
    ['the model of a worker', { group: { mode: 'broadcast', workers: [{ agent: 'rich', model: 'none/other' }] } }],
    ['an evaluator', { group: { mode: 'reflect', workers: ['rich'], evaluator: 'poor' } }],
    ['somebody further down', { advisors: ['middle'] }],
  ])('a run is refused for want of a key: %s', async (_who, patterns) => {
    const agents = [
      agent({ name: 'lead', tools: [], ...patterns }),
      agent({ name: 'middle', tools: [], handoff: { to: 'poor', include: 'report' } }),
      agent({ name: 'rich', tools: [] }),
      keyless('poor'),
    ];
    const one = world(agents, () => says('Done.'));
    expect(await start(one, 'lead')).toMatchObject({
      kind: 'refused',
      error: { code: 'model_auth', message: expect.stringContaining('NONE_API_KEY') },
    });
    expect(one.outside.modelCalls).toEqual([]);
    await one.close();
  });

  it('a run is refused where somebody names no model and there is no other', async () => {
    const agents = [agent({ name: 'lead', tools: [], advisors: ['bare'] }), agent({ name: 'bare', models: [], tools: [] })];
    const none = { defaultModels: async () => fail('No model was found.') };
    const one = world(agents, () => says('Done.'), { engineOptions: none });
    const error = { code: 'no_model', message: 'bare, which lead needs: No model was found.' };
    expect(await start(one, 'lead')).toMatchObject({ kind: 'refused', error });
    await one.close();
  });

  it('a worker with a model of its own needs no other', async () => {
    const group = { mode: 'broadcast' as const, workers: [{ agent: 'poor', model: 'test/model' }] };
    const one = world([agent({ name: 'lead', tools: [], group }), keyless('poor')], () => says('Done.'));
    const started = await start(one, 'lead');
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    await one.close();
  });
});

describe('somebody who is only asked when chosen', () => {
  it('fails alone as a sub-agent, and the parent goes on', async () => {
    const one = world([agent({ name: 'lead', tools: [], agents: ['poor'] }), keyless('poor')], (request) =>
      turnOf(request) === 1 ? calls({ name: 'poor', input: { prompt: 'Help.', reason: 'why' } }) : reports('Alone.'),
    );
    const started = await start(one, 'lead');
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    const states = (await one.ledger.runs({ session: started.handle.session })).map((row) => `${row.agent} ${row.state}`);
    expect(states).toContain('poor failed');
    await one.close();
  });

  const toTool = (request: ModelRequest): string => JSON.stringify(request.messages.filter(({ role }) => role === 'tool'));
  const routes = (name: string) => calls({ name: 'handoff-to', input: { agent: name } });

  it.each<[string, readonly AgentDefinition[]]>([
    ['it has no key', [keyless('poor')]],
    ['somebody whom it needs has none', [agent({ name: 'poor', tools: [], advisors: ['below'] }), keyless('below')]],
  ])('is no destination: the router is told, and chooses another (%s)', async (_why, poor) => {
    const router = agent({ name: 'lead', tools: [], router: { destinations: ['poor', 'rich'] } });
    const told: string[] = [];
    const one = world([router, agent({ name: 'rich', tools: [] }), ...poor], (request) => {
      if (request.agent === 'rich') return says('Rich.');
      told.push(toTool(request));
      return routes(turnOf(request) < 3 ? 'poor' : 'rich');
    });
    const started = await start(one, 'lead');
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', finalAgent: 'rich' } });
    for (const words of ['poor cannot be asked', 'NONE_API_KEY', 'The other destinations are: rich.'])
      expect(told[1]).toContain(words);
    const recorded = await readAll(one.ledger, started.handle.session, { types: ['step.recorded'] });
    expect(recorded.filter(({ step }) => step === 'router/closed/poor')).toHaveLength(1);
    expect((await one.ledger.runs({ session: started.handle.session })).map((row) => row.agent)).not.toContain('poor');
    await one.close();
  });

  it('is no destination: a router that has no other answers itself', async () => {
    const agents = [agent({ name: 'lead', tools: [], router: { destinations: ['poor'] } }), keyless('poor')];
    const one = world(agents, (request) => (turnOf(request) === 1 ? routes('poor') : reports(toTool(request))));
    const started = await start(one, 'lead');
    if (started.kind !== 'started') throw new Error(started.error.message);
    const end = await started.handle.done;
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed', finalAgent: 'lead' } });
    expect(JSON.stringify(end)).toContain('Answer yourself.');
    await one.close();
  });

  it('goes on as a destination that was begun with a key, and is not chosen anew', async () => {
    const path = join(folder, 'begun.db');
    const agents = [
      agent({ name: 'lead', tools: [], router: { destinations: ['later'] } }),
      agent({ name: 'later', models: ['later/model'] }),
    ];
    const asked: string[] = [];
    const brain: WorldOptions['brain'] = (request) => {
      asked.push(String(request.agent));
      return request.agent === 'lead' ? routes('later') : turnOf(request) === 1 ? calls({ name: 'look' }) : says('Done.');
    };
    const dies = (inner: Parameters<NonNullable<WorldOptions['wrapLedger']>>[0]) => crashAt(inner, 9).ledger;
    const dying = world(agents, brain, { path, owner: { pid: 2 ** 22 + 1 }, wrapLedger: dies });
    const started = await start(dying, 'lead');
    if (started.kind === 'started') await started.handle.done;
    await dying.ledger.close();
    expect(asked).toContain('later');
    const later = createWorld({ path, agents, brain, engineOptions: { models: opens(brain, 'later/') } });
    const resumed = await later.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject({ kind: 'interrupted' });
    const recorded = await readAll(later.ledger, resumed.handle.session, { types: ['step.recorded'] });
    expect(recorded.map(({ step }) => step)).not.toContain('router/closed/later');
    expect(asked.filter((name) => name === 'lead')).toHaveLength(1);
    await later.close();
  });
});

describe('a run that began with a key', () => {
  it('is not taken up without it, and can still be cancelled', async () => {
    const path = join(folder, 'later.db');
    const agents = [agent({ models: ['later/model'] })];
    const brain: WorldOptions['brain'] = (request) => (turnOf(request) === 1 ? calls({ name: 'look' }) : says('Done.'));
    const dying = world(agents, brain, {
      path,
      owner: { pid: 2 ** 22 + 1 },
      wrapLedger: (inner) => crashAt(inner, 3).ledger,
    });
    const started = await start(dying, 'worker');
    if (started.kind === 'started') await started.handle.done;
    await dying.ledger.close();
    const shell = createWorld({ path, agents, brain, engineOptions: { models: { open: async () => fail(NO_KEY) } } });
    expect(await shell.engine.resume(RUN)).toMatchObject({ kind: 'refused', error: { code: 'model_auth' } });
    expect((await shell.ledger.runs({ run: RUN }))[0]?.endedAt).toBeNull();
    await shell.engine.cancel(RUN, 'enough');
    expect(await shell.engine.resume(RUN)).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    await shell.close();
  });

  it('goes on with the one that it is given, also whoever is begun only then and names none', async () => {
    const path = join(folder, 'given.db');
    const agents = [
      agent({ models: ['test/model'], tools: [], handoff: { to: 'next', include: 'report' } }),
      agent({ name: 'next', tools: [], models: [] }),
    ];
    const brain: WorldOptions['brain'] = () => says('Done.');
    const none = { defaultModels: async () => fail('No model was found.') };
    const dying = world(agents, brain, { path, owner: { pid: 2 ** 22 + 1 }, wrapLedger: (inner) => crashAt(inner, 3).ledger });
    const started = await start(dying, 'worker');
    if (started.kind === 'started') await started.handle.done;
    await dying.ledger.close();
    const later = createWorld({ path, agents, brain, engineOptions: none });
    const resumed = await later.engine.resume(RUN, { model: 'test/model' });
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', finalAgent: 'next' } });
    await later.close();
  });

  it('goes on with what it was started with, whoever is begun only then, and so does one that does its work again', async () => {
    const path = join(folder, 'for-all.db');
    const agents = [agent({ models: ['none/own'], tools: [], handoff: { to: 'next', include: 'report' } }), keyless('next')];
    const prompt: EngineOptions['prompt'] = (_agent, _workspace, vars) => `Be ${vars?.['tone'] ?? 'as you are'}.`;
    const tree = { model: 'test/model', maxTurns: 7, vars: { tone: 'plain' } };
    const brain: WorldOptions['brain'] = () => says('Done.');
    const dying = world(agents, brain, {
      path,
      owner: { pid: 2 ** 22 + 1 },
      wrapLedger: (inner) => crashAt(inner, 3).ledger,
      engineOptions: { settings: { tree }, prompt },
    });
    const started = await start(dying, 'worker');
    if (started.kind !== 'started') throw new Error(started.error.message);
    await started.handle.done;
    await dying.ledger.close();
    const later = world(agents, brain, { path, engineOptions: { prompt } });
    const resumed = await later.engine.resume(RUN);
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed', finalAgent: 'next' } });
    const { session } = resumed.handle;
    const again = await later.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.', session, retries: RUN });
    if (again.kind !== 'started') throw new Error(again.error.message);
    expect(await again.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    const setups = await readAll(later.ledger, session, { types: ['session.config'] });
    const under = { system: 'Be plain.', definition: { models: ['test/model'], maxTurns: 7 } };
    expect(setups.map(({ payload }) => payload)).toEqual(
      ['worker', 'next', 'worker', 'next'].map((name) => expect.objectContaining({ agent: name, system: under.system })),
    );
    for (const { payload } of setups) expect(payload).toMatchObject(under);
    await later.close();
  });

  it('keeps, when its work is done again, the limits that it was given last, and not those of its file', async () => {
    const path = join(folder, 'limits.db');
    const inWorld = (budget: Budget): World =>
      world([agent({ tools: ['note'], budget: { ...budget, allowUnknownPrices: true } })], () => calls({ name: 'note' }), {
        path,
      });
    const first = inWorld({ usd: 2, calls: 1 });
    const request = { agent: 'worker', input: userText('Go.'), workspace: '.' };
    const started = await first.engine.start({ ...request, run: RUN, budget: { usd: 0.5, tokens: 900 } });
    if (started.kind !== 'started') throw new Error(started.error.message);
    expect(await started.handle.done).toMatchObject({ result: { status: 'budget_exhausted' } });
    const resumed = await first.engine.resume(RUN, { budget: { calls: 2, usd: 0.25 } });
    if (resumed.kind !== 'resumed') throw new Error(JSON.stringify(resumed));
    await resumed.handle.done;
    await first.close();
    const later = inWorld({ usd: 3, calls: 9, depth: 3 });
    const { session } = started.handle;
    const again = async (budget?: Budget): Promise<unknown> => {
      const outcome = await later.engine.start({ ...request, session, retries: RUN, budget });
      if (outcome.kind !== 'started') throw new Error(outcome.error.message);
      await outcome.handle.done;
      const [event] = await readAll(later.ledger, session, { run: outcome.handle.run, types: ['run.started'] });
      return event?.event_type === 'run.started' ? event.payload.budget : undefined;
    };
    expect(await again()).toEqual({ usd: 0.25, tokens: 900, calls: 2, depth: 3 });
    expect(await again({ usd: 0.75, calls: 1 })).toEqual({ usd: 0.75, tokens: 900, calls: 1, depth: 3 });
    await later.close();
  });
});
