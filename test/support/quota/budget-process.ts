/**
 * A process that works on runs of its own under a budget that all processes on the ledger share: `quota-budget-process.ts
 * <ledger> <runs> <calls> <usd>`. Says how many model calls it made and what they cost.
 */
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { userText } from '../../../src/events/messages.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/store.ts';
import { agent, calls, createWorld, reports, turnOf } from '../world.ts';

const [url = '', runs = '1', mostCalls = '1', usd = '1'] = process.argv.slice(2);
const TURNS = 6;
const ids = createIds(systemClock, systemRandom);
const ledger = await openPostgresLedger({ url, clock: systemClock, ids });
let asked = 0;
const world = createWorld({
  ledger,
  agents: [agent()],
  brain: async (request) => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return turnOf(request) >= TURNS ? reports('done') : calls({ name: 'look', input: { name: String(turnOf(request)) } });
  },
  engineOptions: { ids, random: systemRandom, projectBudget: { calls: Number(mostCalls), usd: Number(usd) } },
});
const ends = await Promise.all(
  Array.from({ length: Number(runs) }, async () => {
    const begun = await world.engine.start({ agent: 'worker', input: userText('Work.'), workspace: process.cwd() });
    if (begun.kind === 'refused') return begun.error.code;
    const end = await begun.handle.done;
    return end.kind === 'ended' ? (end.result.error?.code ?? end.result.status) : end.kind;
  }),
);
process.stdout.write(`${JSON.stringify({ asked, ends })}\n`);
await world.close();
await ledger.close();
