/** What a peer says that its work took: there is no one word for it, so those that are common are looked for. */
import { z } from 'zod';
import { present } from '../../base/present.ts';
import type { Usage } from '../../events/messages.ts';

const NANO = 1e9;
const dollars = z.number().nonnegative().max(1_000_000).optional().catch(undefined);
const priced = z.looseObject({
  costUsd: dollars,
  cost_usd: dollars,
  totalCostUsd: dollars,
  total_cost_usd: dollars,
  cost: z
    .looseObject({ amount: dollars, currency: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const tokens = z.number().int().nonnegative().max(1_000_000_000).optional().catch(undefined);
const counted = priced
  .extend({
    inputTokens: tokens,
    outputTokens: tokens,
    input_tokens: tokens,
    output_tokens: tokens,
    promptTokenCount: tokens,
    candidatesTokenCount: tokens,
  })
  .optional()
  .catch(undefined);
const metadata = priced.extend({ usage: counted, usageMetadata: counted, usage_metadata: counted });

/** What work elsewhere took, as far as it is said there: what is not said is unknown, not zero. */
export interface SaidCost {
  readonly usage: Usage;
  readonly nanoUsd?: number | undefined;
}

export function costIn(given: unknown): SaidCost {
  const said = metadata.safeParse(given ?? {}).data;
  const usage = said?.usage ?? said?.usageMetadata ?? said?.usage_metadata;
  const dollars = priceIn(usage) ?? priceIn(said);
  return {
    usage: present({
      inputTokens: usage?.inputTokens ?? usage?.input_tokens ?? usage?.promptTokenCount,
      outputTokens: usage?.outputTokens ?? usage?.output_tokens ?? usage?.candidatesTokenCount,
    }),
    ...present({ nanoUsd: dollars === undefined ? undefined : Math.round(dollars * NANO) }),
  };
}

/** Of two words the later one, field by field. */
export const laterCost = (before: SaidCost, now: SaidCost): SaidCost => ({
  usage: { ...before.usage, ...now.usage },
  ...present({ nanoUsd: now.nanoUsd ?? before.nanoUsd }),
});

/** Only what says that it is dollars: a number alone may be of any money. */
function priceIn(said: z.infer<typeof priced> | undefined): number | undefined {
  const { cost } = said ?? {};
  const named = said?.costUsd ?? said?.cost_usd ?? said?.totalCostUsd ?? said?.total_cost_usd;
  return named ?? (cost?.currency?.toUpperCase() === 'USD' ? cost.amount : undefined);
}
