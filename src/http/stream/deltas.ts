/** What is being said, for those who follow a session: heard only while somebody does, and kept for nobody who is slow. */
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { LiveChannel } from '../../live/port.ts';
import type { Deltas } from './session-stream.ts';

type Hearing = (session: SessionId) => Deltas & { close(): void };

export function createHearing(live: Pick<LiveChannel, 'hear'>): Hearing {
  const readers = new Set<(piece: LivePiece) => void>();
  let stop: (() => void) | undefined;
  return (session) => {
    const kept = keptFor(session);
    readers.add(kept.hear);
    stop ??= live.hear((piece) => {
      for (const hear of readers) hear(piece);
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

function keptFor(session: SessionId): Deltas & { hear(piece: LivePiece): void } {
  let text = '';
  let ring = (): void => undefined;
  return {
    hear(piece) {
      if (piece.session !== session) return;
      const frame = `event: delta\ndata: ${JSON.stringify(piece)}\n\n`;
      // Whoever does not take what there is misses what comes: each piece says where in the answer it stands.
      if (text.length + frame.length > limits.streamDeltaCharacters) return;
      text += frame;
      ring();
    },
    take() {
      const taken = text;
      text = '';
      return taken === '' ? undefined : taken;
    },
    onMore(callback) {
      ring = callback;
      return () => {
        ring = () => undefined;
      };
    },
  };
}
