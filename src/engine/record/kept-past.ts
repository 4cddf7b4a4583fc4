/**
 * What this process has read of root runs that it may take up again. Events never change, so what was read once is not read
 * again: the next taking up reads what came since. It can be forgotten at any time, and never holds what could not be had
 * exactly.
 */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed, type RecentlyUsed } from '../../base/recently-used.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { Ledger } from '../../ledger/port.ts';

/** A `task.summary` from which its run can be taken up. */
export type CutEvent = EventOf<'task.summary'>;

export interface KeptPast {
  /** The cut that the events begin with; there may be a later one by now. */
  readonly cut: CutEvent | undefined;
  /** Everything that is needed of the run's tree up to here, oldest first; absent when only the cut was asked for. */
  readonly events?: readonly LedgerEvent[];
  /** Position of the last event that was read. */
  readonly upTo: number;
}

interface Weighed extends KeptPast {
  readonly characters: number;
}

const keptOf = new WeakMap<Ledger, RecentlyUsed<RunId, Weighed>>();

const neverKept = new WeakSet<Ledger>();

/** Of this ledger nothing is read a second time: to weigh what is kept would cost more than it is worth. */
export const keepNoPast = (ledger: Ledger): void => void neverKept.add(ledger);

export const keptPast = (ledger: Ledger, run: RunId): KeptPast | undefined => keptOf.get(ledger)?.get(run);

export const forgetPast = (ledger: Ledger, run: RunId): void => keptOf.get(ledger)?.delete(run);

/** `read` is what was read just now: the rest was weighed before. */
export function keepPast(ledger: Ledger, run: RunId, past: KeptPast, read: readonly LedgerEvent[]): void {
  if (neverKept.has(ledger)) return;
  const all = keptOf.get(ledger) ?? createRecentlyUsed<RunId, Weighed>(limits.pastsKept);
  keptOf.set(ledger, all);
  const known = all.get(run);
  const goesOn = known?.events !== undefined && known.cut === past.cut;
  const characters = (goesOn ? known.characters : 0) + read.reduce((sum, event) => sum + weightOf(event), 0);
  all.delete(run);
  if (read.some((event) => event.inexact !== undefined) || characters > limits.pastCharactersKept) return;
  all.set(run, { ...past, characters });
  let sum = 0;
  for (const [, { characters: each }] of all.entries()) sum += each;
  for (const [oldest, { characters: each }] of all.entries()) {
    if (sum <= limits.pastCharactersKept) return;
    all.delete(oldest);
    sum -= each;
  }
}

const weightOf = ({ payload }: LedgerEvent): number => JSON.stringify(payload).length;
