/**
 * What each caller was last told about a process, so that waiting waits for news and not for what is known. Only that a wait
 * ends sooner or later hangs on it: what is forgotten, or lost with the process, is told once more.
 */
import { limits } from '../../base/limits.ts';
import { createRecentlyUsed } from '../../base/recently-used.ts';
import type { Party } from '../../events/assistants.ts';
import type { Process } from '../../projections/processes.ts';

export interface Told {
  readonly status: Process['status'];
  /** Messages to the caller that had come by then. */
  readonly received: number;
}

export interface LastTold {
  last(reader: Party, process: string): Told | undefined;
  tell(reader: Party, process: string, told: Told): void;
}

export function createLastTold(): LastTold {
  const kept = createRecentlyUsed<string, Told>(limits.familyMembersKept);
  const keyOf = ({ assistant, run = '' }: Party, process: string): string => JSON.stringify([assistant, run, process]);
  return {
    last: (reader, process) => kept.get(keyOf(reader, process)),
    tell: (reader, process, told) => void kept.set(keyOf(reader, process), told),
  };
}
