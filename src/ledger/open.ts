/** Opens the ledger that an address names. The Postgres store and its driver are loaded only when one is opened. */

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { Ids } from '../base/ids.ts';
import type { LedgerAddress } from './address.ts';
import type { CopyStore } from './copy/store.ts';
import { madeWithFirstWrite } from './made-with-first-write.ts';
import type { LeaseOwner, Ledger } from './port.ts';
import type { Protection } from './seals/protection.ts';
import { openSqliteLedger } from './sqlite/store.ts';

export interface OpenLedgerOptions {
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  /** What redacts and seals. */
  readonly protection?: Protection;
  /** Of a file; a Postgres server flushes every commit. */
  readonly durability?: 'effects' | 'full';
  readonly readOnly?: boolean;
  /** A file that is not there is not made. */
  readonly existing?: boolean;
  readonly owner?: Partial<LeaseOwner>;
  /** Has the keys of the bucket for large payloads, when the address names one. */
  readonly env?: Environment;
}

export async function openLedger(address: LedgerAddress, options: OpenLedgerOptions): Promise<Ledger> {
  const { durability: _, existing = false, ...rest } = options;
  if (address.kind === 'sqlite') {
    const path = address.location();
    // Whoever only reads is told that there is none.
    const isThere = existsSync(path);
    const readOnly = options.readOnly === true || (existing && !isThere);
    // Drawn now, also for a file that is made later: by chance nothing differs between the two.
    const nonce = options.ids.nonce();
    const open = (): Ledger => openSqliteLedger({ ...options, ids: { nonce: () => nonce }, path, readOnly });
    return isThere || readOnly ? open() : madeWithFirstWrite(path, open);
  }
  const { openPostgresLedger } = await import('./postgres/store.ts');
  return await openPostgresLedger({ ...rest, url: address.location() });
}

/** A ledger as a place to copy from (`readOnly`) or to. */
export async function openCopyStore(
  address: LedgerAddress,
  options: Pick<OpenLedgerOptions, 'clock' | 'ids' | 'env'> & { readonly readOnly: boolean },
): Promise<CopyStore> {
  const { clock, ids, env = {}, readOnly } = options;
  if (address.kind === 'postgres') {
    const { openPostgresCopy } = await import('./copy/postgres.ts');
    return await openPostgresCopy({ url: address.location(), clock, unique: ids.nonce(), env, readOnly });
  }
  const { openSqliteCopy } = await import('./copy/sqlite.ts');
  const self = { id: ids.nonce(), pid: process.pid, host: hostname() };
  return openSqliteCopy({ path: address.location(), clock, self, readOnly });
}
