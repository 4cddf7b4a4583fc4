/** From the result of a run, from what it waits for, or from any event, back to the prompt that caused it. */
import type { EventId, RunId, SessionId } from '../../base/ids.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import {
  type CauseLine,
  type Causes,
  foldCauses,
  initialCauses,
  openQuestions,
  resultEvent,
  whyOf,
} from '../../projections/why.ts';

export interface Why {
  readonly causes: Causes;
  /** From what is asked about to its beginning; empty when there is no such event. */
  readonly chain: readonly CauseLine[];
}

export type WhyFrom = { readonly run: RunId } | { readonly event: EventId };

export async function readWhy(ledger: Pick<Ledger, 'read'>, session: SessionId, from: WhyFrom): Promise<Why> {
  const causes = await foldSession(ledger, session, initialCauses(), foldCauses);
  const start = 'event' in from ? from.event : resultEvent(causes, from.run);
  const [first, ...others] = start === undefined ? [] : whyOf(causes, start);
  if (first === undefined) return { causes, chain: [] };
  // Of several questions the walk begins with the oldest, and the others stand beside it.
  const more = 'event' in from ? [] : openQuestions(causes, from.run).filter((event) => event !== start);
  return { causes, chain: [{ ...first, also: [...first.also, ...more] }, ...others] };
}
