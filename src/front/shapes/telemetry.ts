/** What programs get of what is sent to OpenTelemetry. */
import { z } from 'zod';

const count = z.number().int().nonnegative();

export const telemetryStanding = z.object({
  state: z.enum(['off', 'on', 'wrong', 'unreachable']).describe('`wrong`: how it is wanted makes no sense; `why` says it'),
  endpoint: z.string().optional(),
  from: z.string().optional().describe('who named the address: a variable or a setting'),
  content: z.boolean().optional().describe('spans carry what was said'),
  conventions: z.string().optional(),
  spans: count.optional().describe('told until now'),
  refused: count.optional().describe('of those, refused by the collector'),
  behind: count.optional().describe('events that spans follow from and that were not told yet; no more than 10,000 are counted'),
  told: z.string().optional().describe('when something was told last'),
  why: z.string().optional(),
});
export type TelemetryStatus = z.infer<typeof telemetryStanding>;

export const backfilled = z.object({
  spans: count,
  refused: count,
  endpoint: z.string().optional(),
  file: z.string().optional(),
  why: z.string().optional(),
});
export type Backfilled = z.infer<typeof backfilled>;
