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
import type { Json } from '../base/json.ts';
import type { Answer, Claim, Failure, Report, RunStatus } from '../events/catalogue.ts';
import type { UserMessage } from '../events/messages.ts';

/** How a run ended, as its parent sees it. */
export interface RunResult {
  readonly status: RunStatus;
  readonly report: Report;
  /** The agent whose answer this is, after handoffs and routing. */
  readonly finalAgent: string;
  readonly claims?: readonly Claim[] | undefined;
  readonly error?: Failure | undefined;
}

export interface Handle {
  readonly key: string;
}

export interface StartOptions {
  /** Why, in words: shown in the tree and by `why`. */
  readonly reason?: string;
  /** The child's part in the pattern, such as `advisor` or `worker`. */
  readonly role?: string;
}

export interface WaitRequest {
  readonly question: string;
  readonly choices?: readonly string[];
  readonly timeoutMs?: number;
}

export interface Steps {
  /** Runs `effect` once and records what it returned. */
  step<Value extends Json>(
    key: string,
    effect: (context: { readonly signal: AbortSignal; readonly idempotencyKey: string }) => Promise<Value>,
  ): Promise<Value>;
  /** Starts a child run. It works on its own; join it with `all`, `settled` or `race`. */
  start(key: string, agent: string, input: UserMessage, options?: StartOptions): Promise<Handle>;
  /** Every child's result in the order of the handles; throws for the first child, in that order, that did not complete. */
  all(handles: readonly Handle[]): Promise<readonly RunResult[]>;
  /** Every child's result, however it ended. */
  settled(handles: readonly Handle[]): Promise<readonly RunResult[]>;
  /** The first child to end wins, for ever; the others are cancelled. */
  race(key: string, handles: readonly Handle[]): Promise<{ readonly index: number; readonly result: RunResult }>;
  /** Waits for somebody's answer, durably. `undefined` when the time ran out. */
  wait(key: string, request: WaitRequest): Promise<Answer | undefined>;
  sleep(key: string, delayMs: number): Promise<void>;
  now(key: string): Promise<number>;
}
