/** How the hand-driven twin checks claims: by hand, too. */
import type { Claim, Verification } from '../../../src/events/catalogue.ts';
import { UNCHECKED, unverified } from '../../../src/patterns/verification.ts';

/** A claim is backed by a command that was seen to succeed in this run, and by nothing else: here no files are changed. */
export function checked(claims: readonly Claim[], seen: ReadonlySet<string>): Verification {
  const open = claims.filter((claim) => claim.kind === 'file' || !seen.has(claim.command));
  if (claims.length === 0) return UNCHECKED;
  const reasons = open.map((claim) => (claim.kind === 'file' ? notChanged(claim.path) : notRun(claim.command)));
  return open.length === 0 ? { state: 'verified' } : unverified(reasons, open);
}

const notRun = (command: string): string => `command ${JSON.stringify(command)}: this command was not run`;
const notChanged = (path: string): string => `file ${JSON.stringify(path)}: no recorded change of this file`;
