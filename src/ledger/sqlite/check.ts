/** Everything that a ledger in a file keeps beside its events: looked at as it is at one moment, and set right. */
import type { DatabaseSync } from 'node:sqlite';
import type { SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { type ForgottenEvents, forgottenIn, SELECT_GONE_EVENTS } from '../forgetting/rows.ts';
import type { ReadQuery, VerifyReport } from '../port.ts';
import { bytes, hex, integer, type Row, text } from '../rows.ts';
import { feedRepairs, forSqlite, type Rebuild, type Repair, setRight } from '../rules/rebuild.ts';
import type { StoredEvent } from '../rules/stored-event.ts';
import { indexedRuns, type SealedSession, type Snapshot, type VerifySource, verifyLedger } from '../verify.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Memo } from './memo.ts';
import { hasFeed } from './schema.ts';

const SELECT_SESSIONS = `
SELECT name, sealed, seal, inbound, collected,
       coalesce((SELECT max(position) FROM event WHERE event.session = session.id), 0) AS last FROM session`;
const SELECT_RUNS = `
SELECT run.name, session.name AS session, root.name AS root, parent.name AS parent, run.first, run.agent, run.role, run.state,
       run.started_at, run.ended_at
FROM run JOIN session ON session.id = run.session LEFT JOIN run AS root ON root.id = run.root
LEFT JOIN run AS parent ON parent.id = run.parent`;

/** Nothing else of this process comes in between, and in the transaction nothing of another one. */
export function readSnapshot(database: DatabaseSync, only: SessionId | undefined): Snapshot {
  const [ofSession, ofRun] = only === undefined ? ['', ''] : [' WHERE name = ?', ' WHERE session.name = ?'];
  const given = only === undefined ? [] : [only];
  database.exec('BEGIN');
  try {
    const forgotten = forgottenIn(database.prepare(SELECT_GONE_EVENTS).all());
    const feeds = hasFeed(database) ? feedsOf(database.prepare(SELECT_FEEDS).all()) : undefined;
    return {
      sessions: database
        .prepare(`${SELECT_SESSIONS}${ofSession} ORDER BY id`)
        .all(...given)
        .map((row) => sealedSession(row, feeds, forgotten)),
      runs: indexedRuns(database.prepare(`${SELECT_RUNS}${ofRun} ORDER BY run.id`).all(...given)),
      counters: new Map(
        database
          .prepare('SELECT name, value FROM counter')
          .all()
          .map((row) => [text(row, 'name'), integer(row, 'value')]),
      ),
    };
  } finally {
    database.exec('COMMIT');
  }
}

/** In the order of all events those of one session come in their own. */
const SELECT_FEEDS = `
SELECT session.name AS session, count(*) AS entries, sum(numbered.position <> numbered.place) AS astray
FROM (SELECT session, position, row_number() OVER (PARTITION BY session ORDER BY id) AS place FROM feed) AS numbered
JOIN session ON session.id = numbered.session GROUP BY numbered.session`;

type Feeds = ReadonlyMap<string, NonNullable<SealedSession['feed']>>;

const feedsOf = (rows: readonly Row[]): Feeds =>
  new Map(rows.map((row) => [text(row, 'session'), { entries: integer(row, 'entries'), astray: integer(row, 'astray') }]));

function sealedSession(row: Row, feeds: Feeds | undefined, forgotten: ForgottenEvents): SealedSession {
  const feed = feeds === undefined ? undefined : (feeds.get(text(row, 'name')) ?? { entries: 0, astray: 0 });
  return {
    ...present({ feed }),
    session: text(row, 'name') as SessionId,
    last: integer(row, 'last'),
    sealed: integer(row, 'sealed'),
    seal: hex(bytes(row, 'seal')),
    inbound: integer(row, 'inbound'),
    collected: integer(row, 'collected'),
    forgotten: forgotten(text(row, 'name')),
  };
}

/** Of the whole ledger, the file itself is looked at first: what its indexes hide would seem to be missing. */
export async function verifySqlite(
  database: DatabaseSync,
  source: Omit<VerifySource, 'stored'> & { stored(query: ReadQuery): readonly StoredEvent[] },
  session: SessionId | undefined,
): Promise<VerifyReport> {
  const why = session === undefined ? damageOf(database) : undefined;
  if (why !== undefined) return { kind: 'damaged', why };
  return await verifyLedger({ ...source, stored: async (query) => source.stored(query) }, session);
}

/** What SQLite finds wrong with the ledger's tables and their indexes. The search index beside them is a cache of its own. */
function damageOf(database: DatabaseSync): string | undefined {
  for (const table of tablesOf(database)) {
    const found = database.prepare(`PRAGMA integrity_check("${table}")`).get();
    const said = found === undefined ? 'nothing can be read' : text(found, 'integrity_check');
    if (said !== 'ok') return said;
  }
  return undefined;
}

function tablesOf(database: DatabaseSync): readonly string[] {
  const rows = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all();
  return rows.map((row) => text(row, 'name')).filter((name) => !/^(?:agent|sqlite)_/.test(name));
}

interface RebuildNeeds {
  readonly database: DatabaseSync;
  readonly writes: GroupCommit;
  readonly memo: Memo;
  verify(): Promise<VerifyReport>;
  counter(name: string): Promise<number>;
}

/** Indexes are made anew from their tables, and rows from their events. Gives what was found before. */
export async function rebuildSqlite(needs: RebuildNeeds): Promise<VerifyReport> {
  const { database, writes, verify, counter } = needs;
  const store: Rebuild = {
    verify,
    counter,
    fedAgain: (session) => feedRepairs(session),
    apply: (turn, repairs) => repair(needs, turn, repairs),
  };
  const found = await setRight(store);
  if (found.kind !== 'damaged') return found;
  await writes.submit({
    weight: 1,
    power: true,
    apply: () =>
      database.exec(
        tablesOf(database)
          .map((table) => `REINDEX "${table}"`)
          .join('; '),
      ),
  });
  const left = await setRight(store);
  return left.kind === 'sound' || left.kind === 'drifted' ? found : left;
}

async function repair(
  { database, writes, memo }: RebuildNeeds,
  [ensure, take]: readonly [Repair, Repair],
  repairs: readonly Repair[],
): Promise<boolean> {
  const run = (one: Repair) => database.prepare(forSqlite(one)).run(...one.values);
  return await writes.submit({
    weight: 1,
    power: true,
    apply: () => {
      memo.flush();
      run(ensure);
      const isOurs = database.prepare(forSqlite(take)).get(...take.values) !== undefined;
      if (isOurs) for (const one of repairs) run(one);
      // What is remembered of these rows is what was wrong.
      memo.forget();
      return isOurs;
    },
  });
}
