/**
 * Tells a collector of every span, beside the runs and never in their way.
 *
 * - O4 Each span is sent once; after a crash between an answer and the next event the same ones are sent again, with the same
 *   ids. More than at least once the protocol does not allow.
 * - O5 Of all processes of a ledger one tells; when it has gone another goes on where it was.
 * - O6 No run waits for it and none fails of it. What cannot be told stays in the ledger and is told later; memory holds one
 *   page.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import { asOnlyOne } from '../ledger/only-one.ts';
import type { FeedPlace, Fence, Ledger } from '../ledger/port.ts';
import { beginCursor, type Cursor, claimOf, moveCursor, readCursor } from './cursor.ts';
import { sendSpans } from './send.ts';
import type { TelemetrySettings } from './settings.ts';
import { batchesOf, createSpanReader, type SpanPage } from './span-reader.ts';

export interface FollowNeeds {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: TelemetrySettings;
  /** Told when it cannot be told, once for each new reason. */
  onTrouble(why: string): void;
}

export interface SpanFollower {
  /** Tells what is there, as far as that goes quickly, and ends. */
  close(): Promise<void>;
}

export function followLedger(needs: FollowNeeds): SpanFollower {
  const { ledger, clock } = needs;
  const stopping = new AbortController();
  const closing = new AbortController();
  const state: State = {
    ...{ ...needs, stopping: stopping.signal, closing: closing.signal, trouble: undefined },
    // What was before is not told; looked up before anything can be added.
    start: ledger.feed({ newest: true, limit: 1 }).then(({ entries }) => entries[0]?.place),
  };
  const work = follow(state).catch((error: unknown) => {
    if (!stopping.signal.aborted) needs.onTrouble(messageOf(error));
  });
  return {
    async close() {
      closing.abort();
      const patience = clock.after(limits.telemetryCloseMs, () => stopping.abort());
      await work;
      patience();
      stopping.abort();
    },
  };
}

interface State extends FollowNeeds {
  readonly stopping: AbortSignal;
  readonly closing: AbortSignal;
  readonly start: Promise<FeedPlace | undefined>;
  trouble: string | undefined;
}

/** Now and then, and when it closes: to be called at every append would cost more than all the rest. */
function gathered({ clock, closing }: State): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(limits.telemetryGatherMs, resolve);
  const leave = (): void => {
    cancel();
    resolve();
  };
  if (closing.aborted) leave();
  else closing.addEventListener('abort', leave, { once: true });
  return promise.finally(() => closing.removeEventListener('abort', leave));
}

async function follow(state: State): Promise<void> {
  const { ledger, clock, settings, closing } = state;
  const start = await state.start;
  // A ledger that nobody has written to yet is not made by us.
  for (let isEmpty = start === undefined; isEmpty; ) {
    const isLast = closing.aborted;
    isEmpty = (await ledger.feed({ newest: true, limit: 1 })).entries.length === 0;
    if (isEmpty && isLast) return;
    if (isEmpty) await gathered(state);
  }
  const needs = { ledger, clock, stopping: closing, onError: (error: Error) => state.onTrouble(error.message) };
  let tries = 0;
  // When it closes it takes one look: somebody else who tells is not waited for.
  const isOver = async (): Promise<boolean> => closing.aborted && tries++ > 0;
  await asOnlyOne(needs, claimOf(settings), isOver, async (fence) => {
    const cursor = (await readCursor(ledger, settings)) ?? (await beginCursor(state, settings, fence, start));
    if (cursor !== undefined) await tell(state, fence, cursor);
  });
}

async function tell(state: State, fence: Fence, begun: Cursor): Promise<void> {
  const { ledger, clock, settings, closing, stopping } = state;
  const reader = createSpanReader(ledger, settings);
  let cursor = begun;
  let place = begun.place;
  while (!stopping.aborted) {
    const wasClosing = closing.aborted;
    const page = await reader.next(place);
    if (typeof page === 'object') {
      if (page.spans.length > 0) {
        const moved = await tellPage(state, fence, cursor, page);
        if (moved === undefined) return;
        cursor = moved;
      }
      place = page.place;
    } else if (page === 'pending') await sleep(clock, limits.telemetryPendingMs, stopping);
    else if (wasClosing) return;
    else await gathered(state);
  }
}

/** Until it is told, or the work is over for us. */
async function tellPage(state: State, fence: Fence, cursor: Cursor, { spans, place }: SpanPage): Promise<Cursor | undefined> {
  let { refused, failed } = cursor;
  for (const batch of batchesOf(spans)) {
    let sent = await sendSpans(state, batch);
    while (sent.kind !== 'sent') {
      noteTrouble(state, sent.why);
      if (state.closing.aborted) return undefined;
      await sleep(state.clock, limits.telemetryRestMs, state.closing);
      sent = await sendSpans(state, batch);
    }
    noteTrouble(state, sent.why);
    refused += sent.rejected;
    if (sent.why !== undefined) failed = sent.why;
  }
  return await moveCursor(state, fence, cursor, { place, spans: cursor.spans + spans.length, refused, failed });
}

/** The same reason is told once, until it was good again. */
function noteTrouble(state: State, why: string | undefined): void {
  if (why !== undefined && why !== state.trouble) state.onTrouble(why);
  state.trouble = why;
}
