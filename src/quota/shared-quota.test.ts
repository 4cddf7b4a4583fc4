import { describe, expect, it } from 'vitest';
import { createQuotaMemory } from '../../test/support/quota/memory.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import { createVirtualClock, type VirtualClock } from '../testing/virtual-clock.ts';
import { createSharedQuota } from './shared-quota.ts';

const never = new AbortController().signal;

/** Several workers on one store, and a provider that counts. Time passes only in `pass`. */
function setUp(most: number, workers: number) {
  const clock = createVirtualClock(1_000_000);
  const memory = createQuotaMemory(clock, most);
  const quotas = Array.from({ length: workers }, (_, index) =>
    createSharedQuota({ store: memory.as(`w${index}`), clock, random: seededRandom(index + 1) }),
  );
  const seen = { inFlight: 0, most: 0, done: quotas.map(() => 0), refused: 0, begun: [] as number[] };
  const call = async (worker: number, callMs: number, refuses: () => number | undefined = () => undefined): Promise<void> => {
    for (;;) {
      const slot = await quotas[worker]?.acquire('a', never);
      seen.inFlight += 1;
      seen.most = Math.max(seen.most, seen.inFlight);
      seen.begun.push(clock.elapsed());
      const forMs = refuses();
      await new Promise<void>((resolve) => clock.after(forMs === undefined ? callMs : 5, resolve));
      seen.inFlight -= 1;
      slot?.release(forMs === undefined ? 'done' : { rateLimitedForMs: forMs });
      if (forMs === undefined) {
        seen.done[worker] = (seen.done[worker] ?? 0) + 1;
        return;
      }
      seen.refused += 1;
    }
  };
  return { clock, memory, quotas, seen, call, pass: (ms: number) => pass(clock, ms) };
}

async function pass(clock: VirtualClock, milliseconds: number): Promise<void> {
  const end = clock.elapsed() + milliseconds;
  let over = false;
  clock.after(milliseconds, () => {
    over = true;
  });
  while (!over && clock.elapsed() <= end) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!clock.advance()) break;
  }
  await new Promise((resolve) => setImmediate(resolve));
}

const fillUp = (count: number, begin: () => Promise<void>): void => {
  for (let index = 0; index < count; index += 1) void begin();
};

describe('createSharedQuota', () => {
  it('keeps the calls of all workers together within what is allowed, and every worker gets its part', async () => {
    const { seen, call, pass } = setUp(6, 3);
    for (const worker of [0, 1, 2]) fillUp(60, () => call(worker, 100));
    await pass(6_000);
    expect(seen.most).toBe(6);
    expect(seen.done.every((done) => done >= 40)).toBe(true);
    await pass(10_000);
    expect(seen.done).toEqual([60, 60, 60]);
  });

  it('lets everybody have a turn when there are fewer slots than workers', async () => {
    const { seen, call, pass } = setUp(1, 3);
    for (const worker of [0, 1, 2]) fillUp(20, () => call(worker, 300));
    await pass(25_000);
    expect(seen.most).toBe(1);
    expect(seen.done.every((done) => done >= 8)).toBe(true);
  });

  it('asks the store about once a second, not once per call', async () => {
    const { seen, memory, call, pass } = setUp(1_000, 1);
    const oneAfterTheOther = async (): Promise<void> => {
      for (let index = 0; index < 100; index += 1) await call(0, 50);
    };
    void oneAfterTheOther();
    await pass(6_000);
    expect(seen.done).toEqual([100]);
    expect(memory.claims).toBeLessThanOrEqual(8);
  });

  it('stops all workers after one refusal, and lets fewer in afterwards', async () => {
    const { clock, memory, seen, call, pass } = setUp(100, 3);
    let left = 1;
    for (const worker of [0, 1, 2]) fillUp(40, () => call(worker, 100, () => (left-- === 1 ? 2_000 : undefined)));
    await pass(50);
    const refusedAt = clock.elapsed();
    const before = seen.begun.length;
    await pass(1_900);
    expect(seen.begun.length - before).toBe(0);
    expect(memory.account('a').allowed).toBeLessThan(60);
    seen.most = 0;
    await pass(8_000);
    expect(seen.begun.slice(before).every((at) => at >= refusedAt + 1_900)).toBe(true);
    expect(seen.most).toBeLessThanOrEqual(55);
    expect(seen.done).toEqual([40, 40, 40]);
  });

  it('finds what a provider allows: refusals become rare', async () => {
    const { seen, call, pass } = setUp(1_000, 3);
    const refuses = (): number | undefined => (seen.inFlight > 8 ? 500 : undefined);
    for (const worker of [0, 1, 2]) fillUp(200, () => call(worker, 100, refuses));
    await pass(60_000);
    expect(seen.done).toEqual([200, 200, 200]);
    const early = seen.refused;
    for (const worker of [0, 1, 2]) fillUp(50, () => call(worker, 100, refuses));
    await pass(30_000);
    expect(seen.done).toEqual([250, 250, 250]);
    expect(seen.refused - early).toBeLessThan(60);
  });

  it('takes over what a worker held that has died, when its part has run out', async () => {
    const { memory, seen, call, pass } = setUp(4, 1);
    void memory.as('dead').claim({ account: 'a', needed: 4, used: 4, inFlight: 4, succeeded: 0 });
    await pass(100);
    fillUp(4, () => call(0, 10));
    await pass(limits.quotaLeaseMs - 500);
    expect(seen.done).toEqual([0]);
    await pass(1_000);
    expect(seen.done).toEqual([4]);
  });

  it('begins nothing while the store does not answer and its part has run out, and goes on afterwards', async () => {
    const { memory, seen, call, pass } = setUp(10, 1);
    fillUp(1, () => call(0, 10));
    await pass(100);
    memory.broken = true;
    fillUp(1, () => call(0, 10));
    await pass(100);
    expect(seen.done).toEqual([2]);
    await pass(limits.quotaLeaseMs);
    fillUp(3, () => call(0, 10));
    await pass(10_000);
    expect(seen.done).toEqual([2]);
    memory.broken = false;
    await pass(limits.quotaLeaseMs + 100);
    expect(seen.done).toEqual([5]);
  });

  it('gives back what it holds only after the claim that is under way has been answered', async () => {
    const clock = createVirtualClock(1_000_000);
    const memory = createQuotaMemory(clock, 6);
    const answered: number[] = [];
    const slow = Promise.withResolvers<void>();
    const store = memory.as('w');
    const claim: typeof store.claim = async (asked) => {
      if (asked.needed > 0) await slow.promise;
      answered.push(asked.needed);
      return await store.claim(asked);
    };
    const quota = createSharedQuota({ store: { ...store, claim }, clock, random: seededRandom(1) });
    void quota.acquire('a', never);
    await pass(clock, 1_000);
    const closing = quota.close();
    await new Promise((resolve) => setImmediate(resolve));
    slow.resolve();
    await pass(clock, 1_000);
    await closing;
    expect(answered).toEqual([1, 0]);
  });

  it('forgets a caller that gives up, and gives everything back when closed', async () => {
    const { quotas, memory, pass } = setUp(1, 2);
    const [quota, other] = quotas;
    const held = quota?.acquire('a', never);
    await pass(20);
    const controller = new AbortController();
    const waiting = quota?.acquire('a', controller.signal);
    controller.abort();
    expect(await waiting).toBeUndefined();
    (await held)?.release('done');
    const closing = quota?.close();
    await pass(20);
    await closing;
    const next = other?.acquire('a', never);
    await pass(20);
    expect(await next).toBeDefined();
    expect(memory.account('a').allowed).toBe(1);
  });
});
