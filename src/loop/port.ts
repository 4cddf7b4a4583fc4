/**
 * What the loop is given and what it gives back. Everything comes in as an argument: the model and the tools are
 * already recorded ones, so the loop is durable without knowing that there is a ledger.
 */
import type { Json, JsonObject } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { Claim, ModelFailure, Report, RunStatus } from '../events/catalogue.ts';
import type { Message, ToolCallPart, ToolResultPart, UserMessage } from '../events/messages.ts';
import type { ModelAnswer, ToolSpec } from '../models/port.ts';

/** What a loop says of itself when it was stopped from outside; why is known to whoever stopped it. */
export const CANCELLED = 'The run was cancelled.';

/** One model call of one turn. The answer is recorded before this resolves. */
export interface TurnRequest {
  readonly turn: number;
  readonly messages: readonly Message[];
  /** Where the messages that no earlier request held begin. */
  readonly newFrom: number;
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: 'auto' | 'required' | { readonly name: string } | undefined;
  readonly outputSchema?: Json | undefined;
}

export type TurnOutcome =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer }
  | { readonly kind: 'failed'; readonly error: ModelFailure }
  /** The budget of `scope` (a run's id, or `project`) has no room for the call; it was not made. */
  | { readonly kind: 'no_budget'; readonly scope: string; readonly message: string };

export interface LoopModel {
  /** Whether this turn began before the run was taken up again. */
  begun?(turn: number): boolean;
  ask(request: TurnRequest): Promise<TurnOutcome>;
}

export interface LoopTools {
  readonly specs: readonly ToolSpec[];
  /**
   * Runs one call of a turn. Never rejects for what a tool does; the result is recorded before this resolves. The calls of the
   * turn, `beside` of them, share the room.
   */
  call(turn: number, index: number, call: ToolCallPart, beside: number): Promise<ToolResultPart>;
}

export interface LoopLimits {
  readonly maxTurns: number;
  /** Turns that the same limit has been charged with before this loop, for whoever is told that they are used up. */
  readonly turnsBefore: number;
  readonly maxToolCallsPerTurn: number;
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly loopNudgeAt: number;
  readonly loopStopAt: number;
}

export interface LoopInput {
  readonly agent: string;
  readonly system: string;
  /** What was said before (same agent, same session), oldest first. */
  readonly history: readonly Message[];
  readonly request: UserMessage;
  /** In the place of the beginning, with the history in it. */
  readonly from?: Checkpoint | undefined;
  /** The history is condensed before the first turn, whether there is room or not. */
  readonly condense?: boolean | undefined;
  /** Tools that end the loop, such as `final_report`. Without any, only a plain answer does. */
  readonly exits: readonly Exit[];
  /** What an answer without tool calls amounts to. The failure is written for the model, which may try again. */
  plain(text: string): Result<Ending, string>;
  readonly limits: LoopLimits;
  /** The agent lives elsewhere: whatever is said to it may be work to it, so the loop says nothing of its own. */
  readonly elsewhere?: boolean | undefined;
}

/** A tool whose call ends the loop. */
export interface Exit {
  readonly spec: ToolSpec;
  /** The work goes on after it, so it cannot be taken on the last turn. */
  readonly goesOn?: boolean;
  /** The failure is written for the model, which may try again. */
  take(call: ToolCallPart): Result<Ending, string> | Promise<Result<Ending, string>>;
}

/** What an agent ended its loop with. */
export interface Ending {
  readonly success: boolean;
  readonly report: Report;
  readonly claims: readonly Claim[];
  /** Which exit it was, and what it carries beside the report. */
  readonly exit?: { readonly tool: string; readonly value: JsonObject } | undefined;
}

/** Messages from outside that a turn begins with. */
export interface Incoming {
  readonly messages: readonly UserMessage[];
  /** One of them did not fit and was replaced: the loop should end while it can. */
  readonly overflow: boolean;
}

/** What is left of a conversation when a turn begins: what leads, a text that stands for what is gone, and what is kept. */
export interface Condensing {
  readonly turn: number;
  readonly text: string;
  /** The request, unless it is among what is kept. */
  readonly leads: readonly UserMessage[];
  readonly kept: readonly Message[];
  /** How many of the last ones no request has carried yet. */
  readonly unsent: number;
  readonly ending?: LastTurns | undefined;
}

/** The turn must be the last, and that was known before: why, and how often the agent was told so. */
export type LastTurns = { readonly why: string; readonly told: number };

/** Where a loop goes on that was condensed: a turn that is about to begin, and what the conversation holds then. */
export interface Checkpoint {
  readonly turn: number;
  /** The request among them is the very object of the input. */
  readonly messages: readonly Message[];
  readonly unsent: number;
  readonly ending?: LastTurns | undefined;
}

export interface LoopPorts {
  readonly model: LoopModel;
  readonly tools: LoopTools;
  /** Records what the conversation is condensed to; gives the message that tells the rest. */
  condense(condensing: Condensing): Promise<UserMessage>;
  /** What has come from others since the last turn. `roomTokens` is what the context still holds. */
  incoming?(turn: number, roomTokens: number): Promise<Incoming>;
  /** Whether something came during this turn that the agent should hear before it may end. */
  unheard?(turn: number): Promise<boolean>;
  /** Where the original of a message or result is kept, in a form that a person or an agent can look up. */
  reference(item: Message | ToolResultPart): string | undefined;
  readonly signal: AbortSignal;
}

/** Why there is no answer. */
interface LoopFailure {
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  /** Of an executor that was stopped: for which limit. */
  readonly category?: string | undefined;
}

export interface LoopResult {
  readonly status: Exclude<RunStatus, 'completed_unverified'>;
  readonly report: Report;
  readonly claims: readonly Claim[];
  readonly error?: LoopFailure | undefined;
  /** Whose budget has nothing left, when that ended it. */
  readonly exhausted?: string | undefined;
  readonly exit?: Ending['exit'];
  readonly turns: number;
}
