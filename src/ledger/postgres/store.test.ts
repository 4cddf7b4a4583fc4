/** The conformance suite on the Postgres ledger: with everything in the database, and with a shared folder for large payloads. */
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { ledgerConformance } from '../../../test/conformance/ledger/checks.ts';
import type { StoreUnderTest } from '../../../test/conformance/ledger/support.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import { SECRET, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import { systemClock } from '../../base/clock.ts';
import type { Ledger } from '../port.ts';
import { openPostgresLedger } from './store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const opened: Ledger[] = [];
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
});

async function open(url: string): Promise<Ledger> {
  const secrets = [{ name: 'TEST_PASSWORD', value: SECRET }];
  const ledger = await openPostgresLedger({ url, clock: systemClock, ids: testIds, secrets, validate: true });
  opened.push(ledger);
  return ledger;
}

let count = 0;
async function store(more: string): Promise<StoreUnderTest> {
  count += 1;
  const url = `${server.address(`conformance_${count}`)}${more}`;
  return {
    ledger: await open(url),
    another: () => open(url),
    reopen: async () => {
      for (const ledger of opened.splice(0)) await ledger.close();
      return await open(url);
    },
    newSession: testIds.session,
    newRun: testIds.run,
    secret: SECRET,
  };
}

describe.each([
  ['in the database', () => ''],
  ['with a shared folder', () => `&payloads=${encodeURIComponent(testFolder())}`],
])('the Postgres ledger %s', (_name, more) => {
  it.each(ledgerConformance.map(({ name, check }) => [name, check] as const))('%s', async (_check, check) => {
    await check(() => store(more()));
  });
});
