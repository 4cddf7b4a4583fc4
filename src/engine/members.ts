/** The members of a session's groups, and the latest run of each: what it goes on with when it is asked again. */
import type { RunId } from '../base/ids.ts';
import type { LedgerEvent } from '../events/envelope.ts';

export interface Members {
  apply(event: LedgerEvent): void;
  note(member: string, run: RunId): void;
  latest(member: string): RunId | undefined;
}

export function createMembers(): Members {
  const latest = new Map<string, RunId>();
  const memberOf = new Map<string, string>();
  return {
    note: (member, run) => void latest.set(member, run),
    latest: (member) => latest.get(member),
    apply(event) {
      if (event.event_type === 'run.started' && event.payload.member !== undefined)
        memberOf.set(event.run_id, event.payload.member);
      const member = event.event_type === 'run.ended' ? memberOf.get(event.run_id) : undefined;
      if (event.event_type === 'run.ended' && member !== undefined)
        latest.set(member, (event.payload.finalRun ?? event.run_id) as RunId);
    },
  };
}
