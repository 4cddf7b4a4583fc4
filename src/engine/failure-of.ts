/** Whatever was thrown, as a failure that can be recorded and shown: with its stable code, and what to do about it. */

import { messageOf, TroupeError } from '../base/errors.ts';
import { present } from '../base/present.ts';
import type { Failure } from '../events/catalogue.ts';
import { Interruption } from './interruption.ts';

/** The ledger cannot be read any more, whoever tries again. */
const LASTING: ReadonlySet<string> = new Set(['ledger_collected', 'ledger_corrupt']);

/** Whether it may be over the next time: the ledger could not be reached, or a key is missing that can be brought back. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof TroupeError) || LASTING.has(error.code)) return false;
  return error.code.startsWith('ledger_') || error.code === 'sealed';
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Interruption) return error.failure ?? { code: 'interrupted', message: error.message };
  if (error instanceof TroupeError) {
    const { code, message, fix } = error;
    return { code, message, ...present({ fix }) };
  }
  return { code: 'bug', message: `Something went wrong inside Troupe: ${messageOf(error)}` };
}
