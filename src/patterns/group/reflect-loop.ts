/** What a reflect loop keeps between its steps, and what it goes round about. */
import type { Payloads } from '../../events/catalogue.ts';
import type { AgentRun, Progress } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';
import type { Judgement } from './evaluation.ts';
import type { StallState } from './stall.ts';
import type { GroupConfig, Worker, WorkerOutcome } from './workers.ts';

export type StopReason = Payloads['group.ended']['reason'];

/** Where in the loop something is made. The key differs when the iteration is tried again. */
export interface At {
  readonly key: string;
  readonly iteration: number;
  /** What the last judgement found wanting. */
  readonly evaluation: string | undefined;
}

export type Made =
  | {
      readonly kind: 'made';
      readonly result: RunResult;
      readonly outcomes: readonly WorkerOutcome[];
      readonly missing: readonly string[];
      /** What was said, when it is not the result itself. */
      readonly said?: string;
    }
  | { readonly kind: 'stop'; readonly reason: StopReason; readonly result: RunResult }
  | { readonly kind: 'error'; readonly result: RunResult; readonly outcomes?: readonly WorkerOutcome[] | undefined };

export type MadeResult = Extract<Made, { kind: 'made' }>;

/** What the loop goes round about: a group's work, or an agent's own. */
export interface LoopWork {
  make(at: At): Promise<Made>;
  /** The maker's own judgement, asked for when there is no evaluator. */
  judge(key: string, made: MadeResult): Promise<Judgement>;
  /** What came of those who were late in the last iteration. */
  late(): Promise<readonly WorkerOutcome[]>;
  readonly workers: readonly Worker[];
}

export interface ReflectLoop {
  readonly run: AgentRun;
  readonly config: GroupConfig;
  readonly work: LoopWork;
  readonly request: string;
  readonly maxIterations: number;
  /** What the present iteration has made, if it could not be judged yet. */
  unjudged: MadeResult | undefined;
  latest: MadeResult | undefined;
  evaluation: string | undefined;
  /** The last judgement that there was. */
  judged: Extract<Judgement, { kind: 'judged' }> | undefined;
  stall: StallState;
  scores: readonly number[];
  /** States of the files that the loop has seen. */
  readonly seen: Set<string>;
  before: Progress | undefined;
}
