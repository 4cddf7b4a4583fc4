/** What was remembered for sessions. */
import { codeOf } from '../../base/errors.ts';
import { readSessionRules, type SessionRules } from '../../front/project/session-rules.ts';
import { type CommandContext, withProject } from '../terminal/command.ts';

/** A project without a ledger has no sessions; that is not an error. */
export async function sessionRulesOf(context: CommandContext): Promise<SessionRules> {
  try {
    return await withProject(context, { readOnly: true }, ({ ledger }) => readSessionRules(ledger));
  } catch (error) {
    if (codeOf(error) === 'ledger_missing') return { rules: [], leftOut: 0 };
    throw error;
  }
}
