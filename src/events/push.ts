/** What is recorded of peers that want to be told how a task stands: whom to tell, and how far they were told. */
import { z } from 'zod';

export const pushEvents = {
  /** From here on this address is told; an earlier one of the same name is not any more. */
  'push.configured': z.object({
    config: z.string(),
    url: z.string(),
    /** What the address wants to hear, in a form that is redacted wherever it is read. */
    token: z.string().optional(),
    scheme: z.string().optional(),
    credentials: z.string().optional(),
    /** The version of A2A in which it is told. */
    version: z.string(),
  }),
  'push.removed': z.object({ config: z.string() }),
  /** It was told everything up to this position; or nobody tries any more, and why. */
  'push.told': z.object({ config: z.string(), position: z.number().int().nonnegative(), failed: z.string().optional() }),
} as const;
