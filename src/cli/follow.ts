/** Follows one session: folds what is there, then what comes. The tree after each event is the same as a cold read gives. */
import type { RunId, SessionId } from '../base/ids.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';
import { foldRunTree, initialRunTree, type RunTree } from '../projections/run-tree.ts';
import { sessionEvents } from './session-events.ts';

export interface Follower {
  readonly tree: RunTree;
  /** Folds what is there without showing it. */
  catchUp(): Promise<void>;
  /** The same, up to the beginning of this run. */
  catchUpTo(run: RunId): Promise<void>;
  /** Shows every event until `done`, and then what had been written by then. */
  follow(done: Promise<unknown>, show: (event: LedgerEvent, tree: RunTree) => void): Promise<void>;
}

export function createFollower(ledger: Ledger, session: SessionId): Follower {
  const tree = initialRunTree();
  return {
    tree,
    catchUp: async () => {
      for await (const event of sessionEvents(ledger, session, tree.position)) foldRunTree(tree, event);
    },
    catchUpTo: async (run) => {
      for await (const event of sessionEvents(ledger, session, tree.position)) {
        if (event.run_id === run) return;
        foldRunTree(tree, event);
      }
    },
    follow: async (done, show) => {
      const stop = new AbortController();
      const finished = done.finally(() => stop.abort());
      for await (const event of ledger.tail(session, tree.position, stop.signal)) show(event, foldRunTree(tree, event));
      await finished;
      for await (const event of sessionEvents(ledger, session, tree.position)) show(event, foldRunTree(tree, event));
    },
  };
}
