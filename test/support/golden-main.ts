/** Writes the golden ledger of this release: `node test/support/golden-main.ts 0.1.0`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readAll } from '../../src/engine/record/read-all.ts';
import type { Ledger, NewEvent } from '../../src/ledger/port.ts';
import { goldenAgents, goldenBrain, goldenRuns } from './golden.ts';
import { createWorld } from './world.ts';

const isIntent = (event: NewEvent): boolean => event.type === 'tool.call' && event.payload.name === 'act';

function nth(wanted: number, matches: (event: NewEvent) => boolean): (event: NewEvent) => boolean {
  let seen = 0;
  return (event) => {
    if (matches(event)) seen += 1;
    return seen >= wanted;
  };
}

/** The power goes after the append that holds this event, wherever that is. */
function cutAfter(inner: Ledger, last: (event: NewEvent) => boolean): Ledger {
  let gone = false;
  return {
    ...inner,
    append: async (request) => {
      if (gone) throw new Error('the power is gone');
      gone = request.events.some(last);
      return await inner.append(request);
    },
  };
}

const [version = ''] = process.argv.slice(2);
const folder = join(import.meta.dirname, '../fixtures/ledgers', version);
const path = join(folder, 'ledger.db');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

/** A process number that nobody has, so that whoever opens the file later can take its runs over. */
const owner = { id: 'golden', pid: 2 ** 22 + 1, host: 'golden' };
for (const golden of goldenRuns) {
  const { left, agent } = golden;
  // The intent of an effect, and then the power goes. A team gets into its second cycle: two members, their lead, a member.
  const last = agent === 'lead' ? nth(4, ({ type }) => type === 'model.request') : nth(1, isIntent);
  const world = createWorld({
    path,
    owner,
    agents: goldenAgents,
    brain: goldenBrain,
    wrapLedger: (inner) => (left === 'interrupted' ? cutAfter(inner, last) : inner),
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
