/** What the ledger of a project says, read beside the processes that write it. */
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { readAll } from '../../../src/engine/record/read-all.ts';
import type { EventType } from '../../../src/events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../../src/events/envelope.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';

export async function withLedger<Value>(folder: string, look: (ledger: Ledger) => Promise<Value>): Promise<Value> {
  const path = join(folder, '.troupe', 'ledger.db');
  const ledger = openSqliteLedger({ path, clock: systemClock, ids: createIds(systemClock, systemRandom), readOnly: true });
  try {
    return await look(ledger);
  } finally {
    await ledger.close();
  }
}

/** Everything that was recorded in the session of a run. */
export async function sessionOf(folder: string, run: string): Promise<readonly LedgerEvent[]> {
  return await withLedger(folder, async (ledger) => {
    const row = (await ledger.runs({ roots: true })).find((one) => one.run === run);
    return row === undefined ? [] : await readAll(ledger, row.session);
  });
}

/** The runs that were not started by other runs. */
export async function rootsIn(folder: string): Promise<readonly string[]> {
  return await withLedger(folder, async (ledger) => (await ledger.runs({ roots: true })).map(({ run }) => run));
}

export function only<Type extends EventType>(events: readonly LedgerEvent[], type: Type): readonly EventOf<Type>[] {
  return events.filter((event): event is LedgerEvent & EventOf<Type> => event.event_type === type);
}
