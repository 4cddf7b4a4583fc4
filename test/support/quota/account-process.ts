/**
 * A process that calls a provider under a quota shared over Postgres: `quota-process.ts <ledger> <provider> <name> <calls>
 * [<at once>]`. It says `ready` and waits for a line. Then all its calls queue at once: it says `done` for every call that went
 * well, and ends when all have. With each call it says how many refusals it knows of.
 */
import { once } from 'node:events';
import { systemClock } from '../../../src/base/clock.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { createPostgresQuota } from '../../../src/quota/postgres.ts';
import type { Slot } from '../../../src/quota/quota.ts';
import { createSharedQuota } from '../../../src/quota/shared-quota.ts';

const [url = '', provider = '', worker = '', calls = '0', most = '1000'] = process.argv.slice(2);
const store = createPostgresQuota({ url, clock: systemClock, worker, concurrency: Number(most) });
const quota = createSharedQuota({ store, clock: systemClock, random: systemRandom });
const never = new AbortController().signal;

let refusals = 0;

async function call(): Promise<Parameters<Slot['release']>[0]> {
  const response = await fetch(provider, { headers: { 'x-worker': worker, 'x-refusals': String(refusals) } });
  await response.arrayBuffer();
  if (response.status === 429) refusals += 1;
  return response.status === 429 ? { rateLimitedForMs: Number(response.headers.get('retry-after-ms')) } : 'done';
}

async function untilDone(): Promise<void> {
  for (;;) {
    const slot = await quota.acquire('provider:account', never);
    const outcome = await call();
    slot?.release(outcome);
    if (outcome === 'done') break;
  }
  process.stdout.write('done\n');
}

process.stdout.write('ready\n');
await once(process.stdin, 'data');
process.stdin.destroy();
await Promise.all(Array.from({ length: Number(calls) }, untilDone));
await quota.close();
