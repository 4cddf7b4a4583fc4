/** What the runs of a tree have done up to some point, as sums: what is written down when a root run is condensed. */
import { z } from 'zod';

/** What runs have done, as sums; with `nanoUsd` go the calls whose price nobody knows. */
const doings = z.object({
  turns: z.number().int(),
  toolCalls: z.number().int(),
  /** Calls that were not made because their exact arguments are gone. */
  gone: z.number().int().optional(),
  spent: z.object({
    calls: z.number().int(),
    inputTokens: z.number(),
    outputTokens: z.number(),
    cacheReadTokens: z.number(),
    nanoUsd: z.number(),
    unknownCalls: z.number().int(),
    uncountedCalls: z.number().int().optional(),
  }),
});
export type Doings = z.infer<typeof doings>;
/** The same of a root run and, in one, of all runs below it that have begun. */
export const treeDoings = z.object({ own: doings, below: doings.extend({ runs: z.number().int() }) });
export type TreeDoings = z.infer<typeof treeDoings>;
