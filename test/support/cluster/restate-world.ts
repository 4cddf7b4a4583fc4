/**
 * The world of engine tests on Restate: the same agents, brain and tools, with a real Restate server between the engine and a
 * worker. Both are in this process, so that a test can see what the worker does; they share nothing but the ledger.
 */
import { onTestFailed } from 'vitest';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { registerWorkers } from '../../../src/cluster/register.ts';
import { request } from '../../../src/cluster/request.ts';
import type { RestateServer } from '../../../src/cluster/restate-server.ts';
import { serveWorker } from '../../../src/cluster/worker-server.ts';
import { parseRestateAddress } from '../../../src/engine/restate/address.ts';
import { createRestateEngine } from '../../../src/engine/restate/engine.ts';
import { createRestateWorker } from '../../../src/engine/restate/worker.ts';
import { createWorld, type World, type WorldOptions } from '../world.ts';
import { whereItStands } from './where-it-stands.ts';

let names = 0;

/** Where the worlds of one story are found, one after the other: what one leaves behind, the next one goes on with. */
export interface RestatePlace {
  readonly name: string;
  readonly port: number;
}

export interface RestateWorldOptions extends WorldOptions {
  /** Zero forces a replay at every wait. */
  readonly inactivityMs?: number;
  /** One of its own without it. */
  readonly place?: RestatePlace;
  /** What stands between Restate and the worker: given the worker's port, the one that Restate is told. */
  readonly through?: (port: number) => Promise<number>;
}

export async function newRestatePlace(): Promise<RestatePlace> {
  const [port = 0] = await freePorts([0]);
  names += 1;
  return { name: `w${names}`, port };
}

export async function createRestateWorld(server: RestateServer, options: RestateWorldOptions): Promise<World> {
  const { name, port } = options.place ?? (await newRestatePlace());
  const parsed = parseRestateAddress(`restate+${server.ingress}/${name}`);
  if (!parsed.ok) throw new Error(parsed.error);
  const address = parsed.value;
  let closeWorker = async (): Promise<void> => undefined;
  let ready: Promise<void> | undefined;
  const world = createWorld({
    ...options,
    createEngine: (engineOptions) => {
      const worker = createRestateWorker({ engineOptions, address, drainMs: 0, inactivityMs: options.inactivityMs });
      ready = serveWorker({ worker, host: '127.0.0.1', port }).then(async (served) => {
        closeWorker = async () => {
          await worker.drain();
          await served.close();
        };
        const told = await (options.through?.(served.port) ?? served.port);
        await registerWorkers(server.admin, `http://127.0.0.1:${told}`);
      });
      return createRestateEngine(engineOptions, address);
    },
  });
  await ready;
  onTestFailed(async () => void process.stderr.write(await whereItStands(server.admin, name, world.ledger)));
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await world.engine.close();
    await closeWorker();
    if (options.place === undefined) await forgetWork(server.admin, name);
    if (options.ledger === undefined) await world.ledger.close();
  };
  return { ...world, close: () => (closed ??= close()) };
}

/**
 * Ends what Restate still has for a worker that is gone. It would call it for ever, and each such call takes one of the
 * places that a partition has for all (1,000 of them): the next worlds would never be called.
 */
async function forgetWork(admin: string, name: string): Promise<void> {
  const query = `SELECT id FROM sys_invocation WHERE status <> 'completed' AND target_service_name LIKE '${name}-%'`;
  const answered = await request(`${admin}/query`, { query });
  if (answered.kind === 'silent' || !answered.ok)
    throw new Error(`Restate did not say what is left of ${name}: ${JSON.stringify(answered)}`);
  const left: { rows: { id: string }[] } = JSON.parse(answered.text);
  await Promise.all(left.rows.map(({ id }) => fetch(`${admin}/invocations/${id}/kill`, { method: 'PATCH' })));
}
