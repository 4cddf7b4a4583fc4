import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { givenRun } from '../../../test/conformance/ledger/support.ts';
import { openTestLedger, testFolder, testIds } from '../../../test/support/ledger/sqlite-folder.ts';
import type { Ledger } from '../port.ts';

const started = (ledger: Ledger) => givenRun({ ledger, newSession: testIds.session, newRun: testIds.run });

it('a file of an earlier release gets the order of all sessions when it is opened', async () => {
  const path = join(testFolder(), 'ledger.db');
  const first = openTestLedger({ path });
  const [one, two] = [await started(first), await started(first)];
  await first.close();
  const database = new DatabaseSync(path);
  database.exec('DROP TRIGGER event_in_feed; DROP TABLE feed');
  database.close();
  const read = openTestLedger({ path, readOnly: true });
  expect(await read.feed({ limit: 10 })).toEqual({ entries: [], pending: false });
  await read.close();
  const ledger = openTestLedger({ path });
  const more = await started(ledger);
  const { entries } = await ledger.feed({ limit: 10 });
  expect(entries.map(({ session, position }) => [session, position])).toEqual(
    [one, two, more].map(({ session }) => [session, 1]),
  );
  await ledger.close();
});
