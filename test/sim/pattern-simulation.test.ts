/**
 * Thousands of random simulations: trees of agents in every pattern, a model that is late, wrong or fails, and cancels, pauses,
 * stops and deaths of the process at random moments. `TROUPE_SEEDS` says how many, `TROUPE_SEED` where to begin; a failure
 * names its seed.
 */
import { describe, expect, it } from 'vitest';
import { type SimulatedSession, simulate } from '../support/patterns/simulation.ts';
import { checkSimulation } from '../support/patterns/simulation-checks.ts';

const first = Number(process.env['TROUPE_SEED'] ?? 1);
const count = Number(process.env['TROUPE_SEEDS'] ?? 400);
const GROUP = 100;

async function told(seed: number): Promise<SimulatedSession> {
  try {
    const simulated = await simulate(seed);
    checkSimulation(simulated);
    return simulated;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed} (again with TROUPE_SEED=${seed} TROUPE_SEEDS=1): ${why}`, { cause: error });
  }
}

describe('a random simulation of a session keeps every promise', () => {
  const starts = Array.from({ length: Math.ceil(count / GROUP) }, (_, index) => first + index * GROUP);
  it.each(starts)('from seed %i', async (start) => {
    for (let seed = start; seed < Math.min(start + GROUP, first + count); seed += 1) await told(seed);
  });

  it('is the same for the same seed', async () => {
    const [once, again] = [await told(first), await told(first)];
    expect(again.events.map((event) => event.payload)).toEqual(once.events.map((event) => event.payload));
  });
});
