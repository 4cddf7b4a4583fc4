/**
 * What an executor says, read with a light hand: real ones leave out what the protocol demands and add what it does not know.
 * What is not there or not usable is undefined; only what nothing can be done without is demanded.
 */
import { z } from 'zod';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';

/** Of the right kind, or not there. */
export const maybe = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
/** Entries that are not usable are left out. */
export const usableOf = <Schema extends z.ZodType>(schema: Schema, most: number) =>
  z.array(z.unknown()).transform((all): z.output<Schema>[] =>
    all.slice(0, most).flatMap((one) => {
      const parsed = schema.safeParse(one);
      return parsed.success ? [parsed.data] : [];
    }),
  );
export const titleText = z.string().transform((one) => one.slice(0, limits.executorTitleCharacters));
export const id = z.string().min(1).max(limits.executorIdCharacters);
const json = z.custom<Json>((value) => value !== undefined);
export const there = z.union([z.literal(true), z.looseObject({})]);

const authMethod = z.object({ id, name: maybe(titleText), description: maybe(titleText) });

export const initialized = z.object({
  protocolVersion: z.number(),
  agentInfo: maybe(z.object({ name: maybe(titleText), title: maybe(titleText), version: maybe(titleText) })),
  agentCapabilities: maybe(
    z.object({
      loadSession: maybe(z.boolean()),
      promptCapabilities: maybe(z.object({ image: maybe(z.boolean()), embeddedContext: maybe(z.boolean()) })),
      mcpCapabilities: maybe(z.object({ http: maybe(z.boolean()), sse: maybe(z.boolean()) })),
      sessionCapabilities: maybe(z.object({ list: maybe(there), resume: maybe(there), close: maybe(there) })),
    }),
  ),
  authMethods: maybe(usableOf(authMethod, limits.executorModes)),
});

const mode = z.object({ id, name: maybe(titleText) });
const choice = z.object({ value: id, name: maybe(titleText) });
/** A list of choices, or of groups of them. */
const choices = usableOf(
  z.union([choice, z.object({ options: usableOf(choice, limits.executorModes) })]),
  limits.executorModes,
).catch([]);
const configOption = z.object({
  id,
  category: maybe(titleText),
  currentValue: maybe(z.union([z.string(), z.boolean()])),
  options: choices.transform((all) => all.flatMap((one) => ('options' in one ? one.options : [one]))),
});

export const offeredFacts = z.object({
  modes: maybe(z.object({ currentModeId: maybe(id), availableModes: usableOf(mode, limits.executorModes) })),
  configOptions: maybe(usableOf(configOption, limits.executorModes)),
});
export const sessionMade = offeredFacts.extend({ sessionId: id });
export type OfferedFacts = z.infer<typeof offeredFacts>;
export type ConfigOption = z.infer<typeof configOption>;

const tokens = maybe(z.number().int().nonnegative());
export const prompted = z.object({
  stopReason: z.enum(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled']),
  usage: maybe(
    z.object({
      ...{ inputTokens: tokens, outputTokens: tokens, thoughtTokens: tokens },
      ...{ cachedReadTokens: tokens, cachedWriteTokens: tokens },
    }),
  ),
  _meta: maybe(
    z.object({ quota: maybe(z.object({ token_count: maybe(z.object({ input_tokens: tokens, output_tokens: tokens })) })) }),
  ),
});
export type Prompted = z.infer<typeof prompted>;

/** Texts of messages are not cut here: whoever puts them together does. */
const block = z.object({ type: z.string(), text: maybe(z.string()) });
const content = z.object({
  type: z.string(),
  content: maybe(block),
  path: maybe(z.string().max(limits.pathCharacters)),
  oldText: maybe(z.string().nullable()),
  newText: maybe(z.string()),
  terminalId: maybe(id),
});

const printed = z.object({ data: z.string() });

export const toolCallSaid = z.object({
  toolCallId: id,
  title: maybe(titleText),
  kind: maybe(titleText),
  status: maybe(z.enum(['pending', 'in_progress', 'completed', 'failed'])),
  content: maybe(usableOf(content, limits.executorDiffs)),
  locations: maybe(usableOf(z.object({ path: z.string().max(limits.pathCharacters) }), limits.executorLocations)),
  rawInput: maybe(json),
  rawOutput: maybe(json),
  /** Where some put what a terminal of their own shows. */
  _meta: maybe(z.object({ terminal_output: maybe(printed), terminal_output_delta: maybe(printed) })),
});
export type ToolCallSaid = z.infer<typeof toolCallSaid>;

const planEntry = z.object({
  content: titleText,
  priority: z.enum(['high', 'medium', 'low']).catch('medium'),
  status: z.enum(['pending', 'in_progress', 'completed']).catch('pending'),
});

/** One update, whatever its kind; an unknown kind has none of the fields, and is left out. */
export const sessionUpdate = z.object({
  sessionId: id,
  update: z.looseObject({ sessionUpdate: z.string() }),
});
export const chunkUpdate = z.object({ content: block });
export const planUpdate = z.object({ entries: usableOf(planEntry, limits.executorPlanEntries) });
export const modeUpdate = z.object({ currentModeId: id });
export const usageSaid = z.object({
  used: tokens,
  size: tokens,
  cost: maybe(z.object({ amount: z.number().nonnegative(), currency: z.string() })),
});

const permissionOption = z.object({
  optionId: id,
  name: titleText,
  kind: z.enum(['allow_once', 'allow_always', 'reject_once', 'reject_always']),
});
export const permissionSaid = z.object({
  sessionId: id,
  toolCall: toolCallSaid,
  options: usableOf(permissionOption, limits.executorModes),
});
export type PermissionSaid = z.infer<typeof permissionSaid>;
