/**
 * Frames as an answer that does not end. The next one is made when the reader has taken the last, so nothing piles up; a reader
 * that takes nothing for too long is cut off, because what it holds open others may need.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';

export interface Streaming {
  readonly clock: Clock;
  /** Makes the frames until the signal aborts. */
  frames(signal: AbortSignal): AsyncGenerator<Uint8Array, void>;
  /** Closes the connection, whatever is still to be written to it. */
  cut(): void;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
  /** What it is; server-sent events without it. */
  readonly type?: string | undefined;
  /** Whether whoever reads it still may; asked before each frame is given. */
  stays?(): Promise<boolean>;
  /** Called once, however it ended. */
  ended(): void;
}

export function endlessResponse({ clock, frames, cut, stopping, type, stays, ended }: Streaming): Response {
  const leaving = new AbortController();
  const made = frames(AbortSignal.any([leaving.signal, stopping]));
  let patience: (() => void) | undefined;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    patience?.();
    leaving.abort();
    // Whoever waits for news in it is woken by the signal, and lets go of the ledger.
    made.return().catch(() => undefined);
    ended();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        patience?.();
        const [next, isAllowed] = await nextOf(made, stays).catch((error: unknown) => {
          end();
          throw error;
        });
        if (isOver) return;
        if (next.done === true || !isAllowed) {
          controller.close();
          return end();
        }
        controller.enqueue(next.value);
        patience = clock.after(limits.streamStuckMs, () => {
          end();
          cut();
        });
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...STREAM_HEADERS, ...present({ 'content-type': type }) } });
}

/** Asked once the frame is there: whatever is in it was written before. */
async function nextOf(
  made: AsyncGenerator<Uint8Array, void>,
  stays: Streaming['stays'],
): Promise<readonly [next: IteratorResult<Uint8Array, void>, isAllowed: boolean]> {
  const next = await made.next();
  return [next, (await stays?.()) ?? true];
}

/** Nobody in between may keep it, change it or wait for the end of it. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'transfer-encoding': 'chunked',
  'x-accel-buffering': 'no',
};
