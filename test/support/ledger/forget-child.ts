/** A process that forgets a session and is killed at one of its commits, before or after it. Ends with 0 when there was none. */

import { StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../src/base/ids.ts';
import { DatabaseSync } from '../../../src/base/sqlite.ts';
import { openTestLedger } from './sqlite-folder.ts';

const [path = '', session = '', at = ''] = process.argv.slice(2);
const ledger = openTestLedger({ path });
let count = 0;
const dieAtIts = (): void => {
  count += 1;
  if (count === Number(at)) process.kill(process.pid, 'SIGKILL');
};
const isCommit = (sql: string): boolean => /COMMIT|VACUUM|wal_checkpoint/.test(sql);
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (sql: string): void {
  if (isCommit(sql)) dieAtIts();
  exec.call(this, sql);
  if (isCommit(sql)) dieAtIts();
};
for (const name of ['run', 'get'] as const) {
  const before = StatementSync.prototype[name];
  const counted = function (this: StatementSync, ...values: unknown[]): unknown {
    const counts = isCommit(this.sourceSQL);
    if (counts) dieAtIts();
    const value: unknown = Reflect.apply(before, this, values);
    if (counts) dieAtIts();
    return value;
  };
  Reflect.set(StatementSync.prototype, name, counted);
}
await ledger.forget({ parts: [{ session: session as SessionId }], by: 'ana', at: 1, dryRun: false });
count = Number.NEGATIVE_INFINITY;
await ledger.close();
