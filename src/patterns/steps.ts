/**
 * The steps port: all that a pattern can do. Patterns are plain async functions over it; the embedded engine, other engines
 * and the hand-driven twin in the tests implement it.
 *
 * Rules that keep a pattern resumable:
 * 1. It is a pure function of its input and of what the port returned: no clock, chance, environment or I/O outside `step`.
 * 2. One durable operation at a time. Parallel means children: start them in a fixed order, join them through the port.
 *    A handle is not a promise, so nobody can join it natively.
 * 3. A key names a step for ever, unique within its run. On resume a step with a recorded outcome answers from the ledger.
 *    Renaming a key is a breaking change.
 */

import type { RunId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Answer, Claim, Failure, Payloads, Report, RunStatus, Verification } from '../events/catalogue.ts';
import type { UserMessage } from '../events/messages.ts';
import type { broadcastTypes, PatternEventType } from '../events/pattern-events.ts';
import type { LoopAs, Seat } from '../events/run-origin.ts';
import type { ClarifyRound } from '../events/tasks/convergence.ts';
import type { TaskTerms } from '../events/tasks/task-terms.ts';

/** How a run ended, as its parent sees it. */
export interface RunResult {
  readonly status: RunStatus;
  readonly report: Report;
  /** The agent whose answer this is, after handoffs and routing. */
  readonly finalAgent: string;
  /** The run that gave it. */
  readonly finalRun: RunId;
  /** Model calls that run has made. */
  readonly turns: number;
  readonly spoke?: 'update' | 'final' | undefined;
  readonly claims?: readonly Claim[] | undefined;
  readonly error?: Failure | undefined;
  /** The tool that its loop ended with, where that is for whoever asked for it. */
  readonly exit?: Payloads['run.ended']['exit'] | undefined;
  /** Whose budget has nothing left, when that ended it: a run's id, or `project`. */
  readonly exhausted?: string | undefined;
  /** What it was found to be worth where it was made, and no better than what it rests on. */
  readonly verification: Verification;
}

export interface Handle {
  readonly key: string;
}

/** A child that has ended, by its place among the handles. */
export interface Ended {
  readonly index: number;
  readonly result: RunResult;
}

/** A question that was answered, by its place among the waits. */
export interface WaitAnswered {
  readonly index: number;
  readonly answer: Answer;
}

/** What is waited for beside children. */
export interface Beside {
  /** Keys of questions that were put with `ask`. */
  readonly waits?: readonly string[] | undefined;
  /** A time, as `now` tells it. */
  readonly until?: number | undefined;
}

/** What is wanted of a child: the whole agent, a seat in a team, only its own loop, or a task. */
export type StartOptions = {
  /** The child's part in the pattern, such as `advisor` or `worker`. */
  readonly role: string;
  /** Why, in words: shown in the tree and by `why`. */
  readonly reason?: string;
  /** Goes on with the conversation of this earlier run. */
  readonly continues?: RunId | undefined;
  /** Tightens the agent's own budget of wall time; `setting` is what a person would change. */
  readonly timeLimit?: { readonly milliseconds: number; readonly setting: string };
  /** Takes the place of the agent's own models. */
  readonly model?: string | undefined;
  /** Begins with what was said before condensed, whether there is room or not. */
  readonly condense?: boolean | undefined;
} & (
  | {
      readonly kind: 'pattern';
      /** Goes on with this member's latest conversation in the session, if it has one. */
      readonly member?: string;
    }
  | {
      /** The child speaks by broadcast instead of by report, and hears what the others broadcast. */
      readonly kind: 'seat';
      readonly seat: Seat;
      /** Tightens the agent's own limit. */
      readonly maxTurns?: number | undefined;
    }
  | {
      /** A plan or a judgement in free words, an answer, or its own work with its own tools. */
      readonly kind: 'loop';
      readonly as: LoopAs;
      readonly member?: string | undefined;
      readonly maxTurns?: number | undefined;
      /** Turns that it took in earlier runs and that count here. */
      readonly turnsBefore?: number | undefined;
      /** Ways to end that are not offered this time. */
      readonly closed?: string[] | undefined;
    }
  | {
      /** The whole agent, on one task: it works where its terms say, and is held to them. */
      readonly kind: 'task';
      readonly terms: TaskTerms;
    }
);

type Broadcast = Omit<Payloads[(typeof broadcastTypes)[number]], 'timestamp'>;

/** What a pattern may record about itself. `aside`: for those who read it; what the run does next does not follow from it. */
export type PatternEvent = {
  readonly [Type in PatternEventType]: { readonly type: Type; readonly payload: Payloads[Type]; readonly aside?: boolean };
}[Exclude<PatternEventType, (typeof broadcastTypes)[number]>];

export interface WaitRequest {
  readonly question: string;
  readonly choices?: readonly string[];
  readonly timeoutMs?: number;
  /** In which round it is asked, where rounds are counted. */
  readonly round?: ClarifyRound;
}

export interface Steps {
  /** Runs `effect` once and records what it returned. */
  step<Value extends Json>(
    key: string,
    effect: (context: { readonly signal: AbortSignal; readonly idempotencyKey: string }) => Promise<Value>,
  ): Promise<Value>;
  /** Starts a child run. It works on its own; join it with `all`, `settled` or `race`. */
  start(key: string, agent: string, input: UserMessage, options: StartOptions): Promise<Handle>;
  /** Every child's result in the order of the handles; throws for the first child, in that order, that did not complete. */
  all(handles: readonly Handle[]): Promise<readonly RunResult[]>;
  /** Every child's result, however it ended. */
  settled(handles: readonly Handle[]): Promise<readonly RunResult[]>;
  /**
   * The results of the children that end within this time, for ever; `undefined` for those that do not. They go on, and are to be
   * joined later. Time in which nobody drives the run does not count.
   */
  collect(key: string, handles: readonly Handle[], timeoutMs: number): Promise<readonly (RunResult | undefined)[]>;
  /**
   * Waits until one of them has ended, or one of the questions is answered: all that have by then, for ever. The others go on,
   * and are to be joined later. Nothing at all when the time is over, or when the run is to end and nobody works for it.
   */
  next(
    key: string,
    handles: readonly Handle[],
    beside?: Beside,
  ): Promise<{ readonly ended: readonly Ended[]; readonly answered: readonly WaitAnswered[] }>;
  /** How long a child that was joined has been worked on, in milliseconds. What it waited for a person is not among it. */
  worked(key: string, handle: Handle): Promise<number>;
  /** The first child to end wins, for ever; the others are cancelled. */
  race(key: string, handles: readonly Handle[]): Promise<Ended>;
  /** Stops a child: it ends as cancelled, for this reason, and is to be joined. Nothing happens to one that has ended. */
  stop(handle: Handle, reason: string): Promise<void>;
  /** Puts a question, durably, and does not wait: its answer comes with `next`. */
  ask(key: string, request: Pick<WaitRequest, 'question'>): Promise<void>;
  /** Waits for somebody's answer, durably. `undefined` when the time ran out. */
  wait(key: string, request: WaitRequest): Promise<Answer | undefined>;
  sleep(key: string, delayMs: number): Promise<void>;
  now(key: string): Promise<number>;
  /** An unguessable word, the same for ever: a fence around text that somebody else wrote. */
  nonce(key: string): Promise<string>;
  /** Records an event, once. */
  emit(key: string, event: PatternEvent): Promise<void>;
  /** Says something to all that hear it, once: to children in a `seat` of this channel. A failure is told aside. */
  broadcast(key: string, said: Broadcast): Promise<void>;
}
