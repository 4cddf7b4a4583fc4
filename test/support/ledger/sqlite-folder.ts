/** For the tests of the SQLite ledger: a folder that goes away again, and a ledger that checks every payload. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger, type SqliteLedgerOptions } from '../../../src/ledger/sqlite/store.ts';

export const SECRET = 'correct "horse"\nbattery';
export const testIds = createIds(systemClock, systemRandom);

const folders: string[] = [];
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-ledger-'));
  folders.push(folder);
  return folder;
}

export function openTestLedger(options: Partial<SqliteLedgerOptions> & { readonly path: string }): Ledger {
  return openSqliteLedger({
    clock: systemClock,
    ids: testIds,
    secrets: [{ name: 'TEST_PASSWORD', value: SECRET }],
    validate: true,
    ...options,
  });
}
