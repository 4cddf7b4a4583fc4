/**
 * Sub-agents that have answered and can be asked again. A frozen child is nothing but its conversation in the ledger; what is
 * kept here is which ones a run may ask, and how many turns they have left. A run that goes on with an earlier one's
 * conversation may ask that one's children, too.
 */
import type { Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';

export type Child = NonNullable<Payloads['tool.result']['child']>;

export interface Frozen {
  apply(event: LedgerEvent): void;
  /** Notes that a run's child has answered. */
  note(run: string, child: Child): void;
  find(run: string, id: string): Child | undefined;
  dismiss(run: string, id: string): void;
  /** The children of a run and theirs, all the way down, that can still be asked. */
  below(run: string): Child[];
}

export function createFrozen(continues: (run: string) => string | undefined): Frozen {
  const children = new Map<string, Map<string, Child>>();
  const own = (run: string): Map<string, Child> => {
    const known = children.get(run) ?? new Map<string, Child>();
    children.set(run, known);
    return known;
  };
  const chain = (run: string): string[] => {
    const earlier = continues(run);
    return earlier === undefined ? [run] : [run, ...chain(earlier)];
  };
  const holder = (run: string, id: string): Map<string, Child> | undefined =>
    chain(run)
      .map(own)
      .find((held) => held.has(id));
  const below = (run: string): Child[] =>
    chain(run).flatMap((one) =>
      [...own(one).values()].filter((child) => child.chat).flatMap((child) => [child, ...below(child.run)]),
    );
  const note = (run: string, child: Child): void => {
    (holder(run, child.id) ?? own(run)).set(child.id, child);
  };
  const dismiss = (run: string, id: string): void => {
    holder(run, id)?.delete(id);
  };
  return {
    note,
    dismiss,
    below,
    find: (run, id) => holder(run, id)?.get(id),
    apply(event) {
      if (event.event_type === 'tool.result' && event.payload.child !== undefined) note(event.run_id, event.payload.child);
      else if (event.event_type === 'agent.dismissed') dismiss(event.run_id, event.payload.id);
    },
  };
}
