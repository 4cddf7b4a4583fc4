/**
 * Claims are checked in the run that made them, once, as soon as they are made: whoever goes on from the answer goes on with
 * what it was found to be worth. The outcome is recorded, so that another life does not judge anew what others built on.
 */

import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import type { Claim, Payloads, Verification } from '../../events/catalogue.ts';
import type { LoopResult } from '../../loop/port.ts';
import { restsOn, UNCHECKED, unverified } from '../../patterns/verification.ts';
import { noticedChanges } from '../../tools/watch/noticed-changes.ts';
import type { WorkspaceState } from '../../tools/watch/workspace-watch.ts';
import type { LedgerAccess, ProofAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import { checkClaims, evidenceOfWork } from './evidence.ts';
import type { WorksInFolders } from './folders.ts';
import { earlierChanges } from './open-changes.ts';
import { protectedChanges } from './protected-changes.ts';
import type { RestsOnAnswers } from './sub-agent-verdicts.ts';

/** What holding claims against the work takes. */
export type ChecksClaims = LedgerAccess & ProofAccess & Writes & WorksInFolders;

export const CHECK_STEP = 'check';

/** What the run's own loop is worth: by its own claims, and with the answers of the sub-agents it has called. */
export async function checkLoopResult(
  tree: ChecksClaims & RestsOnAnswers,
  node: DrivenRun,
  result: LoopResult,
): Promise<Verification> {
  const own = await checkOwn(tree, node, result);
  const changed = result.status === 'completed' ? await protectedChanges(tree, node) : [];
  // Nothing that is proved later makes this good: it names no claim that could be.
  const verification = changed.length === 0 ? own : unverified([...changed, ...(own.state === 'unverified' ? own.reasons : [])]);
  return restsOn({ verification, claims: result.claims }, tree.verdicts.of(node.run));
}

async function checkOwn(tree: ChecksClaims, node: DrivenRun, { status, claims }: LoopResult): Promise<Verification> {
  if (status !== 'completed' || claims.length === 0) return UNCHECKED;
  const known = node.journal.recorded('evidence.checked', CHECK_STEP);
  if (known !== undefined) return verificationOf(tree, known.payload);
  const workspace = tree.workspaceOf(node);
  const now = await lookNow(tree, node, CHECK_STEP);
  const events = await evidenceOfWork(tree, node);
  const checked = checkClaims(claims, { events, earlier: await earlierChanges(tree, node, events), workspace, now });
  tree.writer.enqueue([node.journal.event('evidence.checked', checked, { step: CHECK_STEP, actor: 'system' })]);
  return verificationOf(tree, checked);
}

/** Claims that were backed when they were made, held against what others in the same workspace have done since. */
export async function checkAgain(tree: ChecksClaims, node: DrivenRun, claims: readonly Claim[]): Promise<Verification> {
  const now = await lookNow(tree, node, CHECK_STEP);
  const events = await evidenceOfWork(tree, node);
  const earlier = await earlierChanges(tree, node, events);
  return verificationOf(tree, checkClaims(claims, { events, earlier, workspace: tree.workspaceOf(node), now }));
}

/** What the workspace holds now. Whatever changed since somebody last looked is recorded first. */
export async function lookNow(tree: ChecksClaims, node: DrivenRun, step: string): Promise<WorkspaceState> {
  const look = await tree.workspaces?.look(tree.workspaceOf(node));
  if (look === undefined) return { kind: 'unknown', why: 'nobody watches the workspace' };
  const noticed = noticedChanges(look.changes, 'outside', tree.redact).map(({ type, payload, ...more }) =>
    node.journal.event(type, payload, { step, actor: 'system', ...more }),
  );
  if (noticed.length > 0) tree.writer.enqueue(noticed);
  return look.state;
}

function verificationOf({ redact }: Pick<ChecksClaims, 'redact'>, { claims }: Payloads['evidence.checked']): Verification {
  const unbacked = claims.filter(({ backed }) => !backed);
  if (unbacked.length === 0) return { state: 'verified' };
  return unverified(
    unbacked.map(({ claim, why }) => `${claimText(claim, redact)}: ${why}`),
    unbacked.map(({ claim }) => claim),
  );
}

/** In one line and in quotes: an agent wrote it, and it is read where the runtime speaks. */
function claimText(claim: Claim, redact: (text: string) => string): string {
  const said = redact(claim.kind === 'file' ? claim.path : claim.command);
  const cut = said.length > limits.claimCharacters ? `${startOf(said, limits.claimCharacters)}…` : said;
  return `${claim.kind} ${JSON.stringify(cut)}`;
}
