/** What programs get of how well requests were dealt out, by `troupe measure`. */
import { z } from 'zod';
import { callCosts } from './runs.ts';

const count = z.number().int().nonnegative();
const share = z.number().min(0).max(1);

export const measured = z.object({
  agent: z.string(),
  session: z.string().describe('all choices are runs of it'),
  requests: count,
  right: count.describe('chosen exactly as the file says'),
  accuracy: share.describe('right / requests'),
  belowThreshold: count.describe('not sure enough: it would have asked'),
  fallbacks: count.describe('nobody could be chosen'),
  durationMs: z.object({ median: count, p95: count }),
  confusion: z.array(z.object({ expected: z.string(), chosen: z.string(), count })).describe('the most frequent first'),
  total: z.object(callCosts),
  results: z.array(
    z.object({
      request: z.string(),
      expected: z.array(z.string()).describe('empty where asking is right'),
      chosen: z.array(z.string()).describe('empty when it was not sure, or nobody could be chosen'),
      decision: z.enum(['route', 'clarification', 'fallback']),
      confidence: share,
      right: z.boolean(),
      durationMs: count,
      proposed: z.string().nullable().describe('who would have been chosen with more confidence'),
      reasoning: z.string().nullable(),
    }),
  ),
});
