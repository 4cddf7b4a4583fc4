/** From the result of a run, or from any event, back to the prompt that caused it. */
import type { EventId, RunId, SessionId } from '../../base/ids.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { type CauseLine, type Causes, foldCauses, initialCauses, resultEvent, whyOf } from '../../projections/why.ts';

export interface Why {
  readonly causes: Causes;
  /** From what is asked about to its beginning; empty when there is no such event. */
  readonly chain: readonly CauseLine[];
}

export type WhyFrom = { readonly run: RunId } | { readonly event: EventId };

export async function readWhy(ledger: Pick<Ledger, 'read'>, session: SessionId, from: WhyFrom): Promise<Why> {
  const causes = await foldSession(ledger, session, initialCauses(), foldCauses);
  const start = 'event' in from ? from.event : resultEvent(causes, from.run);
  return { causes, chain: start === undefined ? [] : whyOf(causes, start) };
}
