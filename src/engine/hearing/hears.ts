/** What the runs of a driven session hear: from outside, and from each other. */
import type { DrivenRun } from '../record/driven-run.ts';
import type { AtWork } from './at-work.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { FromOutside } from './from-outside.ts';
import type { UnheardMessages } from './unheard-messages.ts';

export interface HearsOutside {
  readonly outside: FromOutside;
  /** Questions that have stopped a branch since the tree was built. */
  readonly blockedOn: Set<{ readonly node: DrivenRun; readonly wait: string }>;
  /** What goes on by itself meanwhile. */
  readonly atWork: AtWork;
  /** Waits for a person without taking the place of somebody who could work. */
  withoutSlot<Value>(node: DrivenRun, wait: () => Promise<Value>): Promise<Value>;
  /** Takes in what has come from outside. */
  refresh(): Promise<void>;
  /** Waits until what the bell has told of is taken in; reads nothing by itself. */
  caughtUp(): Promise<void>;
  /** Aborts with the next that comes in from outside. */
  nextNews(): AbortSignal;
  /** Resolves when something has come in from outside, the time is over or the signal aborts. */
  news(timeoutMs: number, signal: AbortSignal): Promise<unknown>;
}

export interface HearsRuns {
  readonly messages: UnheardMessages;
  readonly broadcasts: Broadcasts;
}
