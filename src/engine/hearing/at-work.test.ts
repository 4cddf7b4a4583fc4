/** A question is waited for in its place as long as something goes on by itself, and no longer. */
import { expect, it } from 'vitest';
import { resultOf, start } from '../../../test/conformance/engine/checks.ts';
import { keptWorlds } from '../../../test/support/kept-worlds.ts';
import { agent, calls, reports, turnOf } from '../../../test/support/world.ts';
import { eventLoopTurn } from '../../base/clock.ts';
import { createAtWork } from './at-work.ts';

const created = keptWorlds();

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await eventLoopTurn();
}

/** Says what happened, in order. */
function resting(written: () => Promise<unknown> = async () => undefined) {
  const atWork = createAtWork(written);
  const said: string[] = [];
  return { atWork, said, rest: () => atWork.rest().then(() => void said.push('rest')) };
}

it('rest comes at once where nothing is at work', async () => {
  const { rest, said } = resting();
  await rest();
  expect(said).toEqual(['rest']);
});

it('rest comes when the last of what is at work has ended, and each end counts once', async () => {
  const { atWork, rest, said } = resting();
  const ends = [atWork.begin(), atWork.begin()];
  const rested = rest();
  ends[0]?.();
  ends[0]?.();
  await turns(20);
  expect(said).toEqual([]);
  ends[1]?.();
  await rested;
  expect(said).toEqual(['rest']);
});

it('work that fails has ended, too', async () => {
  const { atWork, rest } = resting();
  const failing = Promise.withResolvers<void>();
  const work = atWork.during(() => failing.promise);
  const rested = rest();
  failing.reject(new Error('no'));
  await expect(work).rejects.toThrow('no');
  await rested;
});

it('what begins while it is looked whether anything does is waited for', async () => {
  const { atWork, rest, said } = resting();
  const rested = rest();
  await turns(1);
  const end = atWork.begin();
  await turns(20);
  expect(said).toEqual([]);
  end();
  await rested;
});

it('work that began and ended meanwhile has what follows it begin in time', async () => {
  const { atWork, rest, said } = resting();
  const rested = rest();
  await turns(2);
  atWork.begin()();
  await turns(2);
  const end = atWork.begin();
  await turns(20);
  expect(said).toEqual([]);
  end();
  await rested;
});

it('rest waits until what was to be recorded is', async () => {
  const recorded = Promise.withResolvers<void>();
  const { rest, said } = resting(() => recorded.promise);
  const rested = rest();
  await turns(20);
  expect(said).toEqual([]);
  recorded.resolve();
  await rested;
});

it('an answer is used while others work, and what it says "always" to is not asked for again', async () => {
  const slow = Promise.withResolvers<void>();
  const act = (name: string) => calls({ name: 'act', input: { name } });
  const asks = (name: string) => ({ name, input: { prompt: 'Go', reason: 'need' }, id: name });
  const world = created({
    agents: [
      agent({ agents: ['asker', 'slow'] }),
      agent({ name: 'asker', permissions: { act: 'ask' } }),
      agent({ name: 'slow' }),
    ],
    brain: async (request) => {
      if (request.agent === 'slow') await slow.promise;
      if (request.agent === 'asker' && turnOf(request) <= 2) return act(`${turnOf(request)}`);
      return request.agent === 'worker' && turnOf(request) === 1 ? calls(asks('asker'), asks('slow')) : reports('Done.');
    },
  });
  const handle = await start(world);
  await expect.poll(() => world.engine.waits(handle.run)).toHaveLength(1);
  const [{ run, wait } = expect.unreachable()] = await world.engine.waits(handle.run);
  await world.engine.answer(run, wait, { kind: 'approved', remember: true });
  try {
    await expect.poll(() => world.outside.effects).toEqual(['act 1', 'act 2']);
  } finally {
    slow.resolve();
  }
  expect(await resultOf(handle)).toMatchObject({ status: 'completed' });
});
