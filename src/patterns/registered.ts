/** Every pattern there is, in the order in which a run goes through them. A new one is one more line. */
import type { PatternKey } from '../agents/definition/definition.ts';
import { advisorsPattern } from './advisors/pattern.ts';
import { architectPattern } from './architect/pattern.ts';
import { dispatchPattern } from './dispatch/pattern.ts';
import { groupPattern } from './group/pattern.ts';
import { handoffPattern } from './handoff/pattern.ts';
import type { Pattern } from './pattern.ts';
import { routerPattern } from './router/pattern.ts';
import { teamPattern } from './team/pattern.ts';

export const registeredPatterns: readonly (Pattern & { readonly key: PatternKey })[] = [
  advisorsPattern,
  teamPattern,
  groupPattern,
  dispatchPattern,
  architectPattern,
  routerPattern,
  // Applied last and never bypassed.
  handoffPattern,
];
