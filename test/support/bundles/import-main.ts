/**
 * Imports a bundle and dies on the way: `node import-main.ts FILE ADDRESS WHERE`. `payloads` is after the first of them were
 * written, `events` in the middle of the transaction, `end` after it. Without a place it imports all of it.
 */
import { createReadStream } from 'node:fs';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { importBundle } from '../../../src/bundles/import.ts';
import { parseLedgerAddress } from '../../../src/ledger/address.ts';
import type { CopyStore, WholeSession } from '../../../src/ledger/copy/store.ts';
import { openCopyStore } from '../../../src/ledger/open.ts';

const [file = '', address = '', where = ''] = process.argv.slice(2);
const die = (place: string): void => {
  if (place === where) process.kill(process.pid, 'SIGKILL');
};

/** Dies when somebody has come so far in it. */
class Deadly<Item> extends Array<Item> {
  *#half(): ArrayIterator<Item> {
    for (let at = 0; at < this.length; at += 1) {
      if (at === Math.floor(this.length / 2)) die('events');
      yield this[at] as Item;
    }
  }
  override [Symbol.iterator](): ArrayIterator<Item> {
    return this.#half();
  }
}

const deadly = ({ events, ...session }: WholeSession): WholeSession => ({ ...session, events: Deadly.from(events) });

const parsed = parseLedgerAddress(address, '/');
if (parsed === undefined) throw new Error(address);
const clock = systemClock;
const store = await openCopyStore(parsed, { clock, ids: createIds(clock, systemRandom), readOnly: false });
const dying: CopyStore = {
  ...store,
  writePayloads: async (payloads) => {
    await store.writePayloads(payloads);
    die('payloads');
  },
  writeWhole: async (sessions) => {
    const outcome = await store.writeWhole(sessions.map(deadly));
    die('end');
    return outcome;
  },
};
const report = await importBundle(() => createReadStream(file), dying, { file: 'a.tar', clock, check: false });
await store.close();
process.stdout.write(`${report.stored}\n`);
