/** What answers side by side are worth when all of them are there. */
import type { Verification } from '../events/catalogue.ts';
import type { AgentRun } from './agent-run.ts';
import { type NamedResult, together } from './verification.ts';

/** Each was verified when it ended; another may have changed files after that. What they claim must hold when all are done. */
export async function checkedTogether(run: AgentRun, key: string, parts: readonly NamedResult[]): Promise<Verification> {
  const verification = together(parts);
  const claims = parts.flatMap(({ result }) => result.claims ?? []);
  if (verification.state !== 'verified' || parts.length < 2 || claims.length === 0) return verification;
  return await run.steps.step(key, () => run.checkAgain(claims));
}
