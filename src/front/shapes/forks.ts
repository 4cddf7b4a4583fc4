/** What programs get of a fork. */
import { z } from 'zod';
import { forkSource } from '../../events/going-on.ts';
import { summaryOfRun } from './runs.ts';

const count = z.number().int().nonnegative();

export const forked = z.object({
  session: z.string(),
  run: z.string().describe('the run that goes on there'),
  from: forkSource,
  workspace: z.string().describe('the folder in which it works'),
  kept: z
    .object({ events: count, calls: count, nanoUsd: count })
    .describe('what is answered from the record: events, model calls, and what these cost there in billionths of a dollar'),
  notes: z.array(z.string()).describe('what is not as it was'),
  result: summaryOfRun.nullable().describe('what it came to; null with --no-run'),
});
