/** How runs are looked up. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openTestLedger, testFolder } from '../../../test/support/ledger/sqlite-folder.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { ReadQuery, RunFilter } from '../port.ts';
import { eventsSql } from './read.ts';
import { runsSql } from './runs.ts';

it('a ledger is not searched through for the runs that have not ended: only those are looked at', async () => {
  const path = join(testFolder(), 'ledger.db');
  await openTestLedger({ path }).close();
  const database = new DatabaseSync(path);
  const plan = database
    .prepare(`EXPLAIN QUERY PLAN ${runsSql({ states: ['running', 'waiting'], roots: true })}`)
    .all()
    .map(({ detail }) => String(detail));
  database.close();
  expect(plan.filter((line) => line.startsWith('SCAN run'))).toEqual(['SCAN run USING INDEX run_unfinished']);
});

const session = 'ses_1' as SessionId;
const run = 'run_1' as RunId;
const queries: readonly ReadQuery[] = [
  { session },
  { session, newest: true },
  { session, run },
  { session, root: run },
  { session, run, types: ['run.started'] },
  { session, run, types: ['run.started', 'run.ended'] },
  { session, run, types: ['run.started', 'run.ended'], newest: true },
];
const filters: readonly RunFilter[] = [{ run }, { session }, { session, states: ['running'] }, {}, { states: ['running'] }];

it('what is asked again is not planned again', async () => {
  const path = join(testFolder(), 'ledger.db');
  await openTestLedger({ path }).close();
  const database = new DatabaseSync(path);
  let planned = 0;
  database.setAuthorizer(() => {
    planned += 1;
    return 0;
  });
  for (const sql of [...queries.map(eventsSql), ...filters.map(runsSql)]) {
    const statement = database.prepare(sql);
    statement.setAllowUnknownNamedParameters(true);
    const named = { session, run, root: run, after: 0, type: 'run.started', type0: 'a', type1: 'b', types: '[]' };
    const ask = (limit: number) =>
      sql.includes(':limit') ? statement.all({ ...named, limit }) : statement.all(session, 0, null, limit, run, null);
    ask(1);
    const before = planned;
    expect(before).toBeGreaterThan(0);
    for (const limit of [1, 2, 1]) ask(limit);
    expect([sql, planned - before]).toEqual([sql, 0]);
  }
  database.close();
});
