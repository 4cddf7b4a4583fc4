/**
 * A session as a stream of frames: what is there in large ones, then a frame for each event, and between them a sign of life. A
 * stream is a position and nothing else: it reads when its reader has taken what was there, so a slow one costs no memory.
 */
import type { Clock } from '../../base/clock.ts';
import { eventId, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createBell } from '../../front/bell.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { EncodedEvents, PayloadForm } from './encoded-events.ts';

export interface SessionStream {
  readonly events: EncodedEvents;
  readonly ledger: Pick<Ledger, 'read' | 'onNews'>;
  readonly clock: Clock;
  readonly session: SessionId;
  /** What the reader has already. */
  readonly after: number;
  readonly form: PayloadForm;
  /** Words as they come, which are not in the ledger; none without it. */
  readonly deltas?: Deltas | undefined;
  readonly signal: AbortSignal;
}

/** What is being said, kept for one reader and no longer than it may be. */
export interface Deltas {
  /** What came since the last time, as frames; `undefined` when that is nothing. */
  take(): string | undefined;
  /** Calls back when there is something to take. Returns what ends it. */
  onMore(callback: () => void): () => void;
}

export async function* sessionFrames(stream: SessionStream): AsyncGenerator<Uint8Array, void> {
  const { events, ledger, clock, session, form, signal, deltas } = stream;
  let position = stream.after;
  let caughtUp = false;
  const bell = createBell(clock, signal, (ring) => [ledger.onNews(session, ring), deltas?.onMore(ring)]);
  try {
    const head = await sessionHead(ledger, session);
    yield Buffer.from(`retry: 1000\n: head ${eventId(session, head)}\n\n`);
    while (!signal.aborted) {
      bell.listen();
      const page = await events.page(session, position, form);
      if (page !== undefined) {
        position = page.position;
        yield caughtUp ? page.singles : page.batch;
        caughtUp ||= position >= head;
        continue;
      }
      caughtUp = true;
      const said = deltas?.take();
      if (said !== undefined) yield Buffer.from(said);
      else if ((await bell.heard(limits.streamHeartbeatMs)) === 'nothing')
        yield Buffer.from(`: head ${eventId(session, position)}\n\n`);
    }
  } finally {
    bell.stop();
  }
}

/** Where the session ends now; 0 when there is nothing in it. */
export async function sessionHead(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<number> {
  return (await ledger.read({ session, newest: true, limit: 1 }))[0]?.position ?? 0;
}
