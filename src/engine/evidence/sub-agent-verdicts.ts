/**
 * What the runs of a driven session rest on: the answers of the sub-agents they have called. An answer that was heard counts
 * for ever, also when the sub-agent was let go. Built anew from the ledger, like everything here.
 */
import type { LedgerEvent } from '../../events/envelope.ts';
import type { NamedResult } from '../../patterns/verification.ts';
import type { Cut } from '../record/past.ts';

export interface SubAgentVerdicts {
  apply(event: LedgerEvent): void;
  /** Notes what a sub-agent's answers are worth, all of them so far. */
  note(run: string, child: Cut['rests'][number]): void;
  of(run: string): readonly NamedResult[];
  state(run: string): Cut['rests'];
}

export interface RestsOnAnswers {
  /** What the runs of this tree have been told by their sub-agents, and what it is worth. */
  readonly verdicts: SubAgentVerdicts;
}

export function createSubAgentVerdicts(): SubAgentVerdicts {
  const byRun = new Map<string, Map<string, NamedResult>>();
  const note = (run: string, { id, agent, verification }: Cut['rests'][number]): void => {
    const parts = byRun.get(run) ?? new Map<string, NamedResult>();
    byRun.set(run, parts.set(id, { name: agent, result: { status: 'completed', verification } }));
  };
  return {
    note,
    state: (run) =>
      [...(byRun.get(run) ?? [])].map(([id, { name, result }]) => ({ id, agent: name, verification: result.verification })),
    of: (run) => [...(byRun.get(run)?.values() ?? [])],
    apply(event) {
      if (event.event_type === 'tool.result' && event.payload.child !== undefined) note(event.run_id, event.payload.child);
    },
  };
}
