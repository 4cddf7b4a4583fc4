/** What a result was found to be worth, in words: for the models that build on it and for the people who read it. */
import { unreachable } from '../base/errors.ts';
import type { RunState, Verification } from './catalogue.ts';
import { succeeded } from './succeeded.ts';

/** Written by the runtime, outside of the fence around the text it speaks of. */
export const verificationLine = (verification: Verification): string =>
  `Verification by the runtime: ${verificationText(verification)}`;

export function verificationText(verification: Verification): string {
  switch (verification.state) {
    case 'verified':
      return 'verified.';
    case 'unverified':
      return `unverified: ${verification.reasons.join('; ').replace(/\.+$/, '')}. Check it before you build on it.`;
    case 'unchecked':
      return verification.reasons === undefined
        ? 'unchecked: nothing was claimed and nothing demanded.'
        : `unchecked: ${verification.reasons.join('; ').replace(/\.+$/, '')}.`;
    default:
      return unreachable(verification);
  }
}

/** How a run stands or ended. That it completed is never said without what that is worth. */
export function endedText(status: RunState | 'interrupted', verification: Verification | null): string {
  return succeeded({ status }) && verification !== null ? `completed, ${verification.state}` : status.replaceAll('_', ' ');
}
