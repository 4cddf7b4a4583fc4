/** What a report claims, and what the runtime found when it looked. */
import { z } from 'zod';
import { limits } from '../base/limits.ts';

export const claim = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('file'), path: z.string() }),
  z.object({ kind: z.literal('command'), command: z.string() }),
]);

const reasons = z.array(z.string().max(limits.verificationReasonCharacters)).min(1).max(limits.verificationReasons);

/**
 * What the runtime found when it held a result against what it saw. `unchecked`: nothing was claimed and nothing demanded, or
 * what was looked at says nothing about it, for these reasons; which is neither good nor bad, and never shown as if it were
 * `verified`.
 */
export const verification = z.discriminatedUnion('state', [
  z.object({ state: z.literal('verified') }),
  z.object({
    state: z.literal('unverified'),
    reasons,
    /** The claims that nothing backed, when backing these is all that is missing. */
    open: z.array(claim).max(limits.verificationReasons).optional(),
  }),
  z.object({ state: z.literal('unchecked'), reasons: reasons.optional() }),
]);
