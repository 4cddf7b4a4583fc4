/** What a program may say about one run. */
import type { RunId, SessionId } from '../base/ids.ts';
import type { PermissionWait, QuestionWait } from '../engine/port.ts';
import type { Budget } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';

/**
 * What is decided about a permission. `true` and `false` count for this one call, `always` for this tool in the whole session,
 * and `deny` tells the agent why not.
 */
export type Decision = boolean | 'always' | { readonly deny: string };

/** Whose words they are. */
export interface TextSource {
  readonly agent: string;
  readonly run: RunId;
  readonly turn: number;
}

/** How a program keeps company with a run: what it is shown, what it answers, and when it has had enough. */
export interface CompanyOptions {
  /**
   * Ends the run, or leaves it: see `whenAborted`. The promise resolves as always, with how the run stands then. Aborted from the
   * beginning, nothing is started and the promise rejects with the signal's reason.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * `cancel` (the default): the run and everything below it ends for good, `cancelled`, and what was under way is cut off.
   * `pause`: what is under way is finished and recorded, then the run stands still; `resume` goes on.
   */
  readonly whenAborted?: 'cancel' | 'pause' | undefined;
  /** Every event of the run, in order, as it is in the ledger. */
  readonly onEvent?: ((event: LedgerEvent) => void) | undefined;
  /**
   * What the answering agent says, piece by piece as it comes, for display. A report that comes whole, as from an agent with
   * tools, is the last piece. A model call that is made again says its piece again.
   */
  readonly onText?: ((text: string, from: TextSource) => void) | undefined;
  /** Asked when nothing else of the run can go on. `undefined`: not now, and the run stays waiting. */
  readonly approve?: ((wait: PermissionWait) => Awaitable<Decision | undefined>) | undefined;
  /** Asked when nothing else of the run can go on. `undefined`: not now, and the run stays waiting. */
  readonly answer?: ((wait: QuestionWait) => Awaitable<string | undefined>) | undefined;
}

/** How a run is started, and how the program keeps company with it. */
export interface RunOptions extends CompanyOptions {
  /** Tightens the agent's own budget; never widens it. */
  readonly budget?: Budget | undefined;
  /** The folder that the agents' tools may touch; the project's `workspace` without it. */
  readonly workspace?: string | undefined;
  /** Goes on in this session, which remembers what was said; a new one without it. */
  readonly session?: SessionId | undefined;
}

type Awaitable<Value> = Value | Promise<Value>;
