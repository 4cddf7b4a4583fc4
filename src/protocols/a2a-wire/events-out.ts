/**
 * A stream of events for one peer. It is pulled: nothing is read from the ledger that the peer has no room for. One that takes
 * nothing for too long is cut off; it can subscribe again and misses nothing. While nothing happens a remark goes out now and
 * then: many clients, and what stands between, take a silent stream for a dead one.
 */
import { formatSSEErrorEvent, formatSSEEvent } from '@a2a-js/sdk';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';

export interface EventsOut<Event> {
  readonly events: AsyncGenerator<Event, void, undefined>;
  /** What goes over the wire for an event, and for an error in the middle of the stream. */
  readonly encode: (event: Event) => unknown;
  readonly explain: (error: unknown) => unknown;
  readonly clock: Clock;
  /** Whoever asks reads nothing but a stream: also an error before the first event comes in one. */
  readonly always?: boolean;
  /** Told when the peer has gone, or was cut off. */
  readonly leave: AbortController;
}

/** What begins with a colon is read by nobody. */
const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * Before the first event nothing is promised yet: an error there is an answer like any other, and thrown, unless it is wanted in
 * the stream.
 */
export async function streamResponse<Event>(out: EventsOut<Event>): Promise<Response> {
  const { events, encode, explain, clock, leave, always = false } = out;
  let next: IteratorResult<Event, void> | undefined = always ? undefined : await events.next();
  const encoder = new TextEncoder();
  let stopWatch = (): void => undefined;
  let stopRemarks = (): void => undefined;
  let isOver = false;
  const over = async (): Promise<void> => {
    isOver = true;
    stopWatch();
    stopRemarks();
    leave.abort();
    await events.return().catch(() => undefined);
  };
  const remarks = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    stopRemarks = clock.after(limits.a2aKeepAliveMs, () => {
      // Whoever has not taken the last one needs no other.
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(KEEP_ALIVE));
      remarks(controller);
    });
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      stopWatch();
      try {
        if (next === undefined) remarks(controller);
        next ??= await events.next();
        stopRemarks();
        // Whoever has left takes nothing more, not even the end.
        if (isOver) return;
        if (next.done === true) {
          controller.close();
          return void (await over());
        }
        controller.enqueue(encoder.encode(formatSSEEvent(encode(next.value))));
      } catch (error) {
        if (isOver) return;
        controller.enqueue(encoder.encode(formatSSEErrorEvent(explain(error))));
        controller.close();
        return void (await over());
      }
      next = undefined;
      // Whoever takes this one pulls the next.
      stopWatch = clock.after(limits.a2aStreamStuckMs, () => {
        controller.error(new Error(`The peer took nothing for ${limits.a2aStreamStuckMs} ms (a2aStreamStuckMs)`));
        void over();
      });
    },
    cancel: over,
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
}
