/**
 * What every transcript comes to, whichever program wrote it: who was asked what, what a model answered and what that took, what
 * tools gave, and whatever else stood there, as it stood. Readers make these items, in the order of the transcript; the recorder
 * makes events of them.
 */
import type { Payloads } from '../events/catalogue.ts';
import type { TranscriptProgram } from '../events/going-on.ts';
import type { AssistantMessage, Usage, UserMessage } from '../events/messages.ts';

/** A change of a file as the transcript has it: contents are named by their SHA-256, `null` where there was none. */
export type TranscriptChange = Payloads['file.diff'];

/** What goes on in a sub-agent names it; without a name it is the agent that was talked with. */
interface InAgent {
  readonly agent?: string | undefined;
  /** Milliseconds since 1970; that of the item before it when the transcript does not say. */
  readonly at?: number | undefined;
}

export type Item = InAgent &
  (
    | { readonly is: 'about'; readonly model?: string | undefined; readonly system?: string | undefined }
    /** Begins a run. `key` names it within the transcript; a sub-agent says which call began it. */
    | {
        readonly is: 'prompt';
        readonly key: string;
        readonly content: UserMessage['content'];
        readonly under?: Under | undefined;
      }
    /** Said to the model in the middle of a run, by the program or by a person. */
    | { readonly is: 'heard'; readonly content: UserMessage['content'] }
    | {
        readonly is: 'answer';
        readonly message: AssistantMessage;
        readonly model?: string | undefined;
        readonly served?: string | undefined;
        readonly usage: Usage;
        readonly finish: Payloads['model.response']['finish'];
        readonly durationMs?: number | undefined;
        /** What the program itself says that it cost, in billionths of a dollar. */
        readonly nanoUsd?: number | undefined;
        /** Of the tokens written to a cache, those that are kept for an hour and cost more. */
        readonly hourTokens?: number | undefined;
      }
    | { readonly is: 'failed'; readonly message: string; readonly status?: number | undefined }
    | {
        readonly is: 'result';
        readonly call: string;
        readonly name?: string | undefined;
        readonly content: Payloads['tool.result']['content'];
        readonly isError?: boolean | undefined;
        readonly durationMs?: number | undefined;
        readonly changes?: readonly TranscriptChange[] | undefined;
      }
    /** From here on this stands for what was said before. */
    | { readonly is: 'summary'; readonly text: string }
    | { readonly is: 'stopped'; readonly status: 'completed' | 'cancelled' | 'failed'; readonly body?: string | undefined }
    | { readonly is: 'record'; readonly kind: string; readonly raw: string; readonly bytes: number }
  );

export type ItemOf<Is extends Item['is']> = Extract<Item, { readonly is: Is }>;

export interface Under {
  /** The agent that called it, where that is a sub-agent itself. */
  readonly agent?: string | undefined;
  readonly call?: string | undefined;
  readonly name: string;
}

/** What can be said of a transcript before it is read. */
export interface TranscriptHead {
  readonly program: TranscriptProgram;
  /** The program's own id of the conversation. */
  readonly id: string;
  readonly version?: string | undefined;
  readonly title?: string | undefined;
  /** The folder that it worked in. */
  readonly folder?: string | undefined;
  /** When it began, in milliseconds since 1970. */
  readonly at: number;
}

/** One conversation that can be taken over. */
export interface Transcript {
  readonly head: TranscriptHead;
  /** Where it lies. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of all that it is made of, as far as it is read. */
  readonly sha256: string;
  items(): AsyncIterable<Item>;
}
