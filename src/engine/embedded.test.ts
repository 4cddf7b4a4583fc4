/** What only the embedded engine does, and what is the same code in every engine. The rest is in engine-conformance.test.ts. */
import { afterEach, describe, expect, it } from 'vitest';
import { resultOf, resumedResult, start } from '../../test/support/engine-conformance.ts';
import { agent, calls, createWorld, reports, says, type World, type WorldOptions } from '../../test/support/world.ts';
import { ok } from '../base/result.ts';
import { userText } from '../events/messages.ts';

const worlds: World[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function createdWorld(options: WorldOptions): World {
  const world = createWorld(options);
  worlds.push(world);
  return world;
}

describe('a run', () => {
  it('says plainly what it cannot run yet', async () => {
    const world = createdWorld({ brain: () => says(''), agents: [agent({ dispatch: { agents: ['other'] } })] });
    const refused = await world.engine.start({ agent: 'worker', input: userText('Hi'), workspace: '.' });
    expect(refused).toMatchObject({ kind: 'refused', error: { code: 'not_yet', message: expect.stringContaining('dispatch') } });
  });
});

describe('stopping', () => {
  it('leaves runs resumable when it is closed', async () => {
    const world = createdWorld({
      brain: (asked) =>
        new Promise((resolve) => {
          asked.signal.addEventListener('abort', () =>
            resolve({ kind: 'failed', error: { kind: 'cancelled', message: 'stopped' } }),
          );
          if (world.outside.modelCalls.length > 1) resolve(says('Back again.'));
        }),
    });
    const handle = await start(world);
    await expect.poll(() => world.outside.modelCalls.length).toBe(1);
    await world.engine.close();
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    expect(await resumedResult(world, handle.run)).toMatchObject({ status: 'completed', report: { body: 'Back again.' } });
  });

  it('before the first turn of a run is not taken for cancelling it', async () => {
    const world: World = createdWorld({
      agents: [agent({ agents: ['helper'] }), agent({ name: 'helper' })],
      brain: () => calls({ name: 'helper', input: { prompt: 'Help', reason: 'need' } }),
      parts: {
        tools: async ({ name }) => {
          if (name === 'helper' && world.outside.modelCalls.length > 0) void world.engine.close();
          return ok([]);
        },
      },
    });
    const handle = await start(world);
    expect(await handle.done).toMatchObject({ kind: 'interrupted' });
    const rows = await world.ledger.runs({ session: handle.session });
    expect(rows.map(({ agent, state }) => `${agent} ${state}`)).toEqual(['helper running', 'worker running']);
  });
});

describe('done is checked', () => {
  it('a claim without evidence ends unverified', async () => {
    const world = createdWorld({ brain: () => reports('I wrote it.', { claims: [{ kind: 'file', path: 'made-up.txt' }] }) });
    expect(await resultOf(await start(world))).toMatchObject({ status: 'completed_unverified' });
  });

  it('a reported failure is a failure', async () => {
    const world = createdWorld({ brain: () => reports('No way.', { status: 'failure' }) });
    expect(await resultOf(await start(world))).toMatchObject({
      status: 'failed',
      error: { code: 'reported_failure' },
      report: { body: 'No way.' },
    });
  });
});
