/**
 * The ledger in a Postgres database, for many machines: puts the parts together behind the port. docs/ledger.md says what
 * is promised and what differs from the file.
 */

import { hostname } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import type { Ids, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { systemRandom } from '../../base/random.ts';
import type { Secret } from '../../base/secrets/redact.ts';
import { bucketSecrets } from '../blobs/bucket-requests.ts';
import { reportingDamage } from '../blobs/check.ts';
import type { BlobStore } from '../blobs/store.ts';
import type { Append, AppendOutcome, LeaseOwner, Ledger, VerifyReport } from '../port.ts';
import { prepareAppend } from '../rules/prepared-event.ts';
import { type Rebuild, setRight } from '../rules/rebuild.ts';
import { createWrittenEvents } from '../rules/written-events.ts';
import { createProtection, type Protection } from '../seals/protection.ts';
import { verifyLedger } from '../verify.ts';
import { readOnlyError } from '../write-queue.ts';
import { parsePostgresAddress } from './address.ts';
import { applyAppend, needsOf, refuseNul } from './append.ts';
import { fedAgain, repairPostgres } from './check.ts';
import { createPostgresCommit } from './commit.ts';
import { createPostgresNotices } from './commit-notices.ts';
import { type Database, openDatabase } from './connection.ts';
import { collectPostgres, underLock } from './gc.ts';
import { createPostgresKeeping } from './keeping.ts';
import { createPostgresLeases } from './leases.ts';
import { openBlobs } from './open-blobs.ts';
import { thisMachine, type Writer } from './owner.ts';
import { createPostgresReader, readPostgresFeed, settlePostgresFeed } from './read.ts';
import { readPostgresRuns } from './runs.ts';
import { type Migration, openSchema } from './schema.ts';

export interface PostgresLedgerOptions {
  /** `postgres://user@host:5432/database`; see postgres-address.ts for what may follow. */
  readonly url: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  /** What must never be stored; key-shaped texts are always taken out. */
  readonly secrets?: readonly Secret[];
  /** What redacts and seals; by default one that knows `secrets` and whose key is gone when the ledger is closed. */
  readonly protection?: Protection;
  readonly readOnly?: boolean;
  /** Checks every payload against its schema before it is appended. For tests: types do it at compile time. */
  readonly validate?: boolean;
  /** Who holds the leases; this process by default. */
  readonly owner?: Partial<LeaseOwner>;
  /** How long a lease outlives its last heartbeat. */
  readonly leaseMs?: number;
  /** Where large payloads go; the folder or bucket of the address by default. */
  readonly blobs?: BlobStore;
  /** Has the keys of the bucket, when the address names one. */
  readonly env?: Environment;
  /** For tests: the tables of another version. */
  readonly migrations?: readonly Migration[];
}

/** Connects at once: what is wrong with the address, the login or the tables is said here. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const address = parsePostgresAddress(options.url);
  const readOnly = options.readOnly === true;
  const { clock, env = {}, leaseMs = limits.leaseMs } = options;
  const owner: LeaseOwner = { id: options.ids.nonce(), pid: process.pid, host: hostname(), ...options.owner };
  const blobs = options.blobs ?? (await openBlobs(address, { clock, env, random: systemRandom, unique: owner.id }));
  // Whoever takes over the lease of a process that was paused in the middle of a transaction must not wait longer than for it.
  const idleMs = Math.min(limits.databaseIdleMs, leaseMs);
  const database = await openDatabase(address, { clock, readOnly, idleMs });
  try {
    await openSchema(database, address.schema, readOnly, options.migrations);
    if (!readOnly && options.migrations === undefined) await settlePostgresFeed(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const protection = options.protection ?? createProtection(options.secrets ?? []);
  if (address.bucket !== undefined) protection.redactor.learn(bucketSecrets(env));
  return assemble({ ...options, protection }, database, address.schema, owner, blobs);
}

function assemble(
  options: PostgresLedgerOptions & { readonly protection: Protection },
  database: Database,
  schema: string,
  owner: LeaseOwner,
  blobs: BlobStore | undefined,
): Ledger {
  const { clock, protection } = options;
  const writable = options.readOnly !== true;
  const writer: Writer = { ...owner, machine: thisMachine, leaseMs: options.leaseMs ?? limits.leaseMs };
  const written = createWrittenEvents();
  const reader = createPostgresReader(database, blobs, protection);
  const notices = createPostgresNotices({ database, schema, clock, read: reader.read, name: `troupe listener ${owner.id}` });
  let hasWritten = false;
  const writes = createPostgresCommit({
    ...{ database, schema, writer, writable, clock, blobs },
    onCommitted: (state) => {
      hasWritten = true;
      written.keep();
      notices.committed(state);
    },
    onRollback: written.drop,
  });
  const leases = createPostgresLeases({ database, writes, clock, writer });

  const append = async (request: Append): Promise<AppendOutcome> => {
    const events = prepareAppend(request, protection, options.validate === true);
    refuseNul(request);
    const needs = needsOf(request, events);
    const given = request.release === true ? request.fence : null;
    return await writes.submit<AppendOutcome>({
      weight: Math.max(1, events.length),
      needs,
      apply: (state) => {
        const outcome = applyAppend(state, written, request, events);
        if (outcome.kind === 'appended' && given !== null) leases.free(state, given);
        return outcome;
      },
      after: ({ kind }) => {
        if (kind === 'appended' && given !== null) leases.freed(given);
      },
    });
  };
  const close = async (): Promise<void> => {
    await writes.idle();
    // A lease that cannot be given back is taken over once its heartbeat is too old.
    if (hasWritten) await leases.close().catch(() => undefined);
    writes.stop();
    await writes.idle();
    await notices.close();
    await writes.close();
    await database.close();
  };
  const verify = (session?: SessionId): Promise<VerifyReport> => verifyLedger(reportingDamage(reader.source), session);
  let closed: Promise<void> | undefined;

  return {
    append,
    ...{ read: reader.read, lastInbound: reader.lastInbound },
    feed: (query) => readPostgresFeed(database, query),
    ...{ tail: notices.tail, onNews: notices.onNews, onInbound: notices.onInbound },
    payload: reader.payload,
    held: reader.held,
    runs: (filter) => readPostgresRuns(database, filter),
    counter: reader.counter,
    acquire: leases.acquire,
    release: leases.release,
    stats: reader.stats,
    verify,
    rebuild: async () => {
      if (!writable) throw readOnlyError(database.shown);
      const apply: Rebuild['apply'] = (turn, repairs) => repairPostgres(database, schema, turn, repairs);
      return await setRight({ verify, counter: reader.counter, fedAgain, apply });
    },
    ...createPostgresKeeping({ database, schema, blobs, writable }),
    gc: async (policy) => {
      if (!writable && !policy.dryRun) throw readOnlyError(database.shown);
      const held = underLock(database, blobs);
      return await collectPostgres(held.database, schema, held.blobs, policy);
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
