/**
 * The world of engine tests on Restate: the same agents, brain and tools, with a real Restate server between the engine and a
 * worker. Both are in this process, so that a test can see what the worker does; they share nothing but the ledger.
 */
import { registerWorkers } from '../../src/cluster/register.ts';
import type { RestateServer } from '../../src/cluster/restate-server.ts';
import { serveWorker } from '../../src/cluster/worker-server.ts';
import { parseRestateAddress } from '../../src/engine/restate-address.ts';
import { createRestateEngine } from '../../src/engine/restate-engine.ts';
import { createRestateWorker } from '../../src/engine/restate-worker.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

let names = 0;

export interface RestateWorldOptions extends WorldOptions {
  /** Zero forces a replay at every wait. */
  readonly inactivityMs?: number;
}

export async function createRestateWorld(server: RestateServer, options: RestateWorldOptions): Promise<World> {
  names += 1;
  const parsed = parseRestateAddress(`restate+${server.ingress}/w${names}`);
  if (!parsed.ok) throw new Error(parsed.error);
  const address = parsed.value;
  let close = async (): Promise<void> => undefined;
  let ready: Promise<void> | undefined;
  const world = createWorld({
    ...options,
    createEngine: (parts) => {
      const worker = createRestateWorker({ parts, address, drainMs: 0, inactivityMs: options.inactivityMs });
      ready = serveWorker({ worker, host: '127.0.0.1', port: 0 }).then(async (served) => {
        close = async () => {
          await worker.drain();
          await served.close();
        };
        await registerWorkers(server.admin, `http://127.0.0.1:${served.port}`);
      });
      return createRestateEngine(parts, address);
    },
  });
  await ready;
  return {
    ...world,
    async close() {
      await world.engine.close();
      await close();
      if (options.ledger === undefined) await world.ledger.close();
    },
  };
}
