/** The rate limits of the project's accounts: this process's own, or those of everybody on the same Postgres ledger. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import type { LedgerAddress } from '../ledger/address.ts';
import { createQuota, type Quota } from '../quota/quota.ts';

export interface ProjectQuota extends Quota {
  close(): Promise<void>;
}

export interface ProjectQuotaOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Tells processes apart. */
  readonly worker: string;
}

/** Nothing is opened before the first model is called. */
export function createProjectQuota(address: LedgerAddress, options: ProjectQuotaOptions): ProjectQuota {
  if (address.kind === 'sqlite') return { ...createQuota(options), close: async () => undefined };
  let opening: Promise<ProjectQuota> | undefined;
  let opened: ProjectQuota | undefined;
  return {
    accounts: () => opened?.accounts() ?? [],
    async acquire(account, signal) {
      opening ??= openShared(address.location(), options);
      opened = await opening;
      return await opened.acquire(account, signal);
    },
    close: async () => await (await opening)?.close(),
  };
}

async function openShared(url: string, options: ProjectQuotaOptions): Promise<ProjectQuota> {
  const { createPostgresQuota } = await import('../quota/postgres.ts');
  const { createSharedQuota } = await import('../quota/shared-quota.ts');
  return createSharedQuota({ ...options, store: createPostgresQuota({ ...options, url }) });
}
