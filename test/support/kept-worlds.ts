/** Worlds of one test file: each is closed after the test that made it. */
import { afterEach } from 'vitest';
import { createWorld, type World, type WorldOptions } from './world.ts';

export function keptWorlds(): (options: WorldOptions) => World {
  const kept = closedAfterwards();
  return (options) => kept(createWorld(options));
}

/** For worlds that something else makes. */
export function closedAfterwards(): <Kept extends Pick<World, 'close'>>(world: Kept) => Kept {
  const worlds: Pick<World, 'close'>[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
  });
  return (world) => {
    worlds.push(world);
    return world;
  };
}
