/** The schemas of what is said between an agent and a model: the source of the types in messages.ts. */
import { z } from 'zod';
import type { Json } from '../base/json.ts';

/** Any JSON. Checked where it is parsed, not walked again each time it passes a schema. */
export const jsonValue = z.custom<Json>((value) => value !== undefined);

export const textPart = z.object({ type: z.literal('text'), text: z.string() });
/** An image, as base64 or as an address the provider can fetch. */
export const imagePart = z.object({ type: z.literal('image'), mediaType: z.string(), data: z.string() });
/** `opaque` is what the provider wants back untouched (signatures); only the provider that wrote it may see it again. */
export const reasoningPart = z.object({
  type: z.literal('reasoning'),
  text: z.string(),
  provider: z.string().optional(),
  opaque: jsonValue.optional(),
});
export const toolCallPart = z.object({
  type: z.literal('tool-call'),
  id: z.string(),
  name: z.string(),
  /** Parsed arguments; when the model's text was not JSON even after repair, `malformed` holds it and `input` is `{}`. */
  input: jsonValue,
  malformed: z.string().optional(),
  provider: z.string().optional(),
  opaque: jsonValue.optional(),
});
export const toolResultPart = z.object({
  type: z.literal('tool-result'),
  id: z.string(),
  name: z.string(),
  content: z.array(z.union([textPart, imagePart])),
  isError: z.boolean().optional(),
  /** The call was never made: there is no such tool, its arguments are broken, or there were too many. */
  turnedAway: z.literal(true).optional(),
});

export const userMessage = z.object({ role: z.literal('user'), content: z.array(z.union([textPart, imagePart])) });
export const assistantMessage = z.object({
  role: z.literal('assistant'),
  content: z.array(z.discriminatedUnion('type', [textPart, reasoningPart, toolCallPart])),
});
export const toolMessage = z.object({ role: z.literal('tool'), content: z.array(toolResultPart) });
export const message = z.discriminatedUnion('role', [userMessage, assistantMessage, toolMessage]);

export type TextPart = z.infer<typeof textPart>;
export type ImagePart = z.infer<typeof imagePart>;
export type ToolCallPart = z.infer<typeof toolCallPart>;
export type ToolResultPart = z.infer<typeof toolResultPart>;
/** What a person, or whoever called an agent, says to it. */
export type UserMessage = z.infer<typeof userMessage>;
export type AssistantMessage = z.infer<typeof assistantMessage>;
export type ToolMessage = z.infer<typeof toolMessage>;
/** One message of a conversation between an agent and a model. */
export type Message = z.infer<typeof message>;

/** Tokens as the provider counted them. A count it did not give is absent, not zero. */
export const usage = z.object({
  inputTokens: z.number().optional(),
  cacheReadTokens: z.number().optional(),
  cacheWriteTokens: z.number().optional(),
  outputTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
});
export type Usage = z.infer<typeof usage>;

/** What a call has cost, by a list of prices or by the word of who did the work. `estimated`: an executor named only tokens. */
export const callCost = z.object({ nanoUsd: z.number().int(), prices: z.string(), estimated: z.boolean().optional() });
export type CallCost = z.infer<typeof callCost>;

/** The parts of a message as a peer sent them by A2A, where they are more than words: it gets them back as it gave them. */
export const peerParts = z.array(
  z.object({
    kind: z.enum(['text', 'data', 'raw', 'url']),
    /** Of `raw` the bytes, in Base64. */
    value: jsonValue,
    filename: z.string().optional(),
    mediaType: z.string().optional(),
  }),
);
export type PeerParts = z.infer<typeof peerParts>;

/** What a tool's result says of a file. */
export const seenFile = z.object({
  path: z.string(),
  sha256: z.string().nullable(),
  written: z.boolean().optional(),
  lines: z.object({ from: z.number().int(), to: z.number().int(), of: z.number().int() }).optional(),
});
