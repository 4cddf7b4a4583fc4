/** What a result was found to be worth, in words: for the models that build on it and for the people who read it. */
import { unreachable } from '../base/errors.ts';
import type { Verification } from './catalogue.ts';

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
      return 'unchecked: nothing was claimed and nothing demanded.';
    default:
      return unreachable(verification);
  }
}

/** How a run stands or ended. That it completed is never said without what that is worth. */
export function endedText(state: string, verification: Verification | null): string {
  const completed = state === 'completed' || state === 'completed_unverified';
  return completed && verification !== null ? `completed, ${verification.state}` : state.replaceAll('_', ' ');
}
