import { describe, expect, it } from 'vitest';
import { answerIn, failureIn, modelRequest, openModel, serverCatalogue } from '../../test/support/models/client.ts';
import { startModelServer } from '../../test/support/models/model-server.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import { userText } from '../events/messages.ts';
import { createQuota } from '../quota/quota.ts';
import { createVirtualClock, type VirtualClock } from '../testing/virtual-clock.ts';
import type { Model } from './port.ts';
import { askWithRetries, type FailedAttempt, type Patience } from './retry.ts';
import { scriptedModel, type TestModel } from './scripted/scripted.ts';

/** Time that passes only by waiting, at once. */
function jumpingClock(): Clock & { readonly waits: number[] } {
  let now = 0;
  const waits: number[] = [];
  const after: Clock['after'] = (delayMs, callback) => {
    let live = true;
    setImmediate(() => {
      if (!live) return;
      waits.push(delayMs);
      now += delayMs;
      callback();
    });
    return () => {
      live = false;
    };
  };
  return { now: () => now, elapsed: () => now, after, waits };
}

type Kind = ModelFailure['kind'];

/** Fails in these ways, one after the other, then answers. */
function failing(id: string, kinds: readonly (Kind | Omit<ModelFailure, 'message'>)[], clock: Clock): TestModel {
  return scriptedModel(
    (_request, call) => {
      const next = kinds[call];
      return next === undefined ? { text: id } : { error: typeof next === 'string' ? { kind: next } : next };
    },
    { id, clock },
  );
}

async function run(
  models: readonly Model[],
  clock: Clock,
  maxRetries = 5,
  signal = new AbortController().signal,
  outage?: Patience,
) {
  const failed: FailedAttempt[] = [];
  const options = {
    maxRetries,
    outage,
    clock,
    random: seededRandom(7),
    onFailure: (one: FailedAttempt) => void failed.push(one),
  };
  return { outcome: await askWithRetries(models, modelRequest({ signal }), options), failed };
}

describe('askWithRetries', () => {
  it('tries again after passing trouble, and waits longer each time', async () => {
    const clock = jumpingClock();
    const model = failing('a', ['overloaded', 'timeout', 'network', 'bad_response', 'rate_limited'], clock);
    const { outcome, failed } = await run([model], clock);
    expect(answerIn(outcome).message.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(failed.map((one) => [one.attempt, one.error.kind, one.final])).toEqual([
      [1, 'overloaded', false],
      [2, 'timeout', false],
      [3, 'network', false],
      [4, 'bad_response', false],
      [5, 'rate_limited', false],
    ]);
    for (const [index, wait] of clock.waits.entries()) expect(wait).toBeLessThanOrEqual(limits.retryBaseMs * 2 ** index);
    // Whoever watches is told how long it will be.
    expect(failed.map(({ nextInMs }) => nextInMs)).toEqual(clock.waits.map(Math.ceil));
  });

  it('says of each piece of an answer which attempt it is of', async () => {
    const clock = jumpingClock();
    const heard: unknown[] = [];
    const cut: Model = {
      ...failing('a', [], clock),
      ask: async ({ onDelta }) => {
        onDelta?.({ type: 'text', text: 'half' });
        return { kind: 'failed', error: { kind: 'bad_response', message: 'broke off' } };
      },
    };
    const onDelta = (delta: { readonly type: string }, attempt?: number) => void heard.push([delta.type, attempt]);
    await askWithRetries([cut], modelRequest({ onDelta }), { maxRetries: 1, clock, random: seededRandom(7) });
    expect(heard).toEqual([
      ['text', 1],
      ['text', 2],
    ]);
  });

  it('makes at most maxRetries + 1 attempts over the whole list', async () => {
    const clock = jumpingClock();
    const always = Array.from({ length: 20 }, () => 'overloaded' as const);
    const models = [failing('a', always, clock), failing('b', always, clock)];
    const { outcome, failed } = await run(models, clock, 3);
    expect(failureIn(outcome).kind).toBe('overloaded');
    expect(models.map((model) => model.calls.length)).toEqual([2, 2]);
    expect(failed.map((one) => one.final)).toEqual([false, false, false, true]);
    expect((await run([failing('c', always, clock)], clock, 0)).failed).toHaveLength(1);
  });

  it('waits as long as it is told to', async () => {
    const clock = jumpingClock();
    await run([failing('a', [{ kind: 'rate_limited', retryAfterMs: 9_000 }], clock)], clock);
    expect(clock.elapsed()).toBeGreaterThanOrEqual(9_000);
    expect(clock.elapsed()).toBeLessThanOrEqual(9_900);
  });

  it('does not wait for ever: it goes to the next model, or fails', async () => {
    const clock = jumpingClock();
    const long = { kind: 'rate_limited', retryAfterMs: limits.retryMaxMs + 1 } as const;
    const both = await run([failing('a', [long, long], clock), failing('b', [], clock)], clock);
    expect(answerIn(both.outcome).served).toBe('b');
    const alone = await run([failing('a', [long, long], clock)], clock);
    expect(failureIn(alone.outcome).kind).toBe('rate_limited');
    expect(alone.failed).toHaveLength(1);
    expect(clock.waits).toEqual([]);
  });

  it('asks the next model at once, and comes back to the first', async () => {
    const clock = jumpingClock();
    const first = failing('a', ['overloaded'], clock);
    const second = failing('b', ['overloaded'], clock);
    const { outcome } = await run([first, second], clock);
    expect(['a', 'b']).toContain(answerIn(outcome).served);
    expect(clock.waits).toHaveLength(1);
  });

  it('does not ask a model again that refused the key or the request', async () => {
    for (const kind of ['auth', 'invalid_request'] as const) {
      const clock = jumpingClock();
      const refusing = failing('a', [kind, kind, kind], clock);
      const { outcome } = await run([refusing, failing('b', ['overloaded'], clock)], clock);
      expect(answerIn(outcome).served).toBe('b');
      expect(refusing.calls).toHaveLength(1);
      expect((await run([failing('c', [kind], clock)], clock)).failed).toMatchObject([{ final: true }]);
    }
  });

  it('takes some failures for the last word', async () => {
    for (const kind of ['context_overflow', 'refused', 'script_ended', 'cancelled'] as const) {
      const clock = jumpingClock();
      const second = failing('b', [], clock);
      const { outcome } = await run([failing('a', [kind], clock), second], clock);
      expect(failureIn(outcome).kind).toBe(kind);
      expect(second.calls).toHaveLength(0);
    }
  });

  it('stops waiting when cancelled', async () => {
    const controller = new AbortController();
    // Nobody lets its time pass.
    const clock = createVirtualClock(0);
    const model = failing('a', [{ kind: 'overloaded', retryAfterMs: 50_000 }], clock);
    const running = run([model], clock, 5, controller.signal);
    await expect.poll(() => model.calls).toHaveLength(1);
    controller.abort();
    expect(failureIn((await running).outcome).kind).toBe('cancelled');
    expect(model.calls).toHaveLength(1);
  });
});

describe('an outage', () => {
  const patience = { ms: limits.outagePatienceMs, onlyFree: false };
  const down = { kind: 'network', unsent: true } as const;
  /** Fails in ways that no script knows. */
  const unwell = (id: string, errors: readonly (Kind | Omit<ModelFailure, 'message'>)[], clock: Clock): Model => {
    const left = [...errors];
    const well = failing(id, [], clock);
    const ask: Model['ask'] = async (request) => {
      const next = left.shift();
      if (next === undefined) return await well.ask(request);
      return { kind: 'failed', error: { ...(typeof next === 'string' ? { kind: next } : next), message: 'Away.' } };
    };
    return { ...well, ask };
  };
  const asked = (models: readonly Model[], clock: Clock, more: Partial<Patience> = {}, maxRetries = 5) =>
    run(models, clock, maxRetries, undefined, { ...patience, ...more });

  it('is waited for beyond the number of tries, with pauses that do not grow for ever', async () => {
    const clock = jumpingClock();
    const { outcome, failed } = await asked([unwell('a', Array(14).fill(down), clock)], clock);
    expect(answerIn(outcome).served).toBe('a');
    expect(failed).toHaveLength(14);
    expect(clock.elapsed()).toBeGreaterThan(27_000);
    for (const wait of clock.waits) expect(wait).toBeLessThanOrEqual(limits.retryPauseMs);
  });

  it('is not waited for longer than that, from its beginning on', async () => {
    for (const kind of ['network', 'timeout', 'overloaded'] as const) {
      const clock = jumpingClock();
      const { outcome, failed } = await asked([unwell('a', Array(999).fill(kind), clock)], clock);
      expect(failureIn(outcome).kind).toBe(kind);
      expect(failed.at(-1)).toMatchObject({ final: true });
      expect(clock.elapsed()).toBeLessThanOrEqual(limits.outagePatienceMs);
      expect(clock.elapsed()).toBeGreaterThan(limits.outagePatienceMs - limits.retryPauseMs);
    }
  });

  it('is waited for as long as the provider asks, if that is not too long', async () => {
    const clock = jumpingClock();
    const later = (retryAfterMs: number) => ({ kind: 'overloaded', status: 503, retryAfterMs }) as const;
    const { outcome } = await asked([unwell('a', [later(240_000)], clock)], clock);
    expect(answerIn(outcome).served).toBe('a');
    expect(clock.elapsed()).toBeGreaterThanOrEqual(240_000);
    const tooLong = await asked([unwell('b', [later(240_000), later(240_000)], clock)], clock);
    expect(failureIn(tooLong.outcome).kind).toBe('overloaded');
    expect(tooLong.failed).toHaveLength(2);
  });

  it('is none where somebody answers, or has begun to, or where it does not pass', async () => {
    const others = [
      { kind: 'rate_limited' },
      { kind: 'bad_response' },
      { kind: 'overloaded', status: 500 },
      { kind: 'network', begun: true },
      { kind: 'network', unsent: true, lasting: true },
    ] as const;
    for (const one of others) {
      const clock = jumpingClock();
      expect((await asked([unwell('a', Array(99).fill(one), clock)], clock)).failed).toHaveLength(6);
    }
    for (const status of [408, 502, 503, 504, 529]) {
      const clock = jumpingClock();
      const gone = { kind: status === 408 ? 'timeout' : 'overloaded', status } as const;
      expect((await asked([unwell('a', Array(7).fill(gone), clock)], clock)).failed).toHaveLength(7);
    }
  });

  it('is not waited for again where others have waited as long, and only for what is left of it', async () => {
    const soFar = (ms: number) => ({ soFar: async (model: string) => (model === 'a' ? ms : 0) });
    const clock = jumpingClock();
    const over = await asked([unwell('a', Array(99).fill(down), clock)], clock, soFar(limits.outagePatienceMs));
    expect(over.failed).toHaveLength(1);
    const left = jumpingClock();
    await asked([unwell('a', Array(99).fill(down), left)], left, soFar(limits.outagePatienceMs - 60_000), 0);
    expect(left.elapsed()).toBeLessThanOrEqual(60_000);
    // The next of the list may be asked, and waited for.
    const other = jumpingClock();
    const models = [unwell('a', Array(99).fill(down), other), unwell('b', Array(9).fill(down), other)];
    expect((await asked(models, other, soFar(limits.outagePatienceMs))).outcome.kind).toBe('answer');
  });

  it('ends with what is no outage, once the tries are used up', async () => {
    const clock = jumpingClock();
    const { outcome, failed } = await asked([unwell('a', [...Array(8).fill(down), 'bad_response'], clock)], clock);
    expect(failureIn(outcome).kind).toBe('bad_response');
    expect(failed).toHaveLength(9);
  });

  it('is waited for only as long as tries are free, where they must be', async () => {
    const clock = jumpingClock();
    const free = await asked([unwell('a', Array(9).fill(down), clock)], clock, { onlyFree: true });
    expect(free.outcome.kind).toBe('answer');
    const dear = await asked([unwell('a', Array(9).fill('timeout'), clock)], clock, { onlyFree: true });
    expect(dear.failed).toHaveLength(6);
    const none = await asked([unwell('a', Array(9).fill(down), clock)], clock, { ms: 0 }, 0);
    expect(none.failed).toHaveLength(1);
  });

  it('is left at once by whoever cancels', async () => {
    const controller = new AbortController();
    const clock = createVirtualClock(0);
    const model = failing('a', [{ kind: 'overloaded', status: 503, retryAfterMs: 200_000 }], clock);
    const running = run([model], clock, 0, controller.signal, patience);
    await expect.poll(() => model.calls).toHaveLength(1);
    controller.abort();
    expect(failureIn((await running).outcome).kind).toBe('cancelled');
  });
});

describe('a fan-out against a server with a rate limit', () => {
  it('slows down instead of failing: all of 50 succeed, none is lost', async () => {
    const clock = createVirtualClock(0);
    const limited = await startLimitedServer(clock, { perWindow: 8, windowMs: 100 });
    const { server } = limited;
    const model = await openModel(serverCatalogue(server), 'openai/m-1');
    const { busy, counted } = countingCalls(model);
    const random = seededRandom(3);
    const quota = createQuota({ clock, random, concurrency: 50 });
    const asking = Array.from({ length: 50 }, (_, index) => {
      const request = modelRequest({ messages: [userText(`caller ${index}`)] });
      return askWithRetries([counted], request, { maxRetries: 5, clock, random, quota });
    });
    const outcomes = await whileTimePasses(Promise.all(asking), clock, busy);
    const texts = outcomes.map((outcome) => JSON.stringify(answerIn(outcome).message.content));
    for (const [index, text] of texts.entries()) expect(text).toContain(`answer caller ${index}"`);
    expect(limited.refused()).toBeGreaterThan(0);
    expect(server.requests.length).toBeLessThan(150);
    await server.close();
  });
});

/** Takes so many requests within a window of time and refuses the rest until the next one begins. */
async function startLimitedServer(clock: Clock, { perWindow, windowMs }: { perWindow: number; windowMs: number }) {
  let windowStart = Number.NEGATIVE_INFINITY;
  let inWindow = 0;
  let refused = 0;
  const server = await startModelServer((request) => {
    if (clock.elapsed() - windowStart > windowMs) {
      windowStart = clock.elapsed();
      inWindow = 0;
    }
    inWindow += 1;
    if (inWindow > perWindow) {
      refused += 1;
      return { fault: 'status', status: 429, headers: { 'retry-after-ms': String(windowMs) } };
    }
    return { text: `answer ${JSON.stringify(request.body['messages']).match(/caller \d+/)?.[0]}` };
  });
  return { server, refused: () => refused };
}

function countingCalls(model: Model): { readonly counted: Model; busy(): boolean } {
  let underWay = 0;
  const ask: Model['ask'] = async (request) => {
    underWay += 1;
    try {
      return await model.ask(request);
    } finally {
      underWay -= 1;
    }
  };
  return { counted: { ...model, ask }, busy: () => underWay > 0 };
}

/** Time goes on when nobody is asking any more: everybody who is left waits for it. */
async function whileTimePasses<T>(work: Promise<T>, clock: VirtualClock, busy: () => boolean): Promise<T> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  work.then(end, end);
  while (!over) {
    await new Promise((resolve) => setImmediate(resolve));
    if (!busy() && !over) clock.advance();
  }
  return await work;
}
