/**
 * Reads the ledger in the one order of all events and gives the spans that are finished in it. What it remembers is only what is
 * still open; of a session that it meets in the middle it reads what came before.
 */
import { codeOf } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { createRecentlyUsed } from '../base/recently-used.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { parentRun } from '../events/run-origin.ts';
import { readEvents } from '../ledger/pages.ts';
import type { FeedEntry, FeedPlace, Ledger } from '../ledger/port.ts';
import { createSpanFold, foldSpans, type SpanFold, spanTypes } from './fold.ts';
import type { FinishedSpan } from './span.ts';
import type { Wording } from './told.ts';

export interface SpanPage {
  readonly spans: readonly FinishedSpan[];
  /** Everything up to here is in it. */
  readonly place: FeedPlace;
}

export interface SpanReader {
  /** The next page behind this place; `pending` when there is something whose place is not certain yet. */
  next(after: FeedPlace | undefined): Promise<SpanPage | 'pending' | 'nothing'>;
}

const ofSpans: ReadonlySet<string> = new Set(spanTypes);

export function createSpanReader(ledger: Pick<Ledger, 'feed' | 'read'>, wording: Wording): SpanReader {
  const folds = createRecentlyUsed<SessionId, SpanFold>(limits.telemetrySessions);
  const foldOf = async (event: LedgerEvent): Promise<SpanFold> => {
    const kept = folds.get(event.session_id);
    const needed = runNeeded(event);
    const isKnown = needed === undefined || kept?.runs.has(needed) === true;
    const fold = isKnown ? (kept ?? createSpanFold(wording)) : await foldBefore(ledger, wording, event);
    folds.set(event.session_id, fold);
    return fold;
  };
  const spansOf = async (session: SessionId, entries: readonly FeedEntry[]): Promise<readonly FinishedSpan[]> => {
    const [first, last] = [entries[0]?.position ?? 0, entries.at(-1)?.position ?? 0];
    if (!entries.some(({ type }) => ofSpans.has(type))) return [];
    const spans: FinishedSpan[] = [];
    try {
      const limit = last - first + 1;
      for (const event of await ledger.read({ session, after: first - 1, types: [...spanTypes], limit })) {
        if (event.position > last) break;
        spans.push(...foldSpans(await foldOf(event), event));
      }
    } catch (error) {
      // What it says was collected: there is nothing to tell of it any more.
      if (codeOf(error) !== 'ledger_collected') throw error;
    }
    return spans;
  };
  return {
    async next(after) {
      const { entries, pending } = await ledger.feed({ after, limit: limits.telemetryPageEvents });
      const place = entries.at(-1)?.place;
      if (place === undefined) return pending ? 'pending' : 'nothing';
      const spans: FinishedSpan[] = [];
      // Those of a session follow each other without a gap, whatever others do in between.
      for (const [session, own] of Map.groupBy(entries, (entry) => entry.session)) spans.push(...(await spansOf(session, own)));
      return { spans, place };
    },
  };
}

/** The run that must be known for the event to make sense: its own, or of one that begins the run above it. */
function runNeeded(event: LedgerEvent): RunId | undefined {
  return event.event_type === 'run.started' ? (parentRun(event.payload) as RunId | undefined) : event.run_id;
}

/** What was finished before was told before. */
async function foldBefore(ledger: Pick<Ledger, 'read'>, wording: Wording, before: LedgerEvent): Promise<SpanFold> {
  const fold = createSpanFold(wording);
  for await (const event of readEvents(ledger, { session: before.session_id, types: [...spanTypes] })) {
    if (event.position >= before.position) break;
    foldSpans(fold, event);
  }
  return fold;
}

/** Spans in batches that a collector takes. */
export function batchesOf(spans: readonly FinishedSpan[]): readonly (readonly FinishedSpan[])[] {
  const batches: FinishedSpan[][] = [];
  let bytes = 0;
  for (const span of spans) {
    const size = sizeOf(span);
    const batch = batches.at(-1);
    const isFull = batch === undefined || batch.length >= limits.telemetryBatchSpans || bytes + size > limits.telemetryBatchBytes;
    if (isFull) batches.push([span]);
    else batch.push(span);
    bytes = isFull ? size : bytes + size;
  }
  return batches;
}

/** Roughly, and without writing it down for that: what the names and ids around its words come to, and the words. */
const SPAN_BYTES = 2_000;
const sizeOf = ({ attributes }: FinishedSpan): number =>
  Object.values(attributes).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), SPAN_BYTES);
