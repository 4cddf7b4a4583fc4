/**
 * A worker: answers Restate's calls and works on the runs that it is assigned, so many at a time. Told to stop, it takes no new
 * work, leaves what it has after a while, and Restate gives that to others.
 */

import { createEndpointHandler } from '@restatedev/restate-sdk/fetch';
import { sleep } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { EngineOptions } from '../options.ts';
import { assistantLimits } from '../spawning/bounds.ts';
import { createSlots } from '../spawning/slots.ts';
import type { RestateAddress } from './address.ts';
import { createIngress } from './ingress.ts';
import { createServices, type WorkOrder } from './services.ts';
import { type WorkOutcome, type Workplace, workOn } from './work.ts';

export interface RestateWorker {
  /** What Restate talks to, over HTTP. */
  handle(request: Request): Promise<Response>;
  /** How many runs are being worked on. */
  working(): number;
  /** Lets what is under way come to its end for a while, then leaves it. */
  drain(): Promise<void>;
}

export interface WorkerOptions {
  readonly engineOptions: EngineOptions;
  readonly address: RestateAddress;
  readonly concurrency?: number | undefined;
  readonly drainMs?: number | undefined;
  readonly inactivityMs?: number | undefined;
  /** Whoever calls must hold the private half of one of these; without any, whoever reaches the port is believed. */
  readonly identityKeys?: readonly string[] | undefined;
}

export function createRestateWorker(options: WorkerOptions): RestateWorker {
  const { engineOptions, address } = options;
  const ingress = createIngress(address, engineOptions.clock);
  const stopping = new AbortController();
  const underWay = new Set<Promise<unknown>>();
  const room = createRoom(options.concurrency ?? limits.workerConcurrency);
  const slots = createSlots(assistantLimits(engineOptions).active);
  let draining = false;

  const work = async ({ session, run }: WorkOrder, attempt: AbortSignal): Promise<WorkOutcome> => {
    const place: Workplace = {
      engineOptions,
      slots,
      start: ingress.startChild,
      poke: ingress.poke,
      stopping: AbortSignal.any([stopping.signal, attempt]),
    };
    await room.enter(place.stopping);
    try {
      if (draining || place.stopping.aborted) throw new TroupeError('stopping', 'This worker is stopping.');
      return await workOn(place, session, run);
    } finally {
      room.leave();
    }
  };
  const counted = (order: WorkOrder, attempt: AbortSignal): Promise<WorkOutcome> => {
    const piece = work(order, attempt);
    const over = piece.then(
      () => undefined,
      () => undefined,
    );
    underWay.add(over);
    void over.then(() => underWay.delete(over));
    return piece;
  };
  const isOpen = async (run: RunId): Promise<boolean> => (await engineOptions.ledger.runs({ run }))[0]?.endedAt === null;
  const handler = createEndpointHandler({
    services: createServices(address.name, { work: counted, isOpen }, options.inactivityMs),
    bidirectional: true,
    ...present({ identityKeys: options.identityKeys && [...options.identityKeys] }),
    logger: () => undefined,
  });
  return {
    handle: (request) => handler(request),
    working: () => underWay.size,
    async drain() {
      draining = true;
      const done = new AbortController();
      const idle = Promise.all(underWay).then(() => done.abort());
      await sleep(engineOptions.clock, options.drainMs ?? limits.workerDrainMs, done.signal);
      stopping.abort();
      await idle;
    },
  };
}

/** So many at a time; the others wait in the order they came. */
function createRoom(most: number) {
  let inside = 0;
  const queue = new Set<() => void>();
  return {
    async enter(signal: AbortSignal): Promise<void> {
      if (inside >= most && !signal.aborted)
        await new Promise<void>((resolve) => {
          queue.add(resolve);
          const giveUp = (): void => {
            queue.delete(resolve);
            resolve();
          };
          signal.addEventListener('abort', giveUp, { once: true });
        });
      inside += 1;
    },
    leave(): void {
      inside -= 1;
      const [next] = queue;
      if (next === undefined) return;
      queue.delete(next);
      next();
    },
  };
}
