/**
 * Assistants: agents that somebody spawns and talks with while they work. This is what a caller can do; the names, inputs,
 * defaults and outputs on the wire are in `schemas.ts`, and both the MCP server and the agents' own tools are built from it.
 *
 * - A1 An assistant's process is a run: `process_id` is its run id, and its thread's id follows from it.
 * - A2 A thread is open to its owner, the owner's parent, its siblings and its children. Everybody else is refused, always.
 * - A3 A message to a process lies in that process's thread; a message to one's parent lies in one's own.
 * - A4 Sending is appending an event, so nothing is lost when either side dies; sending again with the same key sends once.
 * - A5 A message is marked as read once, also with two readers at once.
 * - A6 Waiting holds nothing and fails nobody: when the time is over, the answer is simply how things stand.
 */

import type { RunId } from '../base/ids.ts';
import { PERSON } from '../base/person.ts';
import type { Result } from '../base/result.ts';
import type { ClientRights } from '../events/assistants.ts';
import type { Failure } from '../events/catalogue.ts';
import type { PeerParts } from '../events/messages.ts';
import type {
  AnswerInput,
  CancelInput,
  ListInput,
  ListOutput,
  PollInput,
  PollOutput,
  ReceiveInput,
  ReceiveOutput,
  SearchInput,
  SearchOutput,
  SendInput,
  SpawnInput,
  SpawnOutput,
  SuccessOutput,
} from '../tools/assistants/schemas.ts';

/** Who asks: a run, or a client outside (the person's own by default). */
export type Caller = Client | { readonly kind: 'run'; readonly run: RunId };

export interface Client {
  readonly kind: 'client';
  readonly name: string;
  /** What runs of other clients ask can be answered by it: the owner of the project. */
  readonly answersForAll?: boolean | undefined;
  /** Everything without them. */
  readonly rights?: ClientRights | undefined;
  /** Where its runs work; in the project's workspace without it. */
  readonly workspace?: string | undefined;
}

/** The name under which a client takes part in threads when it gives none. */
export const DEFAULT_CLIENT = PERSON;

export interface AssistantCallOptions {
  readonly signal: AbortSignal;
  /** Told while a call waits, for display only. */
  onProgress?(progress: { readonly done: number; readonly message: string }): void;
  /** The same for a call and its repetition. */
  readonly idempotencyKey?: string | undefined;
  /** The SHA-256 of what is sent, recorded with it for whoever has to know whether a repetition is one. */
  readonly digest?: string | undefined;
  /** What the client itself calls the message that is sent, recorded with it. */
  readonly clientMessage?: string | undefined;
  /** What it is made of, where that is more than words, recorded with it. */
  readonly parts?: PeerParts | undefined;
}

export type Outcome<Value> = Promise<Result<Value, Failure>>;

export interface Assistants {
  list(caller: Caller, input: ListInput): Outcome<ListOutput>;
  search(caller: Caller, input: SearchInput): Outcome<SearchOutput>;
  spawn(caller: Caller, input: SpawnInput, options: AssistantCallOptions): Outcome<SpawnOutput>;
  poll(caller: Caller, input: PollInput, options: AssistantCallOptions): Outcome<PollOutput>;
  send(caller: Caller, input: SendInput, options: AssistantCallOptions): Outcome<SuccessOutput>;
  receive(caller: Caller, input: ReceiveInput, options: AssistantCallOptions): Outcome<ReceiveOutput>;
  cancel(caller: Caller, input: CancelInput, options: AssistantCallOptions): Outcome<SuccessOutput>;
  answer(caller: Caller, input: AnswerInput, options: AssistantCallOptions): Outcome<SuccessOutput>;
}
