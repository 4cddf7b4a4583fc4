/**
 * Pieces of answers, heard from before a run begins until whoever shows them is ready. A run goes its way as soon as it is
 * started: who watched only afterwards would miss its first words, or find that the model was never asked to stream.
 */
import { limits } from '../base/limits.ts';
import type { Engine, LivePiece } from '../engine/port.ts';

export interface HeardPieces {
  /** Gives what came so far, and then each piece as it comes. Returns what ends it. */
  to(listener: (piece: LivePiece) => void): () => void;
  /** Nobody will want them: nothing began. */
  close(): void;
}

/** To be called before the run is started or taken up. Unless somebody wants pieces, no model is asked to stream. */
export function hear({ watch }: Pick<Engine, 'watch'>, wanted: boolean): HeardPieces {
  if (!wanted) return { to: () => () => undefined, close: () => undefined };
  const held: LivePiece[] = [];
  let tell = (piece: LivePiece): void => {
    // They are shown, not kept: of a flood that nobody reads the end is enough.
    if (held.length >= limits.liveTextCharacters) held.shift();
    held.push(piece);
  };
  const close = watch((piece) => tell(piece));
  return {
    to(listener) {
      tell = listener;
      for (const piece of held.splice(0)) listener(piece);
      return close;
    },
    close,
  };
}
