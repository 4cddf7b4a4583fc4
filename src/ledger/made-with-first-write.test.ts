/** The conformance suite on a ledger that is made by its first write, and that nothing is there before. */
import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { ledgerConformance } from '../../test/conformance/ledger/checks.ts';
import { openTestLedger, SECRET, testFolder, testIds } from '../../test/support/ledger/sqlite-folder.ts';
import { madeWithFirstWrite } from './made-with-first-write.ts';
import type { Ledger } from './port.ts';

const opened: Ledger[] = [];
afterEach(async () => {
  for (const ledger of opened.splice(0)) await ledger.close();
});

function open(path: string): Ledger {
  const ledger = madeWithFirstWrite(path, () => openTestLedger({ path }));
  opened.push(ledger);
  return ledger;
}

describe('a ledger that is made by its first write', () => {
  it.each(ledgerConformance.map(({ name, check }) => [name, check] as const))('%s', async (_check, check) => {
    const path = `${testFolder()}/ledger.db`;
    await check(async () => ({
      ledger: open(path),
      another: async () => open(path),
      reopen: async () => {
        for (const ledger of opened.splice(0)) await ledger.close();
        return open(path);
      },
      newSession: testIds.session,
      newRun: testIds.run,
      secret: SECRET,
    }));
  });

  it('is empty before, and there is no file', async () => {
    const path = `${testFolder()}/ledger.db`;
    const ledger = open(path);
    expect(await ledger.runs({})).toEqual([]);
    expect(await ledger.read({ session: testIds.session() })).toEqual([]);
    expect(await ledger.counter('x')).toBe(0);
    await ledger.close();
    expect(existsSync(path)).toBe(false);
  });

  it('sees what another process has written meanwhile', async () => {
    const path = `${testFolder()}/ledger.db`;
    const [ledger, other] = [open(path), open(path)];
    expect(await ledger.counter('x')).toBe(0);
    await other.append({ session: testIds.session(), fence: null, events: [], counters: [{ name: 'x', add: 2 }] });
    expect(await ledger.counter('x')).toBe(2);
  });
});
