/** Spans of what is in the ledger already: of a run, or of everything since some time. With the same ids as if they were new. */
import { codeOf } from '../base/errors.ts';
import type { RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import { readEvents } from '../ledger/pages.ts';
import type { Ledger } from '../ledger/port.ts';
import { createSpanFold, foldSpans, spanTypes } from './fold.ts';
import type { FinishedSpan } from './span.ts';
import type { Wording } from './told.ts';

export type BackfillOf =
  | { readonly kind: 'run'; readonly session: SessionId; readonly root: RunId }
  /** Spans that ended then or later. */
  | { readonly kind: 'since'; readonly ms: number };

/** A few at a time, in the order of each session: memory holds one batch. */
export async function* spansOf(
  ledger: Pick<Ledger, 'read' | 'runs'>,
  of: BackfillOf,
  wording: Wording,
): AsyncGenerator<readonly FinishedSpan[], void> {
  if (of.kind === 'run') return yield* ofSession(ledger, of.session, wording, () => true, of.root);
  const rows = await ledger.runs({ roots: true, limit: limits.telemetryBackfillSessions });
  // What began before may have ended since; what ended before has nothing to tell.
  const sessions = new Set(rows.filter(({ endedAt }) => endedAt === null || endedAt >= of.ms).map(({ session }) => session));
  for (const session of sessions) yield* ofSession(ledger, session, wording, ({ endMs }) => endMs >= of.ms);
}

async function* ofSession(
  ledger: Pick<Ledger, 'read'>,
  session: SessionId,
  wording: Wording,
  wanted: (span: FinishedSpan) => boolean,
  root?: RunId,
): AsyncGenerator<readonly FinishedSpan[], void> {
  const fold = createSpanFold(wording);
  let batch: FinishedSpan[] = [];
  try {
    for await (const event of readEvents(ledger, { session, types: [...spanTypes], ...present({ root }) })) {
      batch.push(...foldSpans(fold, event).filter(wanted));
      if (batch.length < limits.telemetryBatchSpans) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (codeOf(error) !== 'ledger_collected') throw error;
  }
  if (batch.length > 0) yield batch;
}
