/** How runs are looked up. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openTestLedger, testFolder } from '../../../test/support/ledger/sqlite-folder.ts';
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
