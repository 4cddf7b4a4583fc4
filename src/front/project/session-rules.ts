/** What was remembered for sessions, newest session first: of those that can go on, and of so many only. */
import { codeOf } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { rememberedIn } from '../../engine/forget.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { RememberedRule } from '../../permissions/remembered-rule.ts';
import { groupOfSession } from '../../projections/groups.ts';

export interface SessionRule extends RememberedRule {
  readonly session: SessionId;
}

export interface SessionRules {
  readonly rules: readonly SessionRule[];
  /** How many sessions that can go on were not looked at. */
  readonly leftOut: number;
}

export async function readSessionRules(ledger: Ledger): Promise<SessionRules> {
  const open = await openSessions(ledger);
  const rules: SessionRule[] = [];
  for (const session of open.slice(0, limits.permissionSessions))
    rules.push(...(await rulesIn(ledger, session)).map((rule) => ({ ...rule, session })));
  return { rules, leftOut: Math.max(0, open.length - limits.permissionSessions) };
}

/** A conversation can always go on, unless it was that of a group that was deleted. */
async function openSessions(ledger: Ledger): Promise<readonly SessionId[]> {
  const organisation = await readOrganisation(ledger);
  const roots = await ledger.runs({ roots: true, limit: limits.runLookup });
  return [...new Set(roots.map(({ session }) => session))].filter((session) => {
    const group = groupOfSession(organisation, session);
    return group === undefined || organisation.groups.has(group.group);
  });
}

/** None, when the events were collected or are damaged: such a session does not go on. */
async function rulesIn(ledger: Ledger, session: SessionId): Promise<readonly RememberedRule[]> {
  try {
    return await rememberedIn(ledger, session);
  } catch (error) {
    if (codeOf(error) === 'ledger_collected' || codeOf(error) === 'ledger_corrupt') return [];
    throw error;
  }
}
