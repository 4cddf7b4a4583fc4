/** A process of a cluster, client or worker: the parts of the engine on a ledger in Postgres, with a model elsewhere. */
import { systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { Engine } from '../../../src/engine/port.ts';
import { parseRestateAddress, type RestateAddress } from '../../../src/engine/restate/address.ts';
import { openPostgresLedger } from '../../../src/ledger/postgres/store.ts';
import { type Tool, textResult } from '../../../src/tools/port.ts';
import { createWorld, type World } from '../world.ts';
import { modelAt, reportEffect } from './model.ts';
import { agentsOf, type ScenarioAgents } from './scenario-agents.ts';

export interface ClusterPlan {
  /** What the process calls itself when it asks the model. */
  readonly by: string;
  readonly ledger: string;
  /** Addresses of ingresses, with commas between them. */
  readonly ingress: string;
  readonly name: string;
  readonly port: number;
  readonly model: string;
  readonly cast: ScenarioAgents;
  readonly projectBudget?: EngineOptions['projectBudget'];
  readonly inactivityMs?: number;
  readonly drainMs?: number;
}

export function addressIn({ ingress, name }: ClusterPlan): RestateAddress {
  const hosts = ingress.split(',').map((one) => one.replace('http://', ''));
  const parsed = parseRestateAddress(`restate+http://${hosts.join(',')}/${name}`);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

export async function openClusterWorld(
  plan: ClusterPlan,
  createEngine: (engineOptions: EngineOptions) => Engine,
): Promise<World> {
  const ids = createIds(systemClock, systemRandom);
  const ledger = await openPostgresLedger({ url: plan.ledger, clock: systemClock, ids, validate: true });
  const world = createWorld({
    ledger,
    seed: process.pid,
    brain: modelAt(plan.model, plan.by),
    tools: [tool(plan, 'look', 'safe'), tool(plan, 'act', 'never')],
    engineOptions: { ids, agent: agentsOf(plan.cast), projectBudget: plan.projectBudget, owner: plan.by },
    createEngine,
  });
  const close = async (): Promise<void> => {
    await world.close();
    await ledger.close();
  };
  return { ...world, close };
}

function tool({ model }: ClusterPlan, name: string, replay: 'safe' | 'never'): Tool {
  return {
    name,
    description: name,
    inputSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    replay,
    async run(input, { idempotencyKey }) {
      if (replay === 'never') await reportEffect(model, idempotencyKey);
      return textResult(`${name} ${(input as { name: string }).name} done`);
    },
  };
}
