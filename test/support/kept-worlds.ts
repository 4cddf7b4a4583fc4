/** Worlds of one test file: each is closed after the test that made it. */
import { afterEach } from 'vitest';
import { createWorld, type World, type WorldOptions } from './world.ts';

export function keptWorlds(): (options: WorldOptions) => World {
  const worlds: World[] = [];
  afterEach(async () => {
    for (const world of worlds.splice(0)) await world.close();
  });
  return (options) => {
    const world = createWorld(options);
    worlds.push(world);
    return world;
  };
}
