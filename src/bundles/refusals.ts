/** Why a bundle is not taken: each with what is wrong, and nothing of it was stored. */
import { TroupeError } from '../base/errors.ts';

export const badBundle = (why: string): TroupeError =>
  new TroupeError('bundle_bad', `This is no bundle that can be trusted: ${why}`, {
    fix: 'Nothing was stored. Ask for it again where it came from: `troupe export RUN --bundle`.',
  });

export const largeBundle = (what: string, limit: string, bytes: number): TroupeError =>
  new TroupeError('bundle_too_large', `The bundle is too large: ${what}, and the limit is ${bytes} (${limit})`, {
    fix: 'Nothing was stored. Export fewer sessions into one file. The limit is fixed.',
  });

export const newerBundle = (what: string): TroupeError =>
  new TroupeError('bundle_newer', `The bundle was made by a newer Troupe: ${what}`, {
    fix: 'Nothing was stored. Update Troupe, or export it with this version.',
  });

export const badSignature = (why: string): TroupeError =>
  new TroupeError('bundle_signature', `The signature of the bundle was not accepted: ${why}`, {
    fix: 'Nothing was stored. Ask whoever sent it for their public key: `troupe import FILE --key PUBLIC.pem`.',
  });
