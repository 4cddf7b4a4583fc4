/** What programs get of how a server and what it stands on are. */
import { z } from 'zod';
import { diagnosis } from './files.ts';
import { clusterStatus, ledgerStats } from './keeping.ts';

const count = z.number().int().nonnegative();

export const health = z.object({
  ok: z.boolean().describe('nothing of what was looked at is broken'),
  version: z.string(),
  node: z.string(),
  startedAt: z.iso.datetime(),
  process: z.object({ pid: count, memoryBytes: count }),
  engine: z.object({
    kind: z.enum(['here', 'cluster']).describe('who works on runs: this process, or workers'),
    runs: z.record(z.string(), count).describe('how many root runs stand how'),
  }),
  workers: clusterStatus.shape.workers.nullable().describe('null without a cluster, or when its admin port does not answer'),
  ledger: ledgerStats.extend({ kind: z.enum(['sqlite', 'postgres']) }),
  quota: z
    .array(
      z.object({
        account: z.string(),
        underWay: count,
        queued: count,
        allowed: count.describe('how many calls may be under way at once'),
        pausedForMs: z.number().nonnegative().describe('how long none begins, because the provider has refused one'),
      }),
    )
    .describe('the accounts that models were asked through since the server began'),
  disk: z.object({ path: z.string(), freeBytes: count, totalBytes: count }),
  findings: diagnosis.shape.findings,
});
