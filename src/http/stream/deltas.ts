/** What is being said, as frames, for those who follow a session: heard only while somebody does. */
import type { SessionId } from '../../base/ids.ts';
import { shareWords } from '../../front/chat/heard-words.ts';
import type { LiveChannel } from '../../live/port.ts';
import type { Deltas } from './session-stream.ts';

type Hearing = (session: SessionId) => Deltas & { close(): void };

export function createHearing(live: Pick<LiveChannel, 'hear'>): Hearing {
  const listen = shareWords(live.hear);
  return (session) => {
    const { only, take, onMore, close } = listen();
    only(session);
    const frames = (): string =>
      take()
        .map((piece) => `event: delta\ndata: ${JSON.stringify(piece)}\n\n`)
        .join('');
    return { onMore, close, take: () => frames() || undefined };
  };
}
