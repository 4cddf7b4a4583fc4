/** A bundle that lies in a file, checked and brought into the ledger of a project; whoever asks. */

import type { KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { createIds } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { systemRandom } from '../../base/random.ts';
import { type ImportReport, importBundle } from '../../bundles/import.ts';
import { unpacked } from '../../bundles/read.ts';
import type { LedgerAddress } from '../../ledger/address.ts';
import { openCopyStore } from '../../ledger/open.ts';
import type { FoundBundle } from './bundle-file.ts';

interface Into {
  readonly address: LedgerAddress;
  readonly env: Environment;
  readonly clock: Clock;
}

export async function takeBundle(
  { address, env, clock }: Into,
  file: FoundBundle,
  { check, key }: { readonly check: boolean; readonly key: KeyObject | undefined },
): Promise<ImportReport> {
  const target = await openCopyStore(address, { clock, ids: createIds(clock, systemRandom), env, readOnly: false });
  try {
    const chunks = () => unpacked(createReadStream(file.path), file.packed);
    return await importBundle(chunks, target, { file: file.name, clock, check, ...present({ key }) });
  } finally {
    await target.close();
  }
}

/** What programs get of it. */
export const bundleImported = ({ sessions, agents, ...report }: ImportReport) => ({
  ...{ imported: [], refused: [], found: [] },
  bundle: { ...report, sessions: sessions.map((one) => ({ ...one })), agents: [...agents] },
});
