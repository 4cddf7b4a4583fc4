/** How a run is shown while it works. The driver feeds it; what it does with that is its own affair. */
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunTree } from '../../projections/run-tree.ts';

export interface RunView {
  /** Whether the view wants pieces of answers; models are only asked to stream when it does. */
  readonly streams: boolean;
  event(event: LedgerEvent, tree: RunTree): void;
  piece(piece: LivePiece): void;
  /** Leaves the screen to somebody else: a question, or the end. A later event takes it back. */
  rest(tree: RunTree): void;
}

/** Shows nothing. */
export const silentView: RunView = { streams: false, event: () => undefined, piece: () => undefined, rest: () => undefined };

/** Shows the same to several. */
export function bothViews(first: RunView, second: RunView): RunView {
  return {
    streams: first.streams || second.streams,
    event: (event, tree) => {
      first.event(event, tree);
      second.event(event, tree);
    },
    piece: (piece) => {
      if (first.streams) first.piece(piece);
      if (second.streams) second.piece(piece);
    },
    rest: (tree) => {
      first.rest(tree);
      second.rest(tree);
    },
  };
}
