/**
 * Agents that live elsewhere, as a run has them: one message goes out, and what comes of it comes back. What must not happen
 * twice is for the caller to keep: it says what it has sent before, and is told which task came of it as soon as that is known.
 */
import type { RemoteAgent } from '../agents/definition/remote.ts';
import type { Result } from '../base/result.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import type { ImagePart, TextPart, Usage } from '../events/messages.ts';

export interface Peers {
  /** `at`: where something is under way. Of the addresses of its card that one is taken, if it is still there. */
  open(remote: RemoteAgent, signal: AbortSignal, at?: string): Promise<Result<RemotePeer, PeerFailure>>;
}

/** In the words that failures of models have, so that whoever shows or mends one need not know which it was. */
export type PeerFailure = Pick<ModelFailure, 'kind' | 'message' | 'fix'>;

export interface RemotePeer {
  readonly address: string;
  /** The SHA-256 of its card. */
  readonly card: string;
  /** It takes a message once, however often it is sent. */
  readonly idempotent: boolean;
  /** Sends the message and stays with what comes of it. */
  send(message: PeerMessage, how: PeerCall): Promise<PeerOutcome>;
  /** Goes on with a task that was begun before. */
  follow(task: PeerTask, how: PeerCall): Promise<PeerOutcome>;
  /** The task that has taken a message, if there is one. Nothing found does not mean that there is none; it may not say. */
  find(sent: SentBefore): Promise<Result<PeerTask | undefined, PeerFailure>>;
  cancel(task: PeerTask): Promise<Result<PeerEnded, PeerFailure>>;
}

/** How a task stood when it was told to end, and what it says that it took. */
export interface PeerEnded {
  readonly state: string;
  readonly usage: Usage;
  readonly nanoUsd?: number | undefined;
}

export interface PeerTask {
  readonly task: string;
  readonly context: string;
}

export interface SentBefore {
  readonly message: string;
  readonly context: string;
  /** The task that it was said to; otherwise it was to begin one. */
  readonly task?: string | undefined;
  /** Nothing was ever said in this context before. */
  readonly first: boolean;
}

export interface PeerMessage {
  readonly id: string;
  readonly context: string;
  /** The task that it is said to. */
  readonly task?: string | undefined;
  /** It is not needed any more when the task has gone on without it: somebody let us in meanwhile. */
  readonly unlessMoved?: boolean;
  readonly parts: readonly (TextPart | ImagePart)[];
  /** What it asked leave for: the words are the answer to all of it. */
  readonly confirms?: readonly string[] | undefined;
}

export interface PeerCall {
  readonly signal: AbortSignal;
  /** Nothing more is done before it resolves. */
  onTask(task: PeerTask): Promise<void>;
  readonly onText?: ((text: string) => void) | undefined;
  /** The question that has its answer: shown once more, it is not asked again. */
  readonly answered?: AnsweredQuestion | undefined;
}

export interface AnsweredQuestion {
  readonly task: string;
  /** Undefined when the peer gave nothing to know it by. */
  readonly mark: string | undefined;
}

export interface PeerArtifact {
  readonly id: string;
  readonly name?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly bytes: number;
  readonly cut?: boolean | undefined;
  /** In words: of a file only that it is there. */
  readonly content: string;
}

/** A file that it made or sent along. */
export interface PeerFile {
  /** The artifact that it is a part of; one that came with words is of none. */
  readonly artifact?: string | undefined;
  readonly name?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly bytes: number;
  /** Undefined where it is larger than is kept. */
  readonly content: Uint8Array | undefined;
  /** What stands for it in the words of the answer. */
  readonly words: string;
}

interface Came {
  readonly task?: string | undefined;
  readonly context: string;
  readonly artifacts: readonly PeerArtifact[];
  readonly files: readonly PeerFile[];
  /** It made more of them than are kept. */
  readonly leftOut?: boolean | undefined;
  readonly usage: Usage;
  /** What it says that this cost; unknown where it does not. */
  readonly nanoUsd?: number | undefined;
}

export type PeerOutcome =
  /** `cut`: it said or made more. */
  | (Came & { readonly kind: 'answer'; readonly text: string; readonly cut: boolean })
  /** It waits for an answer, or for somebody to let it in. */
  | (Came & {
      readonly kind: 'asks';
      readonly question: string;
      readonly needs: 'input' | 'auth';
      readonly mark?: string | undefined;
      /** What it wants to do and asks leave for, by its own ids, and the answers that it takes to all of it. */
      readonly confirms?: readonly string[] | undefined;
      readonly choices?: readonly string[] | undefined;
    })
  | (Came & { readonly kind: 'ended'; readonly state: 'failed' | 'rejected' | 'canceled'; readonly message: string })
  /** `taken`: whether the message was: certainly not, perhaps, or it was and its task goes on without us. */
  | { readonly kind: 'failed'; readonly taken: 'no' | 'perhaps' | 'yes'; readonly failure: PeerFailure }
  /** `last`: what was known of it then, in words. */
  | { readonly kind: 'stopped'; readonly last: string };
