/** What a run of an architect keeps in mind between its steps. Every bit of it follows from what was recorded. */
import type { Verification } from '../../events/catalogue.ts';
import type { UserMessage } from '../../events/messages.ts';
import { type AgentRun, wasStopped } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { RunResult } from '../steps.ts';
import type { RanBefore } from '../task-support.ts';
import type { Done, Open } from './judging.ts';
import type { ArchitectSettings } from './settings.ts';
import type { KnownFact } from './snapshot.ts';
import type { Unit } from './units.ts';

export interface Progressing {
  readonly run: AgentRun;
  readonly settings: ArchitectSettings;
  /** Handed over and not begun. */
  queue: readonly Unit[];
  /** Came back and not judged. */
  open: readonly Open[];
  done: readonly Done[];
  known: readonly KnownFact[];
  /** Where the first task began, and what later ones begin from. */
  from: string | undefined;
  base: string | undefined;
  /** What everything that was accepted is worth together, where that was looked at. */
  together: Verification | undefined;
  notices: readonly string[];
  /** How commands ended at the commits that tasks began from. */
  readonly before: Map<string, RanBefore>;
  units: number;
  waves: number;
  /** How many of the accepted ones were put together. */
  merged: number;
  /** Accepted, and left out because they stand against others. */
  leftOut: readonly string[];
}

/** What the architect hears next, or the end. */
export type Next = { readonly prompt: UserMessage } | { readonly ended: RunResult };

export function takeNotices(state: Progressing): readonly string[] {
  const { notices } = state;
  state.notices = [];
  return notices;
}

/** The end, when the run itself was stopped or has nothing left to spend. */
export async function endedWith(state: Progressing, key: string, results: readonly RunResult[]): Promise<RunResult | undefined> {
  const out = ranOut(state.run, results);
  if (out !== undefined) {
    const said = state.done.map(({ task, verdict, why }) => ({ who: task, text: `${verdict}: ${why}` }));
    return endedEmpty(state.run, out, said);
  }
  return (await wasStopped(state.run, key, results)) ? cutOff(state) : undefined;
}

export function cutOff({ run }: Progressing): RunResult {
  const error = { code: 'cancelled', message: 'The run was cancelled.' };
  return {
    status: 'cancelled',
    report: { format: 'text', body: error.message, synthetic: true },
    ...{ finalAgent: run.agent.name, finalRun: run.run, turns: 0, error, verification: { state: 'unchecked' } },
  };
}
