/** What comes out of a store must be what its name says, and no blob may be larger than a payload. */
import { codeOf, TroupeError } from '../../base/errors.ts';
import type { PayloadRef } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { payloadRef } from '../rules/chain.ts';
import type { VerifySource } from '../verify.ts';

const DAMAGED = 'ledger_corrupt';

/** `where` is for people. */
export function checkedBlob(ref: PayloadRef, found: Uint8Array | undefined, where: string): Uint8Array | undefined {
  if (found === undefined || payloadRef(found) === ref) return found;
  throw new TroupeError(DAMAGED, `The payload ${ref} in ${where} is not what was written: its bytes do not match its name`, {
    fix: 'Run `troupe ledger verify`, and restore the payload from a backup.',
  });
}

export function tooLarge(bytes: number): TroupeError {
  return new TroupeError('payload_too_large', `A payload has ${bytes} bytes, more than the ${limits.payloadBytes} it may have`, {
    fix: 'Store less in one event: keep what is large in a file. The limit (`payloadBytes`) is fixed.',
  });
}

/** For verify, which names the event concerned: damaged bytes are an answer to it, not a failure. */
export function reportingDamage(source: VerifySource): VerifySource {
  const unless = async <Value>(work: Promise<Value>, damaged: Value): Promise<Value> => {
    try {
      return await work;
    } catch (error) {
      if (codeOf(error) === DAMAGED) return damaged;
      throw error;
    }
  };
  return {
    ...source,
    // No payload is empty, so these bytes match no name.
    payload: (ref) => unless(source.payload(ref), new Uint8Array()),
    isIntact: (ref) => unless(source.isIntact(ref), false),
  };
}
