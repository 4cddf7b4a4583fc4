/** What a request to a model carries that other runs have said: broadcasts and messages, by the step where they are recorded. */
import type { Payloads } from '../../events/catalogue.ts';

export type BroadcastReference = { readonly run: string; readonly step: string };

/** The parts of a request that other runs said. */
export const foreign = (request: Payloads['model.request']): BroadcastReference[] => references(request.added);

export function references(added: Payloads['model.request']['added']): BroadcastReference[] {
  return added.flatMap((item) => ('step' in item && item.run !== undefined ? [{ run: item.run, step: item.step }] : []));
}
