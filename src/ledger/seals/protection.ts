/** What stands between an event and its store: secrets go out of it, and its exact bytes are sealed beside. */
import { type Random, systemRandom } from '../../base/random.ts';
import { createRedactor, type Redactor, type Secret } from '../../base/secrets/redact.ts';
import { type KeyRing, passingKeys } from './keys.ts';
import { createSealer, type Sealer } from './seal.ts';

export interface Protection {
  readonly redactor: Redactor;
  readonly sealer: Sealer;
}

/** Without keys, what is sealed opens only as long as this protection lives. */
export function createProtection(secrets: readonly Secret[], keys?: KeyRing, random: Random = systemRandom): Protection {
  return { redactor: createRedactor(secrets), sealer: createSealer(keys ?? passingKeys(random), random) };
}
