/** Words as they come, for any number who follow conversations: heard once for all, kept for nobody who is slow. */
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';

export interface HeardWords {
  /** From now on only what is said in this session. */
  only(session: SessionId): void;
  /** What came since the last time. */
  take(): readonly LivePiece[];
  onMore(callback: () => void): () => void;
  close(): void;
}

/** To be called before a run begins: a model is asked to stream only where somebody listens already. */
export type HearWords = () => HeardWords;

/** All of them together are one listener. */
export function shareWords(hear: (tell: (piece: LivePiece) => void) => () => void): HearWords {
  const readers = new Set<(piece: LivePiece) => void>();
  let stop: (() => void) | undefined;
  return () => {
    const kept = keptWords();
    readers.add(kept.hear);
    stop ??= hear((piece) => {
      for (const tell of readers) tell(piece);
    });
    return {
      ...kept,
      close() {
        readers.delete(kept.hear);
        if (readers.size > 0) return;
        stop?.();
        stop = undefined;
      },
    };
  };
}

function keptWords(): Omit<HeardWords, 'close'> & { hear(piece: LivePiece): void } {
  let pieces: LivePiece[] = [];
  let characters = 0;
  let wanted: SessionId | undefined;
  let ring = (): void => undefined;
  return {
    hear(piece) {
      if (wanted !== undefined && piece.session !== wanted) return;
      const length = piece.delta.type === 'tool' ? piece.delta.name.length : piece.delta.text.length;
      // Whoever does not take what there is misses what comes: each piece says where in the answer it stands.
      if (characters + length > limits.streamDeltaCharacters) return;
      characters += length;
      pieces.push(piece);
      ring();
    },
    only(session) {
      wanted = session;
      pieces = pieces.filter((piece) => piece.session === session);
    },
    take() {
      const taken = pieces;
      pieces = [];
      characters = 0;
      return taken;
    },
    onMore(callback) {
      ring = callback;
      return () => {
        ring = () => undefined;
      };
    },
  };
}
