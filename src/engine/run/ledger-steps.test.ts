import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type StepsCase, stepsConformance } from '../../../test/conformance/steps/checks.ts';
import { crashAt } from '../../../test/support/ledger/crash.ts';
import { ofSteps } from '../../../test/support/patterns/of-steps.ts';
import { agent, calls, createWorld, reports, says, turnOf, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { RunId } from '../../base/ids.ts';
import { textOf, userText } from '../../events/messages.ts';
import type { ModelRequest } from '../../models/port.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { readAll } from '../record/read-all.ts';

const CHILD = { kind: 'pattern', role: 'child' } as const;
const folder = mkdtempSync(join(tmpdir(), 'troupe-steps-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RUN = 'run_0000000000000steps0' as RunId;
const DEAD_PID = 2 ** 22 + 1;
const agents = ['root', 'quick', 'slow', 'broken'].map((name) => agent({ name, tools: [] }));

const never = (request: ModelRequest): Promise<never> =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } } as never);
    if (request.signal.aborted) stop();
    request.signal.addEventListener('abort', stop);
  });
const brain: WorldOptions['brain'] = (request) => {
  if (request.agent === 'slow') return never(request);
  if (request.agent === 'broken') return { kind: 'failed', error: { kind: 'auth', message: 'no' } };
  return says(textOf((request.messages[0]?.content ?? []) as { type: string; text: string }[]));
};

async function result(world: World): Promise<RunResult | undefined> {
  const resumed = await world.engine.resume(RUN);
  if (resumed.kind === 'ended') return resumed.result;
  const started =
    resumed.kind === 'resumed'
      ? resumed
      : await world.engine.start({ agent: 'root', input: userText('go'), workspace: '.', run: RUN });
  if (!('handle' in started)) return undefined;
  const end = await started.handle.done;
  return end.kind === 'ended' ? end.result : undefined;
}

describe.each(stepsConformance)('$name', (steps: StepsCase) => {
  it('at once, and cut at every append', async () => {
    const name = steps.name.replaceAll(/\W/g, '-');
    for (let cut = 0, last = 100; cut <= last; cut += 1) {
      const path = join(folder, `${name}-${cut}.db`);
      const counts = new Map<string, number>();
      const engineOptions = ofSteps((port) => steps.pattern(port, { counts }));
      let appends = (): number => 0;
      const dying = createWorld({
        path,
        agents,
        brain,
        engineOptions,
        owner: { pid: DEAD_PID },
        wrapLedger: (inner) => {
          const crashing = crashAt(inner, cut === 0 ? Number.POSITIVE_INFINITY : cut);
          appends = crashing.appends;
          return crashing.ledger;
        },
      });
      const first = await result(dying);
      await dying.ledger.close();
      if (cut === 0) {
        last = appends();
        expect(first).toMatchObject({ status: 'completed', report: { body: steps.expected } });
        continue;
      }
      const next = createWorld({ path, agents, brain, engineOptions });
      expect(await result(next), `cut at ${cut}`).toMatchObject({ status: 'completed', report: { body: steps.expected } });
      expect(await next.ledger.verify()).toMatchObject({ kind: 'sound' });
      await next.close();
    }
  });
});

describe('budgets across the tree', () => {
  const spend = async (limit: object, children: number) => {
    const world = createWorld({
      agents: [agent({ name: 'root', tools: [], budget: limit }), agent({ name: 'quick', tools: [] })],
      brain,
      engineOptions: ofSteps(async (steps) => {
        const handles = [];
        for (let index = 0; index < children; index += 1)
          handles.push(await steps.start(`c${index}`, 'quick', userText('hi'), CHILD));
        return (await steps.settled(handles)).map((one) => one.status).join(' ');
      }),
    });
    const outcome = await result(world);
    const [row] = await world.ledger.runs({ run: RUN });
    const events = row === undefined ? [] : await readAll(world.ledger, row.session);
    await world.close();
    return { body: outcome?.report.body, calls: world.outside.modelCalls.length, events };
  };

  it('children share what the parent has', async () => {
    const { body, calls: made } = await spend({ calls: 2 }, 4);
    expect(body?.split(' ').filter((status) => status === 'completed')).toHaveLength(2);
    expect(body?.split(' ').filter((status) => status === 'budget_exhausted')).toHaveLength(2);
    expect(made).toBe(2);
  });

  it('a budget of zero makes no call', async () => {
    expect(await spend({ calls: 0 }, 1)).toMatchObject({ body: 'budget_exhausted', calls: 0 });
    expect(await spend({ usd: 0 }, 1)).toMatchObject({ body: 'budget_exhausted', calls: 0 });
    expect(await spend({ tokens: 0 }, 1)).toMatchObject({ body: 'budget_exhausted', calls: 0 });
    expect(await spend({ depth: 0 }, 1)).toMatchObject({ body: 'budget_exhausted', calls: 0 });
  });

  it('reserves before the call and settles what it cost', async () => {
    const { events } = await spend({ usd: 1 }, 1);
    const types = events.map((event) => event.event_type);
    expect(types.indexOf('budget.reserved')).toBeLessThan(types.indexOf('model.response'));
    const settled = events.find((event) => event.event_type === 'budget.settled');
    expect(settled?.payload).toMatchObject({ spent: { calls: 1, tokens: 110, nanoUsd: 120_000 } });
  });

  it('refuses dollars where no price is known, unless told otherwise', async () => {
    const priceless = { version: 'none', cost: () => undefined, worstCase: () => undefined };
    const world = createWorld({ agents: [agent({ name: 'root', tools: [], budget: { usd: 1 } })], brain, prices: priceless });
    const refused = await world.engine.start({ agent: 'root', input: userText('go'), workspace: '.' });
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'unknown_price' } });
    await world.close();
    const told = createWorld({
      agents: [agent({ name: 'root', tools: [], budget: { usd: 1, allowUnknownPrices: true } })],
      brain,
      prices: priceless,
    });
    expect(await result(told)).toMatchObject({ status: 'completed' });
    await told.close();
  });

  it('wall time ends the run with what it has', async () => {
    const world = createWorld({ agents: [agent({ name: 'root', tools: [], budget: { wall: 30 } })], brain: never });
    expect(await result(world)).toMatchObject({
      status: 'budget_exhausted',
      error: { message: expect.stringContaining('wall') },
    });
    await world.close();
  });
});

describe('cancelling a run with children', () => {
  it('reaches every descendant', async () => {
    const world = createWorld({
      agents,
      brain,
      engineOptions: ofSteps(async (steps) => {
        const handles = [
          await steps.start('a', 'slow', userText('x'), CHILD),
          await steps.start('b', 'slow', userText('y'), CHILD),
        ];
        return (await steps.settled(handles)).map((one) => one.status).join(' ');
      }),
    });
    const ending = result(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(2);
    await world.engine.cancel(RUN, 'enough');
    await ending;
    const [row] = await world.ledger.runs({ run: RUN });
    const rows = await world.ledger.runs({ session: row?.session ?? ('' as never) });
    expect(rows.filter((one) => one.agent === 'slow').map((one) => one.state)).toEqual(['cancelled', 'cancelled']);
    await world.close();
  });
});

describe('a call in doubt', () => {
  const doubtful = async (whenInDoubt: 'tell' | 'ask') => {
    const path = join(folder, `doubt-${whenInDoubt}.db`);
    const outside = { modelCalls: [] as string[], effects: [] as string[] };
    const options: WorldOptions = {
      path,
      outside,
      agents: [agent({ name: 'root' })],
      brain: (request) => (turnOf(request) === 1 ? calls({ name: 'act' }) : reports('Done.')),
      engineOptions: { whenInDoubt },
    };
    // Appends: the opening, the request, the response, the intent; the result is the one that is lost.
    const dying = createWorld({ ...options, owner: { pid: DEAD_PID }, wrapLedger: (inner) => crashAt(inner, 4).ledger });
    expect(await result(dying)).toBeUndefined();
    await dying.ledger.close();
    expect(outside.effects).toEqual(['act 0']);
    return { world: createWorld(options), outside };
  };

  it('is told to the model and not repeated', async () => {
    const { world, outside } = await doubtful('tell');
    expect(await result(world)).toMatchObject({ status: 'completed' });
    expect(outside.effects).toEqual(['act 0']);
    await world.close();
  });

  it('becomes a question where that is the policy', async () => {
    const { world, outside } = await doubtful('ask');
    expect(await result(world)).toBeUndefined();
    const [wait] = await world.engine.waits(RUN);
    expect(wait).toMatchObject({ kind: 'question', question: expect.stringContaining('may or may not') });
    await world.engine.answer(RUN, wait?.wait ?? '', { kind: 'text', text: 'again' });
    expect(await result(world)).toMatchObject({ status: 'completed' });
    expect(outside.effects).toEqual(['act 0', 'act 0']);
    await world.close();
  });
});
