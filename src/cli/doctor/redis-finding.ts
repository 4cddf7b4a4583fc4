/** Whether the Redis for copies of tasks answers and takes what is written. */
import type { Clock } from '../../base/clock.ts';
import type { Finding } from '../../front/project/finding.ts';
import { createRedisTasks, type RedisSettings } from '../../tasks/redis/redis-tasks.ts';

export async function redisFinding(settings: RedisSettings, clock: Clock): Promise<Finding> {
  const about = 'redis';
  const tasks = createRedisTasks(settings, clock);
  try {
    const probed = await tasks.probe();
    if (probed.ok) return { about, state: 'good', text: `takes copies of tasks at ${settings.address.shown}` };
    const fix =
      'correct tasks.redis, TROUPE_REDIS or TROUPE_REDIS_PASSWORD, or start it; runs go on without it and it catches up';
    return { about, state: 'broken', text: probed.error.message, fix };
  } finally {
    tasks.close();
  }
}
