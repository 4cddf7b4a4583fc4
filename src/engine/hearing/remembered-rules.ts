/**
 * What somebody said "always" to, for the rest of the session. Of a rule the latest word counts, by where it stands in the
 * ledger and not by when it is heard: so what earlier runs have left and what is read again can come in any order.
 */
import type { Answer } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type RememberedRule, readRule, ruleFor, writtenRule } from '../../permissions/remembered-rule.ts';

/** Rules as they are written down, and the position up to which everything counts that was said of them. */
export interface ApprovedAt {
  readonly approved: readonly string[];
  readonly at: number;
}

export interface RememberedRules {
  all(): readonly RememberedRule[];
  /** What was remembered before, and has been written down. */
  restore(before: ApprovedAt): void;
  apply(event: LedgerEvent): void;
}

export function createRememberedRules(): RememberedRules {
  const asked = new Map<string, RememberedRule>();
  const given = new Map<string, number>();
  const takenBack = new Map<string, number>();
  let allTakenBack = 0;
  const give = (written: string, position: number): void => {
    given.set(written, Math.max(position, given.get(written) ?? 0));
  };
  const stands = ([written, position]: readonly [string, number]): boolean =>
    position >= Math.max(allTakenBack, takenBack.get(written) ?? 0);
  return {
    all: () => [...given].filter(stands).map(([written]) => readRule(written)),
    restore({ approved, at }) {
      for (const written of approved) give(written, at);
    },
    apply(event) {
      const { position } = event;
      if (event.event_type === 'approval.asked') {
        const { rule, tool, input, wait } = event.payload;
        const meant = rule === undefined ? ruleFor(tool, input) : readRule(rule);
        if (meant !== undefined) asked.set(`${event.run_id} ${wait}`, meant);
      } else if (event.event_type === 'approval.answered') {
        const { wait, answer } = event.payload;
        const rule = asked.get(`${event.run_id} ${wait}`);
        if (rule !== undefined && answer.kind !== 'expired' && forLater(answer)) give(writtenRule(rule), position);
      } else if (event.event_type === 'approval.withdrawn') {
        const { rule } = event.payload;
        if (rule === undefined) allTakenBack = Math.max(position, allTakenBack);
        else takenBack.set(rule, Math.max(position, takenBack.get(rule) ?? 0));
      }
    },
  };
}

/** The rule is that of the call as it was asked for: who has changed it has not approved that one. */
const forLater = (answer: Answer): boolean =>
  answer.kind === 'approved' && answer.remember === true && answer.input === undefined;
