/**
 * What the rest of Troupe knows about models. A model is asked once per turn and answers with a value: it never throws and
 * never rejects. Whatever goes wrong (no key, HTML instead of JSON, half a stream) is a `ModelFailure` with a kind.
 */
import type { Json } from '../base/json.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import type { AssistantMessage, Message, Usage } from '../events/messages.ts';

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments; always an object. */
  readonly inputSchema: Json;
}

export type Reasoning = 'none' | 'minimal' | 'low' | 'medium' | 'high';

export interface ModelSettings {
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly reasoning?: Reasoning | undefined;
}

/** What a model is asked: the whole conversation, once per turn. */
export interface ModelRequest {
  /** Who asks. Not sent anywhere: scripts and recordings choose their reply by it. */
  readonly agent?: string | undefined;
  readonly system: string;
  /** The whole conversation. The array and its messages are shared, not copied: never change them. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  /** `required`: the model must call a tool; a name: it must call that one. */
  readonly toolChoice?: 'auto' | 'required' | { readonly name: string } | undefined;
  /** Ask for an answer that fits this JSON Schema. */
  readonly outputSchema?: Json | undefined;
  readonly settings: ModelSettings;
  /** Sent to providers that honour one: the run's id and the step's key. */
  readonly idempotencyKey: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** When given, the answer is streamed and each piece is shown here as it comes. Pieces are for display only. */
  /** `attempt` counts from 1: what an earlier one said broke off, and counts no more. */
  readonly onDelta?: ((delta: ModelDelta, attempt?: number) => void) | undefined;
}

export type ModelDelta =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'tool'; readonly name: string };

export type Finish = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

export interface ModelAnswer {
  readonly message: AssistantMessage;
  readonly finish: Finish;
  readonly usage: Usage;
  /** `provider/model` as the provider named it. */
  readonly served: string;
}

export type ModelOutcome =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer }
  | { readonly kind: 'failed'; readonly error: ModelFailure };

export interface Model {
  /** `provider/model`, as it was asked for. */
  readonly id: string;
  /** Runs that share an account share its rate limit. */
  readonly account: string;
  ask(request: ModelRequest): Promise<ModelOutcome>;
  /** The most output tokens that a request with these settings allows; `maxOutputTokens` where a model does not say. */
  mostOutput?(settings: ModelSettings): Promise<number | undefined>;
}

/** Finds models by name, such as `anthropic/claude-sonnet-4-5`, `scripted:replies.yaml` or `recorded:ses_…`. */
export interface ModelCatalogue {
  open(
    name: string,
  ): Promise<{ readonly ok: true; readonly value: Model } | { readonly ok: false; readonly error: ModelFailure }>;
}

/** What a call costs, in billionths of a US dollar. */
export interface Prices {
  /** Names the table, so that a figure in the ledger can be recomputed. */
  readonly version: string;
  /** `undefined` when no price is known: unknown is not free. */
  cost(model: string, usage: Usage): number | undefined;
  /** The most a call can cost that sends and receives this many tokens, whatever is cached. */
  worstCase(model: string, inputTokens: number, maxOutputTokens: number): number | undefined;
  /** Says of a model whether the list of its provider lacks it; `undefined` also where there is no list to look into. */
  unlisted?(model: string): Unlisted | undefined;
}

/** A model that its provider has not, as far as is known here. */
export interface Unlisted {
  readonly provider: string;
  /** The one that was probably meant. */
  readonly near?: string;
}
