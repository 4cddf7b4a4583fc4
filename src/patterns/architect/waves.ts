/** Which tasks are worked on at once: those about different files. Tasks about the same files keep their order. */

import { overlap } from './scope.ts';
import type { Unit } from './units.ts';

export interface Waves {
  readonly wave: readonly Unit[];
  readonly rest: readonly Unit[];
}

export function nextWave(queue: readonly Unit[], parallel: number): Waves {
  const wave: Unit[] = [];
  const rest: Unit[] = [];
  for (const unit of queue) {
    const meets = [...wave, ...rest].some((other) => overlap(unit.wanted.scope, other.wanted.scope));
    if (wave.length < parallel && !meets) wave.push(unit);
    else rest.push(unit);
  }
  return { wave, rest };
}
