import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestRestate } from '../../test/support/restate-server.ts';
import { createRestateWorld } from '../../test/support/restate-world.ts';
import { agent, calls, says, turnOf, type World, type WorldOptions } from '../../test/support/world.ts';
import type { RestateServer } from '../cluster/restate-server.ts';
import { userText } from '../events/messages.ts';

let server: RestateServer;
const worlds: World[] = [];
beforeAll(async () => {
  server = await startTestRestate();
}, 60_000);
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});
afterAll(() => server.stop());

async function created(options: WorldOptions): Promise<World> {
  const world = await createRestateWorld(server, options);
  worlds.push(world);
  return world;
}

async function result(world: World, more = {}) {
  const started = await world.engine.start({ agent: 'worker', input: userText('Do it.'), workspace: '.', ...more });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  return end.result;
}

describe('on Restate', () => {
  it('a run ends with its answer', async () => {
    const world = await created({ brain: () => says('Hello.') });
    expect(await result(world)).toMatchObject({ status: 'completed', report: { body: 'Hello.' } });
  });

  it('a run uses tools and sub-agents', async () => {
    const world = await created({
      agents: [agent({ agents: ['helper'] }), agent({ name: 'helper', tools: [] })],
      brain: (request) => {
        if (request.agent === 'helper') return says('Helped.');
        if (turnOf(request) === 1) return calls({ name: 'look' }, { name: 'helper', input: { prompt: 'Help', reason: 'need' } });
        return says(JSON.stringify(request.messages.at(-1)).includes('Helped.') ? 'All done.' : 'Lost.');
      },
    });
    expect(await result(world)).toMatchObject({ status: 'completed', report: { body: 'All done.' } });
  });
});
