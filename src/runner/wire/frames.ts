/**
 * What travels between the host of a loop and the runner that plays it: JSON-RPC 2.0, one frame per line.
 *
 * Messages are known by number. Whatever the host gives has a number (`given`), and the runner names it by that; only what the
 * loop itself made, such as a reminder, travels back by value, once, under a number of the runner's (`own`). The schemas check
 * what a runner sends; the types beside them say what it is sent. A runner loads none of this: it takes the types.
 */
import { z } from 'zod';
import { type ModelFailure, report } from '../../events/catalogue.ts';
import {
  jsonValue,
  type Message,
  type ToolResultPart,
  toolResultPart,
  type UserMessage,
  userMessage,
} from '../../events/message-schemas.ts';
import { claim } from '../../events/verification.ts';
import type { Ending, LastTurns, LoopInput, LoopLimits, LoopResult } from '../../loop/port.ts';

const count = z.int().nonnegative();
const about = { thread_id: z.string(), turn: count };

const sentPart = z.union([z.strictObject({ given: count }), toolResultPart]);
/** A message that the loop made: its own words, or the results of a turn's calls. */
const ownMessage = z.union([userMessage, z.object({ role: z.literal('tool'), content: z.array(sentPart) })]);
export const sentMessage = z.union([
  z.strictObject({ given: count }),
  z.strictObject({ own: count, message: ownMessage.optional() }),
]);

export const llmRequest = z.object({
  ...about,
  /** How many messages of the request before stand unchanged at the front; these follow. */
  keep: count,
  messages: z.array(sentMessage),
  new_from: count,
  /** Positions in the list of the loop's tools, followed by its exits. */
  tools: z.array(count),
  tool_choice: z.union([z.enum(['auto', 'required']), z.object({ name: z.string() })]).optional(),
  output_schema: jsonValue.optional(),
});
export const toolCall = z.object({
  ...about,
  index: count,
  /** Where the call stands in the content of this turn's answer. */
  part: count,
  tool_name: z.string(),
  arguments: jsonValue,
});
export const serviceContext = z.object({ ...about, room_tokens: z.number() });
export const condensed = z.object({
  ...about,
  text: z.string(),
  /** The request stands before the text; otherwise it is among what is kept. */
  leads: z.boolean(),
  kept: z.array(sentMessage),
  unsent: count,
  ending: z.object({ why: z.string(), told: count }).optional(),
});
export const turnOnly = z.object(about);

export type FramedMessage = z.infer<typeof sentMessage>;
export type OwnMessage = z.infer<typeof ownMessage>;
export type LlmRequest = z.infer<typeof llmRequest>;

const ending = z.object({
  tool: z.string(),
  value: z.custom<NonNullable<Ending['exit']>['value']>((value) => value !== undefined),
});
/** What a runner gives as its loop's result. */
export const loopResult: z.ZodType<LoopResult> = z.object({
  status: z.enum(['completed', 'failed', 'budget_exhausted', 'cancelled']),
  report,
  claims: z.array(claim),
  error: z.object({ code: z.string(), message: z.string(), fix: z.string().optional() }).optional(),
  exhausted: z.string().optional(),
  exit: ending.optional(),
  turns: count,
});

/** Something the host gives: its number, what the loop looks at, and where the original can be looked up. */
export type Given<Item> = {
  readonly given: number;
  readonly item: Item;
  readonly at?: string;
  /** The same for the results in a message, where there are any. */
  readonly parts?: readonly (string | null)[];
};

export type Start = {
  readonly thread_id: string;
  readonly agent: string;
  readonly system: string;
  readonly history: readonly Given<Message>[];
  readonly request: Given<UserMessage>;
  /** Where a loop goes on that was condensed. */
  readonly from?: {
    readonly turn: number;
    readonly messages: readonly Given<Message>[];
    readonly unsent: number;
    readonly ending?: LastTurns | undefined;
  };
  readonly condense?: boolean;
  readonly tools: readonly string[];
  readonly exits: readonly { readonly name: string; readonly goes_on: boolean }[];
  readonly limits: Readonly<Record<keyof LoopLimits, number>>;
  /** Turns up to this one began before. */
  readonly begun: number;
  readonly cancelled: boolean;
  readonly listens: { readonly incoming: boolean; readonly unheard: boolean };
};

type Taken = ReturnType<LoopInput['plain']>;

/** An answer comes with what its exit, or its plain text, amounts to: the loop wants to know at once. */
export type LlmReply =
  | {
      readonly kind: 'answer';
      readonly answer: Given<Message>;
      readonly input_tokens?: number;
      readonly taken?: Taken;
      /** Where the runner's own items of this request can be looked up, in the order in which they were sent. */
      readonly places?: readonly (string | null)[];
    }
  | { readonly kind: 'failed'; readonly error: ModelFailure; readonly places?: readonly (string | null)[] }
  | { readonly kind: 'no_budget'; readonly scope: string; readonly message: string };

export type ToolReply = Given<ToolResultPart>;
export type ServiceContextReply = {
  readonly messages: readonly Given<UserMessage>[];
  readonly overflow: boolean;
};
export type CondensedReply = Given<UserMessage> & { readonly places?: readonly (string | null)[] };
