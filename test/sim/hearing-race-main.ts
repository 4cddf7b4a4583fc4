/** Another process on the same ledger: takes up each run that it is told of. Usage: hearing-race-main.ts <ledger> */
import { createInterface } from 'node:readline';
import type { RunId } from '../../src/base/ids.ts';
import { createWorld } from '../support/world.ts';
import { asksFirst, careful } from './hearing-race.ts';

const world = createWorld({ path: process.argv[2] ?? '', brain: asksFirst, agents: careful, seed: 2 });
process.stdout.write('ready\n');
for await (const run of createInterface({ input: process.stdin })) {
  void world.engine.resume(run as RunId).then(({ kind }) => process.stdout.write(`${run} ${kind}\n`));
}
await world.close();
