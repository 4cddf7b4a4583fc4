/** The conformance suite on the SQLite ledger, in a file and in memory. */
import { afterEach, describe, it } from 'vitest';
import { ledgerConformance } from '../../../test/conformance/ledger/checks.ts';
import type { StoreUnderTest } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, SECRET, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import type { Ledger } from '../port.ts';

const opened: Ledger[] = [];
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
});

function open(path: string): Ledger {
  const ledger = openTestLedger({ path });
  opened.push(ledger);
  return ledger;
}

function store(path: string): StoreUnderTest {
  const shared = path !== ':memory:';
  return {
    ledger: open(path),
    another: async () => (shared ? open(path) : undefined),
    reopen: async () => {
      if (!shared) return undefined;
      for (const ledger of opened.splice(0)) await ledger.close();
      return open(path);
    },
    newSession: testIds.session,
    newRun: testIds.run,
    secret: SECRET,
  };
}

describe.each([
  ['in a file', () => `${testFolder()}/ledger.db`],
  ['in memory', () => ':memory:'],
])('the SQLite ledger %s', (_name, path) => {
  it.each(ledgerConformance.map(({ name, check }) => [name, check] as const))('%s', async (_check, check) => {
    await check(async () => store(path()));
  });
});
