/**
 * A result is as good as what it rests on. The algebra in two operations: what was written with other results at hand
 * (`restsOn`), and results that stand side by side (`together`). docs/verification.md says what follows from it.
 */

import { limits } from '../base/limits.ts';
import { startOf } from '../base/whole-words.ts';
import { counted } from '../base/wording.ts';
import type { Claim, Verification } from '../events/catalogue.ts';
import { succeeded } from '../events/succeeded.ts';
import type { RunResult } from './steps.ts';

export const UNCHECKED: Verification = { state: 'unchecked' };

/** A result that another one was made from, under the name that the other one knows it by. */
export interface NamedResult {
  readonly name: string;
  readonly result: Pick<RunResult, 'status' | 'verification' | 'claims'>;
}

type Own = Pick<RunResult, 'verification' | 'claims'>;

export function unverified(reasons: readonly string[], open?: readonly Claim[]): Verification {
  // Too many to be listed are too many to be made good one by one.
  const listed = open === undefined || open.length > limits.verificationReasons ? {} : { open: [...open] };
  return { state: 'unverified', reasons: bounded(reasons), ...listed };
}

/** It was looked at, and what was seen says nothing about it. */
export const unchecked = (reasons: readonly string[]): Verification =>
  reasons.length === 0 ? UNCHECKED : { state: 'unchecked', reasons: bounded(reasons) };

/** In number and length, whatever went wrong how often. */
function bounded(reasons: readonly string[]): string[] {
  const most = limits.verificationReasons;
  const kept =
    reasons.length > most ? [...reasons.slice(0, most - 1), `and ${counted(reasons.length - most + 1, 'more reason')}`] : reasons;
  return kept.map((reason) => startOf(reason, limits.verificationReasonCharacters));
}

/**
 * What a text is worth that was written with these parts at hand. An unverified part makes the whole unverified, unless the
 * whole was verified by the very claims that the part could not back. A part that is verified or unchecked changes nothing:
 * it neither speaks for what was written after it nor against it. Of a part that failed there is nothing to rest on.
 */
export function restsOn(own: Own, parts: readonly NamedResult[]): Verification {
  const pulling = parts.filter((part) => gaveText(part) && part.result.verification.state === 'unverified' && !heals(own, part));
  if (pulling.length === 0) return own.verification;
  return allUnverified([
    ...(own.verification.state === 'unverified' ? [{ verification: own.verification }] : []),
    ...pulling.map(named),
  ]);
}

/** The same, as the result that it makes. */
export const resting = (result: RunResult, parts: readonly NamedResult[]): RunResult =>
  withVerification(result, restsOn(result, parts));

/** Work in rounds, one after the other: what an earlier round could not back and a later one has backed is made good. */
export function afterRound(before: readonly NamedResult[], round: readonly NamedResult[]): readonly NamedResult[] {
  return [...before.filter((part) => !round.some(({ result }) => heals(result, part))), ...round];
}

/** What texts side by side are worth: what the weakest of them is. One that failed leaves a gap, which nobody has checked. */
export function together(parts: readonly NamedResult[]): Verification {
  const bad = parts.filter((part) => gaveText(part) && part.result.verification.state === 'unverified');
  if (bad.length > 0) return allUnverified(bad.map(named));
  const verified = parts.length > 0 && parts.every((part) => gaveText(part) && part.result.verification.state === 'verified');
  if (verified) return { state: 'verified' };
  const why = parts.flatMap((part) => {
    const { verification } = part.result;
    const reasons = verification.state === 'unchecked' ? (verification.reasons ?? []) : [];
    return reasons.map((reason) => `${part.name}: ${reason}`);
  });
  return unchecked([...new Set(why)]);
}

/** The status follows from the verification, here and nowhere else. Only what has completed can be checked at all. */
export function withVerification(result: RunResult, verification: Verification): RunResult {
  if (!succeeded(result)) return { ...result, verification: UNCHECKED };
  return { ...result, status: verification.state === 'unverified' ? 'completed_unverified' : 'completed', verification };
}

/** Whatever holds of it, this does not: nothing that is proved later makes it good. */
export function withReasons(result: RunResult, reasons: readonly string[]): RunResult {
  if (reasons.length === 0) return result;
  const before = result.verification.state === 'unverified' ? result.verification.reasons : [];
  return withVerification(result, unverified([...reasons, ...before]));
}

/** Claims made in another folder are about other files: nothing here can back them, and they back nothing here. */
export function madeElsewhere(result: RunResult): RunResult {
  const { verification } = result;
  const closed = verification.state === 'unverified' ? unverified(verification.reasons) : verification;
  return { ...result, verification: closed, claims: undefined };
}

export const sameClaim = (one: Claim, other: Claim): boolean =>
  one.kind === 'file'
    ? other.kind === 'file' && one.path === other.path
    : other.kind === 'command' && one.command === other.command;

const gaveText = ({ result }: NamedResult): boolean => succeeded(result);

function heals(own: Own, { result }: NamedResult): boolean {
  if (own.verification.state !== 'verified' || result.verification.state !== 'unverified') return false;
  const { open } = result.verification;
  return open !== undefined && open.length > 0 && open.every((claim) => own.claims?.some((one) => sameClaim(one, claim)));
}

interface Named {
  readonly name?: string;
  readonly verification: Verification;
}

const named = ({ name, result }: NamedResult): Named => ({ name, verification: result.verification });

function allUnverified(parts: readonly Named[]): Verification {
  const reasons: string[] = [];
  const open: Claim[] = [];
  let mendable = true;
  for (const { name, verification } of parts) {
    if (verification.state !== 'unverified') continue;
    reasons.push(...verification.reasons.map((reason) => (name === undefined ? reason : `${name}: ${reason}`)));
    for (const claim of verification.open ?? []) if (!open.some((one) => sameClaim(one, claim))) open.push(claim);
    if (verification.open === undefined) mendable = false;
  }
  return unverified([...new Set(reasons)], mendable ? open : undefined);
}
