/** What a program is told about a run it has driven: how it stands, what it cost, and how to go on where it has not ended. */
import { unreachable } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import type { OpenWait, RunEnd } from '../engine/port.ts';
import type { Claim, Failure, Report, RunStatus, Verification } from '../events/catalogue.ts';
import type { DoingsBelow } from '../projections/doings.ts';

/** What a run and all runs below it have used so far. */
export interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of the input tokens, those that the provider had kept. */
  readonly cacheReadTokens: number;
  /** Calls whose tokens nobody has counted: the sums hold nothing, or not all, of them. */
  readonly uncountedCalls: number;
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Agents at work: the run itself and those below it. */
  readonly runs: number;
}

/** What a run and all runs below it have cost so far, as far as prices are known. */
export interface RunCost {
  /** US dollars, for people. */
  readonly usd: number;
  /** The same in billionths of a dollar, exact. */
  readonly nanoUsd: number;
  /** Calls of models without a known price: nothing of them is in the sum, and unknown is not free. */
  readonly unknownCalls: number;
}

/** What is known of every run, however it stands. */
export interface RunFacts {
  readonly run: RunId;
  readonly session: SessionId;
  readonly agent: string;
  readonly usage: RunUsage;
  readonly cost: RunCost;
}

interface Reported extends RunFacts {
  readonly report: Report;
  /** What the runtime found when it held the report against what it saw. */
  readonly verification: Verification;
  /** The agent whose answer this is, after handoffs and routing. */
  readonly finalAgent: string;
  readonly claims?: readonly Claim[] | undefined;
}

type Done = 'completed' | 'completed_unverified';

/** It is over: there is always a report. One that came to nothing says why in `error`. */
export type EndedRun =
  | (Reported & { readonly status: Done; readonly error?: undefined })
  | (Reported & { readonly status: Exclude<RunStatus, Done>; readonly error: Failure });

/** Nothing can go on until somebody answers. Go on with `resume` and the callbacks that can; days later is fine. */
export interface WaitingRun extends RunFacts {
  readonly status: 'waiting';
  readonly waits: readonly OpenWait[];
}

/**
 * It stands still and goes on with `resume`. `paused`: somebody wanted it so. `parked`: its provider, its key or its quota is not
 * there (`error`). `interrupted`: the engine was closed, or something
 * broke (`error`). `lost`: another process drives it now.
 */
export interface StoppedRun extends RunFacts {
  readonly status: 'paused' | 'parked' | 'interrupted' | 'lost';
  readonly reason: string;
  readonly error?: Failure | undefined;
}

/** How a run stands after `run` or `resume`. Told apart by `status`. */
export type RunOutcome = EndedRun | WaitingRun | StoppedRun;

const NANO = 1e9;

export function outcomeOf(known: Pick<RunFacts, 'run' | 'session' | 'agent'>, end: RunEnd, done: DoingsBelow): RunOutcome {
  const { runs, toolCalls, spent } = done;
  const { inputTokens, outputTokens, cacheReadTokens, uncountedCalls, calls: modelCalls, nanoUsd, unknownCalls } = spent;
  const facts: RunFacts = {
    ...known,
    usage: { inputTokens, outputTokens, cacheReadTokens, uncountedCalls, modelCalls, toolCalls, runs },
    cost: { usd: nanoUsd / NANO, nanoUsd, unknownCalls },
  };
  switch (end.kind) {
    case 'ended': {
      const { status, report, verification, finalAgent, claims, error } = end.result;
      const reported: Reported = { ...facts, report, verification, finalAgent, ...(claims && { claims }) };
      if (status === 'completed' || status === 'completed_unverified') return { ...reported, status };
      return { ...reported, status, error: error ?? { code: status, message: report.body } };
    }
    case 'waiting':
      return { ...facts, status: 'waiting', waits: end.waits };
    case 'paused':
      return { ...facts, status: 'paused', reason: end.reason };
    case 'parked':
      return { ...facts, status: 'parked', reason: end.reason, error: end.error };
    case 'interrupted':
      return { ...facts, status: 'interrupted', reason: end.reason, ...(end.error && { error: end.error }) };
    case 'lost':
      return { ...facts, status: 'lost', reason: 'Another process drives this run now.' };
    default:
      return unreachable(end);
  }
}
