/** What programs get of a run that was played again, and of two runs held against each other. */
import { z } from 'zod';

const count = z.number().int().nonnegative();

const replayCounts = {
  run: z.string().describe('the root run: a run is played again with the whole tree that it is in'),
  status: z.string(),
  runs: count,
  events: count.describe('recorded events that were come to again'),
};

export const replayed = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('identical'), ...replayCounts }),
  z.object({
    kind: z.literal('different'),
    first: z.object({
      kind: z.enum(['changed', 'missing', 'new']),
      run: z.string(),
      agent: z.string(),
      type: z.string(),
      step: z.string(),
      position: count.describe('of the recorded event; of a new one, behind which event of its run'),
      path: z.string().describe('the part of the payload; empty for the whole'),
      recorded: z.unknown().optional(),
      now: z.unknown().optional(),
    }),
    ...replayCounts,
  }),
]);
