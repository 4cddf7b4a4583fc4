/**
 * What every engine must do, on Restate: with the ledger in a file and replay forced at every wait, and with the ledger in
 * Postgres, as on many machines.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { engineConformance } from '../../../test/conformance/engine/table.ts';
import { startTestRestate } from '../../../test/support/cluster/restate-server.ts';
import { createRestateWorld, newRestatePlace } from '../../../test/support/cluster/restate-world.ts';
import { closedAfterwards } from '../../../test/support/kept-worlds.ts';
import { type PostgresServer, startPostgres } from '../../../test/support/ledger/postgres-server.ts';
import type { WorldOptions } from '../../../test/support/world.ts';
import { systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { systemRandom } from '../../base/random.ts';
import type { RestateServer } from '../../cluster/restate-server.ts';
import type { Ledger } from '../../ledger/port.ts';
import { openPostgresLedger } from '../../ledger/postgres/store.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-restate-engine-'));
const ledgers: Ledger[] = [];
let restate: RestateServer;
let postgres: PostgresServer;
beforeAll(async () => {
  [restate, postgres] = await Promise.all([startTestRestate(), startPostgres()]);
});
afterEach(async () => {
  for (const ledger of ledgers.splice(0)) await ledger.close();
});
const kept = closedAfterwards();
afterAll(async () => {
  await restate.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

type OpenLedger = (name: string) => Promise<Pick<WorldOptions, 'path' | 'ledger'>>;

const inFile: OpenLedger = async (name) => ({ path: join(folder, `${name}.db`) });
const inPostgres: OpenLedger = async (name) => {
  const ids = createIds(systemClock, systemRandom);
  const ledger = await openPostgresLedger({ url: postgres.address(name), clock: systemClock, ids, validate: true });
  ledgers.push(ledger);
  return { ledger };
};

describe.each([
  ['a file, replay at every wait', inFile, { inactivityMs: 0 }],
  ['Postgres', inPostgres, {}],
] as const)('the engine on Restate: %s', (_ledger, openLedger, more) => {
  let count = 0;
  it.each(engineConformance.map(({ name, play }) => [name, play] as const))('%s', async (_name, play) => {
    const place = await newRestatePlace();
    count += 1;
    const name = `stage_${count}`;
    await play({
      async create(options) {
        return kept(await createRestateWorld(restate, { ...(await openLedger(name)), ...more, ...options, place }));
      },
    });
  });
});
