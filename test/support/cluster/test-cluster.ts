/** A whole cluster for a test: Restate, Postgres and a model that counts, with a client on them; workers come and go. */
import type { RunId, SessionId } from '../../../src/base/ids.ts';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { registerWorkers } from '../../../src/cluster/register.ts';
import type { RestateServer } from '../../../src/cluster/restate-server.ts';
import type { RunHandle } from '../../../src/engine/port.ts';
import { createRestateEngine } from '../../../src/engine/restate/engine.ts';
import type { Budget } from '../../../src/events/catalogue.ts';
import { userText } from '../../../src/events/messages.ts';
import { type PostgresServer, startPostgres } from '../ledger/postgres-server.ts';
import type { Scenario } from '../patterns/scenarios.ts';
import type { World } from '../world.ts';
import { type CountingModel, startCountingModel } from './model.ts';
import { startRestateNodes } from './restate-server.ts';
import { brainOf, sessionIn } from './scenario-agents.ts';
import { createWorkers, type Workers } from './workers.ts';
import { addressIn, type ClusterPlan, openClusterWorld } from './world.ts';

/** What a session plays. */
export type ClusterScenario = Pick<Scenario, 'agents' | 'prompt' | 'brain'>;

export interface TestCluster {
  readonly nodes: readonly RestateServer[];
  readonly postgres: PostgresServer;
  readonly model: CountingModel;
  readonly plan: ClusterPlan;
  readonly client: World;
  readonly workers: Workers;
  /** Has Restate call the workers at this port. */
  register(port?: number): Promise<void>;
  /** The run with this number, in a session of its own. */
  start(scene: number, number: number, budget?: Budget): Promise<RunHandle>;
  session(scene: number, number: number): SessionId;
  close(): Promise<void>;
}

export interface TestClusterOptions {
  readonly nodes?: number;
  readonly delayMs?: () => number;
  readonly plan?: Partial<ClusterPlan>;
}

export async function openTestCluster(
  scenes: readonly ClusterScenario[],
  options: TestClusterOptions = {},
): Promise<TestCluster> {
  const [nodes, postgres] = await Promise.all([startRestateNodes(options.nodes ?? 1), startPostgres()]);
  const [port = 0] = await freePorts([0]);
  const model = await startCountingModel(brainOf(scenes), options.delayMs ?? (() => 0));
  const plan: ClusterPlan = {
    by: 'client',
    ledger: postgres.address('cluster'),
    ingress: nodes.map(({ ingress }) => ingress).join(','),
    name: 'cluster',
    port,
    model: model.url,
    cast: scenes.map(({ agents }) => agents),
    ...options.plan,
  };
  const workers = createWorkers(plan);
  const client = await openClusterWorld(plan, (engineOptions) => createRestateEngine(engineOptions, addressIn(plan)));
  return {
    ...{ nodes, postgres, model, plan, client, workers },
    register: (at = port) => registerWorkers(nodes[0]?.admin ?? '', `http://127.0.0.1:${at}`),
    session: sessionIn,
    async start(scene, number, budget) {
      const { agents = [], prompt = '' } = scenes[scene] ?? {};
      const run = `run_${String(number).padStart(20, '0')}` as RunId;
      const more = { session: sessionIn(scene, number), run, budget };
      const started = await client.engine.start({
        ...{ agent: agents[0]?.name ?? '', input: userText(prompt), workspace: '.' },
        ...more,
      });
      if (started.kind !== 'started') throw new Error(JSON.stringify(started));
      return started.handle;
    },
    async close() {
      await workers.stop();
      await client.close();
      await model.close();
      await Promise.all([...nodes.map((node) => node.stop()), postgres.stop()]);
    },
  };
}
