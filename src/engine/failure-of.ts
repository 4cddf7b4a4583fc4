/** Whatever was thrown, as a failure that can be recorded and shown: with its stable code, and what to do about it. */
import { messageOf, TroupeError } from '../base/errors.ts';
import type { Failure } from '../events/catalogue.ts';
import { Interruption } from './interruption.ts';

export function failureOf(error: unknown): Failure {
  if (error instanceof Interruption) return error.failure ?? { code: 'interrupted', message: error.message };
  if (error instanceof TroupeError) {
    const { code, message, fix } = error;
    return fix === undefined ? { code, message } : { code, message, fix };
  }
  return { code: 'bug', message: `Something went wrong inside Troupe: ${messageOf(error)}` };
}
