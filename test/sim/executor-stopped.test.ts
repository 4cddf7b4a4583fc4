/** Runs that are cancelled, paused or left while an executor works: its processes end, and what goes on later goes on. */
import { describe, expect, it } from 'vitest';
import type { ModelOutcome } from '../../src/models/port.ts';
import { diligent, executing } from '../support/executors/brain-executors.ts';
import {
  bodyOf,
  driven,
  type KeptPlay,
  newPlay,
  type OpenWorld,
  payloadsOf,
  RUN,
  worldOf,
} from '../support/executors/executor-play.ts';

/** Works until the test lets it go on. */
function held() {
  const begun = Promise.withResolvers<void>();
  const play = newPlay({
    agents: [executing('coder')],
    brain: (request) => {
      begun.resolve();
      return new Promise<ModelOutcome>((resolve) =>
        request.signal.addEventListener('abort', () => resolve({ kind: 'failed', error: { kind: 'cancelled', message: '' } })),
      );
    },
  });
  return { play, begun: begun.promise };
}

async function goesOn(kept: KeptPlay): Promise<string | undefined> {
  const world = worldOf({ ...kept, brain: diligent(['silent', 'touch one']) });
  const end = await driven(world, kept);
  await world.close();
  return bodyOf(end);
}

async function stopped(stop: (world: OpenWorld) => Promise<unknown>) {
  const { play, begun } = held();
  const world = worldOf(play);
  const going = driven(world, play);
  await begun;
  const asked = stop(world);
  const end = await going;
  await asked;
  await world.close();
  return { play, end };
}

describe('an executor at work', () => {
  it('ends when its run is cancelled', async () => {
    const { play, end } = await stopped((world) => world.engine.cancel(RUN, 'Enough.'));
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'cancelled' } });
    expect(play.memory.ended).toBe(1);
    expect(await payloadsOf(play, 'executor.ended')).toMatchObject([
      { executor: 'sample', session: 'session-1', stop: 'cancelled' },
    ]);
  });

  it('ends when its run is paused, and its session goes on when that is resumed', async () => {
    const { play, end } = await stopped((world) => world.engine.pause(RUN, 'Wait.'));
    expect(end).toMatchObject({ kind: 'paused' });
    expect(play.memory.ended).toBe(1);
    expect(await goesOn(play)).toBe('Done: touch one.');
    expect(play.memory.opened.map(({ restored }) => restored)).toEqual(['new', 'loaded']);
  });

  it('ends when the engine is closed, and its session goes on in another process', async () => {
    const { play, end } = await stopped((world) => world.engine.close());
    expect(end).toMatchObject({ kind: 'interrupted' });
    expect(play.memory.ended).toBe(1);
    expect(await goesOn(play)).toBe('Done: touch one.');
  });

  it('ends when the time of its run is over', async () => {
    const { play } = held();
    const timed = { ...play, agents: [executing('coder', { budget: { wall: 30 } })] };
    const world = worldOf(timed);
    expect(await driven(world, timed)).toMatchObject({ kind: 'ended', result: { status: 'budget_exhausted' } });
    await world.close();
    expect(timed.memory.ended).toBe(1);
  });
});
