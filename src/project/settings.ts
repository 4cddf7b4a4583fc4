/** What `troupe.yaml` may say. Loaded only for a project that has one. */
import { z } from 'zod';
import { definitionSchema } from '../agents/definition.ts';
import { priceOverride } from '../models/prices.ts';
import { providerConfig } from '../models/providers.ts';

const models = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1).max(10),
]);
export const settingsSchema = z.strictObject({
  model: models.optional(),
  ledger: z
    .string()
    .regex(/^sqlite:.+/, 'must be sqlite: and a path, such as sqlite:.troupe/ledger.db')
    .optional(),
  durability: z.enum(['effects', 'full']).optional(),
  /** What becomes of a call that must not be repeated when a crash leaves open whether it happened. */
  whenInDoubt: z.enum(['tell', 'ask']).optional(),
  budget: z
    .strictObject({
      usd: z.number().nonnegative().optional(),
      tokens: z.number().int().nonnegative().optional(),
      calls: z.number().int().nonnegative().optional(),
      /** Run models without a known price too: `usd` then counts only what is known. */
      allowUnknownPrices: z.boolean().optional(),
    })
    .optional(),
  providers: z.record(z.string(), providerConfig).optional(),
  prices: z.record(z.string(), priceOverride).optional(),
  permissions: definitionSchema.shape.permissions,
  mcp: definitionSchema.shape.mcp,
  workspace: z.string().min(1).optional(),
  vars: z.record(z.string(), z.string()).optional(),
});

export type Settings = z.infer<typeof settingsSchema>;
