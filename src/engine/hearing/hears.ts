/** What the runs of a driven session hear: from outside, and from each other. */
import type { DrivenRun } from '../record/driven-run.ts';
import type { Broadcasts } from './broadcasts.ts';
import type { FromOutside } from './from-outside.ts';
import type { UnheardMessages } from './unheard-messages.ts';

export interface HearsOutside {
  readonly outside: FromOutside;
  /** Questions that have stopped a branch since the tree was built. */
  readonly blockedOn: { readonly node: DrivenRun; readonly wait: string }[];
  /** Takes in what has come from outside. */
  refresh(): Promise<void>;
  /** Resolves when something has come in from outside, the time is over or the signal aborts. */
  news(timeoutMs: number, signal: AbortSignal): Promise<unknown>;
}

export interface HearsRuns {
  readonly messages: UnheardMessages;
  readonly broadcasts: Broadcasts;
}
