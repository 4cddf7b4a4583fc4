/** A question is waited for in its place as long as something goes on by itself, and no longer. */
import { expect, it } from 'vitest';
import { eventLoopTurn } from '../../base/clock.ts';
import { createAtWork } from './at-work.ts';

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
