/** How a server and what it stands on are: everything that can be seen by looking, and nothing that starts something. */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerStats } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { type ClusterStatus, readClusterStatus, unfinishedRuns } from './cluster-status.ts';
import type { Finding } from './finding.ts';
import { agentsFinding, diskFinding, diskSpace, nodeFinding } from './project-findings.ts';

export interface HealthNeeds {
  readonly project: Pick<Project, 'ledger' | 'config' | 'agents' | 'groups' | 'quota' | 'root'>;
  readonly clock: Clock;
  readonly version: string;
}

/** Sizes are counted anew only now and then: that takes longer the more there is, and people leave such pages open. */
export function createHealth({ project, clock, version }: HealthNeeds) {
  const startedAt = new Date(clock.now()).toISOString();
  let counted: { readonly at: number; readonly stats: Promise<LedgerStats> } | undefined;
  const stats = (): Promise<LedgerStats> => {
    if (counted === undefined || clock.elapsed() - counted.at > limits.healthCountsMs)
      counted = { at: clock.elapsed(), stats: project.ledger.stats() };
    return counted.stats;
  };
  return async () => {
    const { config, ledger, quota } = project;
    const [sizes, checked, disk, cluster] = await Promise.all([
      stats(),
      project.agents(),
      diskSpace(project.root),
      clusterOf(project),
    ]);
    const findings: readonly Finding[] = [nodeFinding(), agentsFinding(checked), diskFinding(disk), ...cluster.findings];
    return {
      ok: findings.every(({ state }) => state !== 'broken'),
      ...{ version, node: process.versions.node, startedAt },
      process: { pid: process.pid, memoryBytes: process.memoryUsage.rss() },
      engine: {
        kind: config.cluster === undefined ? ('here' as const) : ('cluster' as const),
        runs: await unfinishedRuns(ledger),
      },
      workers: cluster.status?.workers ?? null,
      ledger: { ledger: config.ledger, kind: config.ledgerAddress.kind, ...sizes },
      ...{ quota: quota.accounts(), disk, findings },
    };
  };
}

interface LookedAtCluster {
  readonly status?: ClusterStatus;
  readonly findings: readonly Finding[];
}

async function clusterOf(project: HealthNeeds['project']): Promise<LookedAtCluster> {
  const { cluster } = project.config;
  if (cluster === undefined) return { findings: [] };
  try {
    const status = await readClusterStatus(project, cluster, undefined);
    if (status.workers.some(({ answers }) => answers)) return { status, findings: [] };
    const text = status.workers.length === 0 ? `none registered for ${cluster.name}` : 'none of them answers from this machine';
    return { status, findings: [{ about: 'workers', state: 'note', text, fix: 'start one: troupe worker' }] };
  } catch (error) {
    const fix = 'only needed to look: name it in TROUPE_RESTATE_ADMIN';
    return { findings: [{ about: 'restate-admin', state: 'note', text: messageOf(error), fix }] };
  }
}
