/**
 * The ledger in one SQLite file (or in memory, for tests): puts the parts of this folder together behind the port.
 * Several processes may open the same file at once. docs/ledger.md says what is promised and what the file looks like.
 */
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Ids, SessionId } from '../../base/ids.ts';
import type { Secret } from '../../base/secrets/redact.ts';
import type { Disk } from '../blobs/disk.ts';
import { createPayloadFiles } from '../blobs/payload-files.ts';
import { createPayloadMemory } from '../blobs/payload-memory.ts';
import type { Append, AppendOutcome, LeaseOwner, Ledger, VerifyReport } from '../port.ts';
import { isInbound, prepareAppend } from '../rules/prepared-event.ts';
import { createProtection, type Protection } from '../seals/protection.ts';
import { createAppender } from './append.ts';
import { rebuildSqlite, verifySqlite } from './check.ts';
import { createCommitNotices } from './commit-notices.ts';
import { createFeed } from './feed.ts';
import { collectGarbage } from './gc.ts';
import { createGroupCommit } from './group-commit.ts';
import { createSqliteKeeping } from './keeping.ts';
import { createLeases, liveness } from './leases.ts';
import { createMemo } from './memo.ts';
import { createPayloadStore } from './payloads.ts';
import { createPresence } from './presence.ts';
import { createReader } from './read.ts';
import { createRecentEvents } from './recent.ts';
import { createRunIndex, createRunReader } from './runs.ts';
import { openFile } from './schema.ts';

export interface SqliteLedgerOptions {
  /** A file, made when it is not there, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  /** What must never be stored; key-shaped texts are always taken out. */
  readonly secrets?: readonly Secret[];
  /** What redacts and seals; by default one that knows `secrets` and whose key is gone when the ledger is closed. */
  readonly protection?: Protection;
  /** `effects` (default): only appends that ask for it are flushed against loss of power. `full`: all are. */
  readonly durability?: 'effects' | 'full';
  readonly readOnly?: boolean;
  /** Checks every payload against its schema before it is appended. For tests: types do it at compile time. */
  readonly validate?: boolean;
  /** Who holds the leases; this process by default. */
  readonly owner?: Partial<LeaseOwner>;
  /** For tests: where payload files go. */
  readonly disk?: Disk;
  /** For tests: the size of a disk that is soon full. */
  readonly maxPages?: number;
}

export function openSqliteLedger(options: SqliteLedgerOptions): Ledger {
  const { clock } = options;
  const inMemory = options.path === ':memory:';
  const path = inMemory ? options.path : resolve(options.path);
  const owner: LeaseOwner = { id: options.ids.nonce(), pid: process.pid, host: hostname(), ...options.owner };
  const { database, writable } = openFile(path, options.readOnly === true);
  if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${options.maxPages}`);

  const protection = options.protection ?? createProtection(options.secrets ?? []);
  const files = inMemory ? createPayloadMemory() : createPayloadFiles(`${path}-payloads`, owner.id, options.disk);
  const memo = createMemo(database);
  const payloads = createPayloadStore(database, files);
  const appender = createAppender(database, memo, createRunIndex(database, memo), payloads);
  const writes = createGroupCommit({
    ...{ database, path, writable, clock },
    durability: options.durability ?? 'effects',
    checkFile: inMemory ? () => undefined : createPresence(database, path),
    onBegin: memo.begin,
    onCommit: memo.flush,
    onCommitted: appender.committed,
    onRollback: () => {
      memo.forget();
      appender.rolledBack();
    },
  });
  const leases = createLeases({ database, writes, memo, clock, owner });
  const recent = createRecentEvents(database, memo.version);
  const reader = createReader(database, path, files, protection);
  const read: Ledger['read'] = async (query) => recent.read(query) ?? (await reader.read(query));
  const notices = createCommitNotices(database, path, { read, lastInbound: reader.lastInbound }, clock);
  const readRuns = createRunReader(database, liveness(clock, owner));

  const keeping = createSqliteKeeping({ database, writes, files, inMemory, without: recent.without });

  const append = async (request: Append): Promise<AppendOutcome> => {
    const events = prepareAppend(request, protection, options.validate === true);
    return await writes.submit<AppendOutcome>({
      weight: Math.max(1, events.length),
      power: request.sync === 'power',
      before: payloads.filesBefore(events),
      apply: () => leases.freeWith(request, appender.apply(request, events)),
      after: (outcome) => {
        if (outcome.kind !== 'appended') return;
        leases.freed(request);
        recent.note(request.session, outcome.events, events);
        // Whoever gives the run back with it hears nothing more for it, and what it wrote itself was no news to it.
        if (events.length > 0) notices.committed(request.session, request.release !== true && request.events.some(isInbound));
      },
    });
  };

  const verify = (session?: SessionId): Promise<VerifyReport> => verifySqlite(database, reader, session);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await writes.idle();
    // A lease that cannot be given back (a full disk, say) is taken over once this process is gone.
    if (writable) await leases.close().catch(() => undefined);
    writes.stop();
    await writes.idle();
    notices.close();
    database.close();
  };

  return {
    append,
    ...{ read, feed: createFeed(database), tail: notices.tail },
    onNews: notices.onNews,
    onInbound: notices.onInbound,
    lastInbound: async (session) => reader.lastInbound(session),
    payload: reader.payload,
    held: reader.held,
    runs: async (filter) => readRuns(filter),
    counter: async (name) => reader.counter(name),
    acquire: leases.acquire,
    release: leases.release,
    stats: async () => reader.stats(),
    verify,
    rebuild: () => rebuildSqlite({ database, writes, memo, verify, counter: async (name) => reader.counter(name) }),
    ...keeping,
    gc: (policy) => recent.without(() => collectGarbage({ database, writes, memo, files }, policy)),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
