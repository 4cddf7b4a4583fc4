/**
 * Writes the golden sessions of every kind of this release: `node test/support/golden/kinds-main.ts 0.1.0`. What a real program
 * takes part in is recorded beside it: `node test/support/golden/programs-main.ts 0.1.0`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { createIds, type RunId, type SessionId } from '../../../src/base/ids.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import { createWorld, type World } from '../world.ts';
import { packed } from './packed.ts';
import { goldenPlays } from './plays.ts';

const [version = ''] = process.argv.slice(2);
// Evidence names the folder that a command is run in.
process.chdir('/');
const folder = mkdtempSync(join(tmpdir(), 'troupe-kinds-'));
const path = join(folder, 'kinds.db');
// A process number that nobody has.
const owner = { id: 'golden', pid: 2 ** 22 + 1, host: 'golden' };
const ledger = openSqliteLedger({
  path,
  clock: systemClock,
  ids: createIds(systemClock, seededRandom(1)),
  validate: true,
  owner,
});
for (const [index, { title, options, play }] of goldenPlays.entries()) {
  const number = String(index + 1).padStart(14, '0');
  const ids = { run: `run_golden${number}` as RunId, session: `ses_golden${number}` as SessionId };
  const made: { world?: World } = {};
  const world = createWorld({ ...options(ledger, ids, () => made.world as World), seed: index + 1 });
  made.world = world;
  await play(world, ids).catch((error: unknown) => {
    throw new Error(title, { cause: error });
  });
  await world.engine.close();
}
await ledger.close();
await packed(path, version);
rmSync(folder, { recursive: true, force: true });
