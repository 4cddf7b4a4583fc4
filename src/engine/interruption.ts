/**
 * Why work on a run stops although the run has not ended. Thrown by steps and passed up through patterns and joins, which
 * let everything under way finish first; caught in one place, where the run is driven.
 */
import type { Failure } from '../events/catalogue.ts';

/** `unheard`: somebody wrote to the run when it was about to end; it goes on at once and hears it. */
export type InterruptionKind = 'waiting' | 'unheard' | 'paused' | 'parked' | 'lost' | 'interrupted';

export class Interruption extends Error {
  readonly kind: InterruptionKind;
  /** What went wrong, when nobody asked for the stop. */
  readonly failure: Failure | undefined;

  constructor(kind: InterruptionKind, reason: string, failure?: Failure) {
    super(reason);
    this.name = 'Interruption';
    this.kind = kind;
    this.failure = failure;
  }
}

/** What several branches ended with, taken as one: losing the lease or the ledger outranks a wait. */
export function strongest(interruptions: readonly Interruption[]): Interruption | undefined {
  const order: readonly InterruptionKind[] = ['lost', 'interrupted', 'paused', 'parked', 'unheard', 'waiting'];
  return [...interruptions].sort((left, right) => order.indexOf(left.kind) - order.indexOf(right.kind))[0];
}

/** Of several reasons to stop the one that counts: a bug first, else the strongest interruption. */
export function gravest(reasons: readonly unknown[]): unknown {
  return reasons.find((reason) => !(reason instanceof Interruption)) ?? strongest(reasons as readonly Interruption[]);
}

/** Waits for all, however they end; then passes on the gravest reason of those that failed, else gives the values. */
export async function joinAll<Value>(branches: readonly Promise<Value>[]): Promise<Value[]> {
  const settled = await Promise.allSettled(branches);
  const reasons = settled.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
  if (reasons.length > 0) throw gravest(reasons);
  return settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}
