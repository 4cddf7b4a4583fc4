/** What a peer says that its work took: there is no one word for it, so those that are common are looked for. */
import { z } from 'zod';
import { present } from '../../base/present.ts';
import type { Usage } from '../../events/messages.ts';

const tokens = z.number().int().nonnegative().max(1_000_000_000).optional().catch(undefined);
const counted = z
  .looseObject({
    inputTokens: tokens,
    outputTokens: tokens,
    input_tokens: tokens,
    output_tokens: tokens,
    promptTokenCount: tokens,
    candidatesTokenCount: tokens,
  })
  .optional()
  .catch(undefined);
const metadata = z.looseObject({ usage: counted, usageMetadata: counted, usage_metadata: counted });

/** Nothing where it does not say: what is not counted is unknown, not zero. */
export function usageIn(given: unknown): Usage {
  const said = metadata.safeParse(given ?? {}).data;
  const usage = said?.usage ?? said?.usageMetadata ?? said?.usage_metadata;
  if (usage === undefined) return {};
  return present({
    inputTokens: usage.inputTokens ?? usage.input_tokens ?? usage.promptTokenCount,
    outputTokens: usage.outputTokens ?? usage.output_tokens ?? usage.candidatesTokenCount,
  });
}
