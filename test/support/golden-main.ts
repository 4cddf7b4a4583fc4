/** Writes the golden ledger of this release: `node test/support/golden-main.ts 0.1.0`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readAll } from '../../src/engine/read-all.ts';
import { crashAt } from './crash.ts';
import { goldenAgents, goldenBrain, goldenRuns } from './golden.ts';
import { createWorld } from './world.ts';

const [version = ''] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../fixtures/ledgers', version);
const path = join(folder, 'ledger.db');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

/** A process number that nobody has, so that whoever opens the file later can take its runs over. */
const owner = { id: 'golden', pid: 2 ** 22 + 1, host: 'golden' };
for (const golden of goldenRuns) {
  // The opening, a request, an answer, a look, the intent of an effect: then the power goes. A team gets into its second cycle.
  const last = golden.left === 'interrupted' ? (golden.agent === 'lead' ? 24 : 5) : Number.POSITIVE_INFINITY;
  const world = createWorld({
    path,
    owner,
    agents: goldenAgents,
    brain: goldenBrain,
    wrapLedger: (inner) => crashAt(inner, last).ledger,
  });
  const started = await world.engine.start({ agent: golden.agent, input: golden.input, workspace: '.', run: golden.run });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  if (end.kind !== golden.left) throw new Error(`${golden.run} was to be left ${golden.left}: ${JSON.stringify(end)}`);
  await world.ledger.close();
}

const world = createWorld({ path, agents: goldenAgents, brain: goldenBrain });
const rows = await world.ledger.runs({ roots: true });
const sessions = await Promise.all(rows.map((row) => readAll(world.ledger, row.session)));
writeFileSync(join(folder, 'events.json'), `${JSON.stringify(sessions.toReversed(), null, 1)}\n`);
await world.close();
const database = new DatabaseSync(path);
database.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE');
database.close();
rmSync(`${path}-bell`, { force: true });
