/**
 * An outage is one for a whole tree: whoever meets it waits from its beginning on, and not from their own first failure. So a
 * caller does not wait once more for what a run below it has waited for in vain, and nobody goes on without it meanwhile: the
 * root stands still, and both go on when it is resumed.
 */
import { limits } from '../../base/limits.ts';
import type { EventType } from '../../events/catalogue.ts';
import { isOutage } from '../../models/failures.ts';
import type { LedgerAccess, TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';

type LooksBack = Pick<LedgerAccess, 'ledger'> & Pick<TimeAndIds, 'clock'> & Pick<Writes, 'session'>;

const TOLD: readonly EventType[] = ['model.failed', 'model.response', 'run.started', 'run.resumed', 'run.reopened'];

const providerOf = (model: string): string => model.slice(0, Math.max(0, model.indexOf('/')));

/**
 * For how long the provider of this model has been failing whoever asked it in this tree: since it last answered, since the run
 * began, or since it was taken up. What lies further apart than anybody waits is another outage.
 */
export async function outageSoFar({ ledger, clock, session }: LooksBack, model: string): Promise<number> {
  const provider = providerOf(model);
  const newest = await ledger.read({
    ...{ session, types: TOLD, newest: true, exact: false },
    limit: limits.outageFailures,
  });
  const now = clock.now();
  let since = now;
  for (const event of newest) {
    if (event.event_type === 'run.reopened' || event.event_type === 'run.resumed') break;
    if (event.event_type === 'run.started' && event.payload.depth === 0) break;
    if (event.event_type === 'model.response' && providerOf(event.payload.served) === provider) break;
    if (event.event_type !== 'model.failed' || providerOf(event.payload.model) !== provider) continue;
    const at = Date.parse(event.timestamp);
    if (!isOutage(event.payload.error) || since - at > limits.outagePatienceMs) break;
    since = Math.min(since, at);
  }
  return now - since;
}

/** Whether its root stands still for an outage, instead of ending: only then does anybody come back for it. */
export function standsStill(node: DrivenRun): boolean {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  return root.started.origin.kind === 'person';
}
