/**
 * Follows one run of a session: folds what is there, then what comes. Of a long run only what came since it was condensed last is
 * read, and the rest is there as sums; so what it costs to stay with a run does not grow with its past.
 */
import type { RunId, SessionId } from '../base/ids.ts';
import { beginningOf } from '../engine/record/past.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import { beginRunTree, foldRunTree, initialRunTree, type RunTree } from '../projections/run-tree.ts';

export interface Follower {
  readonly tree: RunTree;
  /** Folds what is there of this root run without showing it. What other runs of the session did is passed over. */
  catchUp(root: RunId): Promise<void>;
  /** Passes over everything before this run, which has just begun. */
  beginAt(run: RunId): Promise<void>;
  /** Shows every event until `done`, and then what had been written by then. */
  follow(done: Promise<unknown>, show: (event: LedgerEvent, tree: RunTree) => void): Promise<void>;
}

export function createFollower(ledger: Ledger, session: SessionId): Follower {
  const tree = initialRunTree();
  const newest = async (): Promise<number> => (await ledger.read({ session, newest: true, limit: 1 }))[0]?.position ?? 0;
  return {
    tree,
    catchUp: async (root) => {
      const upTo = await newest();
      const from = tree.position > 0 ? undefined : await beginningOf(ledger, session, root);
      if (from !== undefined) beginRunTree(tree, from.started, from.done, from.position);
      for await (const event of readEvents(ledger, { session, after: tree.position, root }))
        if (event.position <= upTo) foldRunTree(tree, event);
      tree.position = Math.max(tree.position, upTo);
    },
    beginAt: async (run) => {
      // Asked first: a run that is not there afterwards begins later.
      const upTo = await newest();
      const [first] = await ledger.read({ session, run, limit: 1 });
      tree.position = first === undefined ? upTo : first.position - 1;
    },
    follow: async (done, show) => {
      const stop = new AbortController();
      const finished = done.finally(() => stop.abort());
      for await (const event of ledger.tail(session, tree.position, stop.signal)) show(event, foldRunTree(tree, event));
      await finished;
      for await (const event of readEvents(ledger, { session, after: tree.position })) show(event, foldRunTree(tree, event));
    },
  };
}
