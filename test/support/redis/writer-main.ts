/** Writes versions of the same tasks as fast as it can, in an order of its own, each version once. */
import { systemClock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { parseRedisAddress } from '../../../src/tasks/redis/address.ts';
import { createRedisTasks } from '../../../src/tasks/redis/redis-tasks.ts';

const [url = '', seed = '1', tasks = '1', rounds = '1'] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const store = createRedisTasks({ address: parseRedisAddress(url, {}), key: 'task:{id}', ttlMs: 60_000 }, systemClock);
const shuffled = Array.from({ length: Number(rounds) }, (_, index) => ({ position: index + 1, at: random.fraction() }))
  .toSorted((left, right) => left.at - right.at)
  .map(({ position }) => position);
for (const position of shuffled) {
  await Promise.all(
    Array.from({ length: Number(tasks) }, (_, index) => {
      const status = { state: 'working' as const, message: { role: 'assistant', content: `by ${seed}` } };
      const task = { id: `run_${index}`, sessionId: 'ses_a', status, metadata: { ledgerPosition: position } };
      return store.save({ task, position });
    }),
  );
}
store.close();
