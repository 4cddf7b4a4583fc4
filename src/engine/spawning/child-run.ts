/** Child runs as their parents have them. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { RunId } from '../../base/ids.ts';
import type { UserMessage } from '../../events/messages.ts';
import type { Cause } from '../../ledger/port.ts';
import type { RunResult, StartOptions } from '../../patterns/steps.ts';
import type { DrivenRun } from '../record/driven-run.ts';

export interface ChildRun {
  readonly result: Promise<RunResult>;
  /** The event that ended it, once there is one. */
  ended(): Cause | undefined;
  cancel(reason: string): void;
}

/** What the child is to whoever asks for it. */
export type ChildAs =
  | StartOptions
  | { readonly kind: 'call'; readonly reason?: string }
  | { readonly kind: 'clarification'; readonly continues: RunId; readonly maxTurns: number }
  | { readonly kind: 'assistant'; readonly by: string };

export interface ChildRequest {
  readonly key: string;
  readonly agent: string;
  /** The agent, when whoever asks has just looked it up. */
  readonly found?: AgentDefinition | undefined;
  readonly input: UserMessage;
  readonly as: ChildAs;
  /** The event that asked for the child; the parent's latest unless said. */
  readonly cause?: Cause;
}

/** How the children of a run are worked on by others. */
export interface Elsewhere {
  /** Has somebody work on a run that has started, or was reopened so many times; doing it twice does no harm. */
  start(run: RunId, reopened: number): Promise<void>;
  /** Has somebody look at a run again. */
  poke(run: RunId): Promise<void>;
  /** The run has nothing to do before this time. */
  wakeAt(time: number): void;
}

export interface HasChildren {
  /** Starts a child run, or takes up one that had started before. */
  child(parent: DrivenRun, request: ChildRequest): Promise<ChildRun>;
  /** Set where others work on the children, in other processes. */
  readonly elsewhere?: Elsewhere | undefined;
}
