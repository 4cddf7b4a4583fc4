/**
 * The engine drives runs: it starts, resumes, cancels, pauses and answers them. What happened is only in the ledger;
 * the engine adds scheduling, leases, budgets and recovery.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { Answering } from '../events/assistants.ts';
import type { Answer, Budget, Failure } from '../events/catalogue.ts';
import type { ForkSource } from '../events/going-on.ts';
import type { UserMessage } from '../events/messages.ts';
import type { RootOrigin } from '../events/run-origin.ts';
import type { LeaseOwner } from '../ledger/port.ts';
import type { ModelDelta } from '../models/port.ts';
import type { RunResult } from '../patterns/steps.ts';

/** What a run is started with. */
export interface StartRequest {
  /** The name of an agent the engine knows. */
  readonly agent: string;
  readonly input: UserMessage;
  /** Goes on in this session; a new one without it. */
  readonly session?: SessionId | undefined;
  /** Starting twice with the same id starts once. */
  readonly run?: RunId | undefined;
  /** Whoever asks has just looked, and there was none of this id: it is looked for again only under the lease. */
  readonly isNew?: boolean | undefined;
  readonly workspace: string;
  /**
   * Who asks; a person unless said. What a client outside spawns has a thread, is hosted in a process of its own, and lives as
   * long as assistants do. What is asked of a member of the session's group goes on with its conversation.
   */
  readonly origin?: RootOrigin | undefined;
  /**
   * Does the work of this run of the session again: goes on from what was there before it, not from the run itself. The limits
   * that it was given last hold, limit by limit, unless others are given.
   */
  readonly retries?: RunId | undefined;
  /** Takes the place of the agent's own models. */
  readonly model?: string | undefined;
  /** Tightens the agent's own budget; never widens it. */
  readonly budget?: Budget | undefined;
  /** Begins with what was said before condensed, whether there is room or not. */
  readonly condense?: boolean | undefined;
  /** Says what it would hand over to executors, and is paused before it does: it goes on when it is resumed. */
  readonly planOnly?: boolean | undefined;
}

/** Under which terms a run goes on. What is left out stays as it was. */
export interface ResumeTerms {
  /**
   * Limits in the place of those that were used up, each for all that was done so far and all to come; in the place of the root's
   * own when none was.
   */
  readonly budget?: Budget | undefined;
  /** In the place of the models of every agent in the tree. */
  readonly model?: string | undefined;
  /** In the place of the turns of every agent in the tree. */
  readonly maxTurns?: number | undefined;
}

interface Asked {
  readonly run: RunId;
  readonly agent: string;
  /** The name that it works under, where that is another. */
  readonly member?: string | undefined;
  /** What `answer` takes. */
  readonly wait: string;
  /** In words, for whoever is to answer. */
  readonly question: string;
  readonly askedAt: string;
}

/** An agent wants to make a call that needs a permission. */
export interface PermissionWait extends Asked {
  readonly kind: 'permission';
  readonly tool: string;
  /** All of what the tool would be called with; secrets are taken out of it. */
  readonly input: Json;
  /** How many characters of that the question has no room for. */
  readonly missing: number;
  /** The question with nothing left out: what an approval is for. */
  readonly request: string;
  /** The SHA-256 of that. An answer that carries it counts for this and nothing else. */
  readonly shown?: string | undefined;
  /** What "always" would allow: the tool, and behind a blank which of its calls. Without one it can be approved once only. */
  readonly rule?: string | undefined;
}

/** An agent has a question for a person. */
export interface QuestionWait extends Asked {
  readonly kind: 'question';
  /** What it offers to choose from; any other answer is taken too. */
  readonly choices?: readonly string[] | undefined;
}

/** What a run waits for until somebody answers. */
export type OpenWait = PermissionWait | QuestionWait;

/** Why the engine stopped working on a run, for now or for good. */
export type RunEnd =
  | { readonly kind: 'ended'; readonly result: RunResult }
  /** Nothing can go on until somebody answers. */
  | { readonly kind: 'waiting'; readonly waits: readonly OpenWait[] }
  | { readonly kind: 'paused'; readonly reason: string }
  /** What it needs cannot be had just now: a provider, a key, a quota. `resume` goes on where it stopped. */
  | { readonly kind: 'parked'; readonly reason: string; readonly error: Failure }
  /** The lease was taken over: another process drives the run now. */
  | { readonly kind: 'lost' }
  /** The engine was closed, or the ledger could not be written; the run can be resumed. */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly error?: Failure | undefined };

/** A run that this process works on. */
export interface RunHandle {
  readonly session: SessionId;
  readonly run: RunId;
  /** Never rejects. */
  readonly done: Promise<RunEnd>;
}

export type StartOutcome =
  /** `before`: there was a run of this id already, begun by another request. */
  | { readonly kind: 'started'; readonly handle: RunHandle; readonly before?: true }
  | { readonly kind: 'refused'; readonly error: Failure };

export type ResumeOutcome =
  | { readonly kind: 'resumed'; readonly handle: RunHandle; readonly takenOver: boolean }
  | { readonly kind: 'ended'; readonly result: RunResult }
  /** A live process drives it. */
  | { readonly kind: 'held'; readonly owner: LeaseOwner }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly error: Failure };

export type SignalOutcome =
  /** `unended`: why a cancelled run that nobody drives could not be ended just now. Whoever takes it up next ends it. */
  | { readonly kind: 'accepted'; readonly live: boolean; readonly unended?: Failure | undefined }
  /** It came too late: nothing was written. */
  | { readonly kind: 'ended' }
  | { readonly kind: 'unknown' };

/**
 * `answered`: somebody else was first; `expired`: the time for it had run out; `cancelled`: the run, or one above it, is being
 * ended; `unseen`: whoever approves has not seen all of it; `other`: they have seen something else; `hidden`: what they made of
 * the call has a mark in it where a secret was; `unfit`: it does not fit the tool; `forbidden`: a rule denies it, or what it
 * would change is protected. Nothing was written.
 */
export type AnswerOutcome =
  | SignalOutcome
  | { readonly kind: 'answered'; readonly first?: FirstAnswer | undefined }
  | ChangeRefusal
  | { readonly kind: 'expired' | 'cancelled' | 'unseen' | 'other' | 'hidden' };

/** Why what somebody made of a call cannot be what it is made with. */
export interface ChangeRefusal {
  readonly kind: 'unfit' | 'forbidden';
  readonly why: string;
}

/**
 * `nobody`: nobody would hear it, because others work for the run and none of them speaks in its name; `full`: too many wait
 * to be heard; `too long`: longer than a message may be; `reused`: another message has this id. Nothing was written.
 */
export type SendOutcome =
  /** It is on the disk. `live`: somebody drives the run, which hears it before its next turn; otherwise when it goes on. */
  | { readonly kind: 'accepted'; readonly live: boolean; readonly message: string }
  | { readonly kind: 'ended' | 'unknown' | 'nobody' | 'full' | 'reused' }
  | { readonly kind: 'too long'; readonly bytes: number };

/** Who writes to a run, and where. */
export interface Sender {
  readonly by: string;
  readonly where: NonNullable<Answering['where']>;
  /** Of something that is said: the id of the message, so that saying it again with the same one says it once. */
  readonly message?: string | undefined;
}

/** The answer that counts, and whose it is. */
export interface FirstAnswer extends Pick<Answering, 'by' | 'where'> {
  readonly answer: Answer;
  readonly at: string;
}

export type WithdrawOutcome =
  | { readonly kind: 'withdrawn' }
  /** It has not ended, somebody went on with it, or it was taken back before. Nothing was written. */
  | { readonly kind: 'refused'; readonly error: Failure };

/** What is another in a fork than it was; what is left out stays as it was. */
export interface ForkSet {
  /** What the run was asked; where it begins. */
  readonly prompt?: string | undefined;
  /** In the place of the models of every agent in the tree, from there on. */
  readonly model?: string | undefined;
  /** In the place of the agent of the run that is named, from there on. */
  readonly agent?: AgentDefinition | undefined;
  /** To the question at the place: `yes`, `no` or `no: why` to a permission, a text to a question. */
  readonly answer?: string | undefined;
  /** Of the tool call at the place. */
  readonly result?: string | undefined;
  /**
   * Parts of the next request of the run that is named, by their origins or the steps that they came from: this request and those
   * that follow it go out without them.
   */
  readonly without?: readonly string[] | undefined;
}

export interface ForkRequest {
  readonly run: RunId;
  /**
   * The last event that is kept: its id, its position in the session, `start`, `end`, `turn 3` of the run, or the key of a step.
   * The end of the last turn after which something was asked, without it.
   */
  readonly at?: string | undefined;
  readonly set?: ForkSet | undefined;
  readonly sender?: Sender | undefined;
  /** The id of the session that it will be; a new one without it. */
  readonly session?: SessionId | undefined;
  /** Makes the folder in which the fork works, as it was at the place; the source's without it, or when it gives none. */
  folder?(place: ForkedAt): Promise<Result<string | undefined, Failure>>;
}

/** Where a fork begins, in the session that it is made of; and the session that it will be. */
export interface ForkedAt {
  readonly from: ForkSource;
  readonly position: number;
  readonly session: SessionId;
  readonly workspace: string;
}

export type ForkOutcome =
  /** It stands where the source stood, and nobody drives it: `resume` has it go on. */
  | {
      readonly kind: 'forked';
      readonly session: SessionId;
      readonly run: RunId;
      readonly from: ForkSource;
      readonly workspace: string;
      /** Model calls that are answered from the record, and what they cost there. */
      readonly kept: { readonly events: number; readonly calls: number; readonly nanoUsd: number };
      /** Agents that were at work, could not be taken up in the middle, and begin anew. */
      readonly anew: readonly string[];
    }
  | { readonly kind: 'refused'; readonly error: Failure };

export type ForgetOutcome =
  /** The rules that are not remembered any more, each as `approval.asked` has it. None when none was. */
  | { readonly kind: 'forgotten'; readonly rules: readonly string[] }
  /** There is no such session. */
  | { readonly kind: 'unknown' };

/** Pieces of an answer as they come, for display only: they have no id and are not in the ledger. */
export interface LivePiece {
  readonly session: SessionId;
  readonly run: RunId;
  readonly agent: string;
  readonly turn: number;
  /** Which attempt of the turn it is of, from 1: what an earlier one said broke off, and counts no more. */
  readonly attempt: number;
  /** Whether this agent's words are the answer; those of all others are activity on the way to it. */
  readonly terminal: boolean;
  /** How many characters the agent said in this attempt before: who hears them from the middle on did not hear these. */
  readonly offset: number;
  readonly delta: ModelDelta;
}

/** Drives runs. What it says about them is a value; it throws only for bugs and for a ledger that is gone. */
export interface Engine {
  start(request: StartRequest): Promise<StartOutcome>;
  /**
   * Goes on with a run that nobody drives. With terms, be they empty, also with one that ended for a reason outside of it (a
   * provider that was down, a key, a limit) once that is mended: nothing is done twice, and runs below it that ended so go
   * on too. Without terms one that has ended is told again.
   */
  resume(run: RunId, terms?: ResumeTerms, sender?: Sender): Promise<ResumeOutcome>;
  /**
   * Ends the run and everything below it. Works from any process; a run nobody drives is ended at once, and what is above it
   * stays as it was: no model is asked.
   */
  cancel(run: RunId, reason: string, sender?: Sender): Promise<SignalOutcome>;
  /** Stops after what is under way; `resume` goes on. */
  pause(run: RunId, reason: string, sender?: Sender): Promise<SignalOutcome>;
  /** Answers a question or a permission request. Does not resume a run that nobody drives. */
  answer(run: RunId, wait: string, answer: Answer, answering?: Answering): Promise<AnswerOutcome>;
  /** Why what somebody would make of a call would be refused as an answer, before they say that they mean it. */
  refusedChange(wait: Pick<PermissionWait, 'run' | 'tool'>, input: Json): Promise<ChangeRefusal | undefined>;
  /**
   * Says something to a run at work, at any depth, as the user whose work it does. It hears it before its next turn, before it
   * ends at the latest; one that stands still hears it when it goes on. Does not resume a run that nobody drives.
   */
  send(run: RunId, text: string, sender?: Sender): Promise<SendOutcome>;
  waits(run: RunId): Promise<readonly OpenWait[]>;
  /**
   * Takes the latest exchange of a conversation back: whoever goes on in the session goes on with what was before this run. What
   * it did stays done.
   */
  withdraw(run: RunId): Promise<WithdrawOutcome>;
  /**
   * Takes back what somebody said "always" to for the session: this rule, as `approval.asked` has it, or all without one. It
   * holds from the next call on, whichever process works on the runs.
   */
  forget(session: SessionId, rule?: string, sender?: Sender): Promise<ForgetOutcome>;
  /**
   * A session of its own that begins with the past of a run, up to some event: what lies before is answered from the record,
   * what comes after is asked anew. The source is only read.
   */
  fork(request: ForkRequest): Promise<ForkOutcome>;
  /** Shows pieces of answers while they come. With a watcher models are asked to stream. Returns what ends it. */
  watch(watcher: (piece: LivePiece) => void): () => void;
  /** Lets running steps finish being recorded, gives the leases back. */
  close(): Promise<void>;
}
