/** The cluster that works on a project's runs: its servers, where workers answer, and what is under way. */
import { createAdmin, type Deployment, type InvocationCount } from '../../cluster/admin.ts';
import { findAdmin } from '../../cluster/find-admin.ts';
import { workersAt } from '../../cluster/workers-at.ts';
import type { RestateAddress } from '../../engine/restate/address.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';

export interface ClusterStatus {
  readonly restate: { readonly admin: string; readonly version: string; readonly nodes: number };
  readonly ledger: { readonly address: string; readonly sessions: number; readonly events: number };
  /** Newest first: new runs go to the first, those under way stay where they began. */
  readonly workers: readonly (Deployment & { readonly answers: boolean; readonly working: number | null })[];
  readonly underWay: readonly InvocationCount[];
  readonly runs: Readonly<Record<string, number>>;
}

type Reading = Pick<Project, 'config' | 'ledger' | 'groups'>;

/** `named` is where its admin port is, when somebody said so. Throws when nobody answers there. */
export async function readClusterStatus(
  { config, ledger, groups }: Reading,
  cluster: RestateAddress,
  named: string | undefined,
): Promise<ClusterStatus> {
  const found = await findAdmin(cluster, named, groups.env, config.home);
  const admin = createAdmin(found);
  const [version, nodes, deployments, underWay] = await Promise.all([
    admin.version(),
    admin.nodes(),
    admin.deployments(),
    admin.underWay(cluster.name),
  ]);
  const ours = deployments.filter(({ services }) => services.includes(`${cluster.name}-run`));
  const workers = await Promise.all(ours.map(async (one) => ({ ...one, ...(await workersAt(one.uri)) })));
  const { sessions, events } = await ledger.stats();
  return {
    restate: { admin: found, version, nodes },
    ledger: { address: config.ledger, sessions, events },
    workers,
    underWay,
    runs: await unfinishedRuns(ledger),
  };
}

/** How many root runs stand how. */
export async function unfinishedRuns(ledger: Pick<Ledger, 'runs'>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = { running: 0, waiting: 0, paused: 0 };
  for (const { state } of await ledger.runs({ roots: true, states: ['running', 'waiting', 'paused', 'parked'] }))
    counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
