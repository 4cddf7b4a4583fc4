/** All sessions as one stream of frames, in the one order of the ledger: a place and nothing else, like that of a session. */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createBell } from '../../front/bell.ts';
import type { FeedEntry, FeedPlace, Ledger } from '../../ledger/port.ts';
import { cursorOf, type EncodedFeed, type FeedQuestion } from './encoded-feed.ts';

export interface FeedStream extends FeedQuestion {
  readonly feed: EncodedFeed;
  readonly ledger: Pick<Ledger, 'onNews'>;
  readonly clock: Clock;
  /** Where the ledger ends as the stream begins. */
  readonly head: FeedEntry | undefined;
  readonly signal: AbortSignal;
}

export async function* feedFrames(stream: FeedStream): AsyncGenerator<Uint8Array, void> {
  const { feed, ledger, clock, head, signal, ...question } = stream;
  let place: FeedPlace | undefined = stream.after;
  let cursor = head === undefined ? '0' : cursorOf(head);
  let caughtUp = head === undefined || place === head.place;
  const bell = createBell(clock, signal, (ring) => [ledger.onNews(undefined, ring)]);
  try {
    yield Buffer.from(`retry: 1000\n: head ${cursor}\n\n`);
    while (!signal.aborted) {
      bell.listen();
      const page = await feed.page({ ...question, after: place });
      if (typeof page === 'object') {
        const frames = caughtUp ? page.singles : page.batch;
        ({ place, cursor } = page);
        caughtUp ||= place === head?.place;
        if (frames !== undefined) yield frames;
        continue;
      }
      caughtUp = true;
      const isPending = page === 'pending';
      const heard = await bell.heard(isPending ? limits.streamPendingMs : limits.streamHeartbeatMs);
      if (heard === 'nothing' && !isPending) yield Buffer.from(`: head ${cursor}\n\n`);
    }
  } finally {
    bell.stop();
  }
}
