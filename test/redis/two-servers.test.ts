/**
 * Two real `troupe serve` on one ledger and one Redis, under load: every peer has a twin that does the same at the same time, and
 * both turn to either server. Redis goes away in between and comes back empty. No task is begun twice, no transition is illegal,
 * no copy goes back, and in the end every copy is what the ledger says.
 */
import { expect, it } from 'vitest';
import { seededRandom } from '../../src/base/random.ts';
import { readTask, writeTask } from '../../src/projections/tasks/task-json.ts';
import { mayFollow, type TaskState } from '../../src/projections/tasks/task-states.ts';
import { createLedgerTasks } from '../../src/tasks/ledger-tasks.ts';
import { createTestProject } from '../e2e/support-project.ts';
import { advance, checkJobs, isDone, JOBS_AGENT, type Job, newJob, pick, playJobs } from '../support/a2a/jobs.ts';
import { serve } from '../support/a2a/serve-process.ts';
import { ALICE, connect } from '../support/a2a/served.ts';
import { withLedger } from '../support/assistants/ledger.ts';
import { describeWithRedis } from '../support/redis/redis-program.ts';
import { type RedisServer, startRedis } from '../support/redis/redis-server.ts';

const JOBS = Number(process.env['TROUPE_JOBS'] ?? 15);

interface Copy {
  readonly position: number;
  readonly state: TaskState;
}

/** Reads all copies as another program would, and remembers them: within one life of Redis none may go back. */
function watcher(redis: RedisServer) {
  const before = new Map<string, Copy>();
  let looking = Promise.resolve();
  const looks = async (): Promise<void> => {
    const keys = (await redis.ask('KEYS', 'task:*')) as string[];
    for (const key of keys) {
      const read = readTask(String(await redis.ask('GET', key)));
      if (!read.ok) throw new Error(read.error);
      const now = { position: Number(read.value.metadata?.['ledgerPosition']), state: read.value.status.state };
      const last = before.get(key);
      if (last !== undefined && (now.position < last.position || !mayFollow(last.state, now.state)))
        throw new Error(`${key} went from ${JSON.stringify(last)} to ${JSON.stringify(now)}`);
      before.set(key, now);
    }
  };
  return {
    /** One after the other: of two at a time the one that has seen more could be done first. */
    look: async (): Promise<number> => {
      looking = looking.then(looks);
      await looking;
      return before.size;
    },
    forget: () => before.clear(),
  };
}

const twinOf = (job: Job): Job => ({ ...job, seen: [] });

describeWithRedis('two servers on one Redis', () => {
  it(`${JOBS} tasks with twins that do the same, and Redis away in between`, async () => {
    const random = seededRandom(Number(process.env['TROUPE_SEED'] ?? 20_261_117));
    await using redis = await startRedis();
    await using project = await createTestProject('', JOBS_AGENT);
    project.env['TROUPE_REDIS'] = redis.url;
    const model = await project.serve(playJobs);
    await using first = await serve(project);
    await using second = await serve(project);
    const clients = await Promise.all([first, second].map(({ origin }) => connect(origin, ALICE, 'JSONRPC')));
    const { signal } = new AbortController();
    const watch = watcher(redis);
    const jobs = Array.from({ length: JOBS }, (_, index) => newJob(index));
    const doJob = async (job: Job): Promise<void> => {
      while (!isDone(job)) await advance(job, { client: pick(random, clients), signal, heard: () => undefined }, random);
    };
    const doTwice = async (job: Job): Promise<void> => {
      const twin = twinOf(job);
      await Promise.all([doJob(job), doJob(twin)]);
      expect(twin.id).toBe(job.id);
    };
    const third = Math.ceil(JOBS / 3);
    const [before, without, after] = [jobs.slice(0, third), jobs.slice(third, 2 * third), jobs.slice(2 * third)];
    await Promise.all(before.map((job) => doTwice(job).then(watch.look)));
    await expect.poll(watch.look).toBe(before.length);
    await Promise.all([redis.stop(), ...without.map(doTwice)]);
    watch.forget();
    await Promise.all([redis.start().then(watch.look), ...after.map(doTwice)]);
    for (const client of clients) await checkJobs(jobs, client, project.folder);
    const calls = model.requests.map(({ headers }) => String(headers['idempotency-key']));
    expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
    for (const { id = '' } of jobs) {
      const stored = await withLedger(project.folder, (ledger) => createLedgerTasks(ledger).load(id));
      if (stored === undefined) throw new Error(`no task ${id}`);
      await expect.poll(() => redis.ask('GET', `task:${id}`)).toBe(writeTask(stored.task));
    }
    expect(await watch.look()).toBe(JOBS);
  });
});
