/**
 * What is kept beside the events (the index of runs, the marks of sessions, the counters) is changed by hand, value by value, in
 * the ledger of a real tree with a budget, a child and a question. Each change is found by its name, and rebuild undoes it.
 */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { childRunId, type RunId, type SessionId } from '../../src/base/ids.ts';
import { userText } from '../../src/events/messages.ts';
import type { DriftedRow, Ledger } from '../../src/ledger/port.ts';
import { openPostgresLedger } from '../../src/ledger/postgres/store.ts';
import { type PostgresServer, startPostgres } from '../support/ledger/postgres-server.ts';
import { openTestLedger, testFolder, testIds } from '../support/ledger/sqlite-folder.ts';
import { agent, calls, createWorld, reports, turnOf } from '../support/world.ts';

const RUN = 'run_00000000000000drift' as RunId;
const SESSION = 'ses_00000000000000drift' as SessionId;
const CHILD = childRunId(RUN, 'turn/1/tool/0');

/** A root with a sub-agent and a budget, which asks before it acts and is answered. */
async function fill(ledger: Ledger): Promise<void> {
  const agents = [
    agent({ name: 'root', tools: ['act'], agents: ['helper'], permissions: { act: 'ask' }, budget: { usd: 10, calls: 20 } }),
    agent({ name: 'helper', tools: ['look'] }),
  ];
  const world = createWorld({
    ledger,
    agents,
    engineOptions: { projectBudget: { tokens: 9_000_000 } },
    brain: (request) => {
      if (request.agent === 'helper') return turnOf(request) === 1 ? calls({ name: 'look' }) : reports('Looked.');
      if (turnOf(request) === 1) return calls({ name: 'helper', input: { prompt: 'Look.', reason: 'I cannot' } });
      return turnOf(request) === 2 ? calls({ name: 'act' }) : reports('Done.');
    },
  });
  const started = await world.engine.start({ agent: 'root', input: userText('Go.'), workspace: '.', run: RUN, session: SESSION });
  if (started.kind !== 'started') throw new Error(started.error.message);
  expect(await started.handle.done).toMatchObject({ kind: 'waiting' });
  for (const { run, wait } of await world.engine.waits(RUN)) await world.engine.answer(run, wait, { kind: 'approved' });
  const resumed = await world.engine.resume(RUN);
  if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
  expect(await resumed.handle.done).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
  await world.close();
}

interface Store {
  open(): Promise<Ledger>;
  run(sql: string): Promise<void>;
}

const tampered: readonly (readonly [what: string, sql: string, found: Partial<DriftedRow>])[] = [
  [
    'the state of a run',
    `UPDATE run SET state = 'running' WHERE name = '${CHILD}'`,
    { name: CHILD, column: 'state', expected: 'completed' },
  ],
  ['the end of a run', `UPDATE run SET ended_at = NULL WHERE name = '${RUN}'`, { name: RUN, column: 'endedAt', found: null }],
  ['the start of a run', `UPDATE run SET started_at = 1 WHERE name = '${RUN}'`, { name: RUN, column: 'startedAt', found: 1 }],
  [
    'the parent of a run',
    `UPDATE run SET parent = NULL WHERE name = '${CHILD}'`,
    { name: CHILD, column: 'parent', expected: RUN },
  ],
  ['the root of a run', `UPDATE run SET root = id WHERE name = '${CHILD}'`, { name: CHILD, column: 'root', expected: RUN }],
  [
    'the agent of a run',
    `UPDATE run SET agent = 'other' WHERE name = '${CHILD}'`,
    { name: CHILD, column: 'agent', expected: 'helper' },
  ],
  ['where a run begins', `UPDATE run SET first = first + 2 WHERE name = '${CHILD}'`, { name: CHILD, column: 'first' }],
  [
    'which runs there are',
    `INSERT INTO run (id, name, session, root, first) SELECT 999, 'run_of_nobody', session, 999, 1 FROM run WHERE name = '${RUN}'`,
    { table: 'run', name: 'run_of_nobody', column: 'name', expected: null },
  ],
  [
    'which session a run is of',
    `UPDATE run SET session = 999 WHERE name = '${CHILD}'`,
    { table: 'run', name: CHILD, column: 'session', found: null, expected: SESSION },
  ],
  ['what came last from outside', 'UPDATE session SET inbound = 0', { name: SESSION, column: 'inbound', found: 0 }],
  [
    'which end is sealed',
    'UPDATE session SET sealed = 1, seal = (SELECT chain FROM event WHERE position = 1)',
    { column: 'sealed' },
  ],
  [
    "what a run's budget has spent",
    `UPDATE counter SET value = value - 1 WHERE name = 'budget/${RUN}/calls'`,
    { table: 'counter' },
  ],
  ["what the project's has", "DELETE FROM counter WHERE name = 'budget/project/tokens'", { table: 'counter', found: 0 }],
  ['a budget of nobody', "INSERT INTO counter (name, value) VALUES ('budget/run_x/calls', 7)", { table: 'counter', expected: 0 }],
  ['events that are missing in the order of all', 'DELETE FROM feed WHERE position = 2', { table: 'feed', column: 'entries' }],
  [
    'events in a wrong place of the order of all',
    'UPDATE feed SET position = 5 - position WHERE position IN (2, 3)',
    { table: 'feed', column: 'astray', found: 2 },
  ],
  ['a message that nobody read', "INSERT INTO counter (name, value) VALUES ('read/m1', 1)", { name: 'read/m1', expected: 0 }],
];

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const inFile = async (): Promise<Store> => {
  const path = `${testFolder()}/ledger.db`;
  return {
    open: async () => openTestLedger({ path }),
    run: async (sql) => {
      const database = new DatabaseSync(path);
      database.enableDefensive(false);
      database.exec(sql);
      database.close();
    },
  };
};
const inPostgres = async (): Promise<Store> => ({
  open: () => openPostgresLedger({ url: server.address('drift'), clock: systemClock, ids: testIds, validate: true }),
  run: async (sql) => {
    await server.query(`SET search_path = drift; ${sql}`);
  },
});

describe.each([
  ['in a file', inFile],
  ['in Postgres', inPostgres],
])('a ledger %s', (_name, create) => {
  let store: Store;
  beforeAll(async () => {
    store = await create();
    const ledger = await store.open();
    await fill(ledger);
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    expect(await ledger.rebuild()).toMatchObject({ kind: 'sound' });
    await ledger.close();
  });

  it.each(tampered)('has a change of %s found, and undone', async (_what, sql, found) => {
    const first = await store.open();
    const before = [
      await first.runs({}),
      await first.counter('budget/project/tokens'),
      await first.counter(`budget/${RUN}/calls`),
    ];
    await first.close();
    await store.run(sql);
    const ledger = await store.open();
    expect(await ledger.verify()).toMatchObject({ kind: 'drifted', rows: [found] });
    expect(await ledger.rebuild()).toMatchObject({ kind: 'drifted', rows: [found] });
    expect(await ledger.verify()).toMatchObject({ kind: 'sound' });
    expect([
      await ledger.runs({}),
      await ledger.counter('budget/project/tokens'),
      await ledger.counter(`budget/${RUN}/calls`),
    ]).toEqual(before);
    await ledger.close();
  });
});

it('an index of the file that does not fit its table is found, and made anew', async () => {
  const store = await inFile();
  const ledger = await store.open();
  await fill(ledger);
  await ledger.close();
  await store.run(`
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = 'CREATE INDEX run_of_session ON run (session) WHERE id > 1' WHERE name = 'run_of_session';`);
  await store.run(
    "REINDEX run_of_session; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX run_of_session ON run (session)' WHERE name = 'run_of_session'",
  );
  const damaged = await store.open();
  expect(await damaged.verify()).toMatchObject({ kind: 'damaged', why: expect.stringContaining('run_of_session') });
  expect(await damaged.rebuild()).toMatchObject({ kind: 'damaged' });
  expect(await damaged.verify()).toMatchObject({ kind: 'sound' });
  await damaged.close();
});
