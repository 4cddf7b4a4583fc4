/** `troupe cluster status`: the servers, where workers answer, and what is under way. */
import { counted } from '../../base/wording.ts';
import { createAdmin, type Deployment, type InvocationCount } from '../../cluster/admin.ts';
import { findAdmin } from '../../cluster/find-admin.ts';
import { workersAt } from '../../cluster/workers-at.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { type CommandContext, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import type { ClusterStatusOptions } from './cluster.ts';

interface ClusterStatus {
  readonly restate: { readonly admin: string; readonly version: string; readonly nodes: number };
  readonly ledger: { readonly address: string; readonly sessions: number; readonly events: number };
  /** Newest first: new runs go to the first, those under way stay where they began. */
  readonly workers: readonly (Deployment & { readonly answers: boolean; readonly working: number | null })[];
  readonly underWay: readonly InvocationCount[];
  readonly runs: Readonly<Record<string, number>>;
}

export async function clusterStatusCommand(context: CommandContext, options: ClusterStatusOptions): Promise<ExitCode> {
  return await withProject(context, { readOnly: true }, async (project) => {
    const status = await statusOf(context, project, options.admin);
    if (options.json) printJson(context, 'cluster status', status);
    else print(context, status);
    return status.workers.some((one) => one.answers) ? exitCodes.completed : exitCodes.failed;
  });
}

async function statusOf(context: CommandContext, project: Project, named: string | undefined): Promise<ClusterStatus> {
  const { cluster, home, ledger: address } = project.config;
  if (cluster === undefined)
    throw usageError('This project has no cluster', 'name one in troupe.yaml (engine: …), or try one: troupe cluster up');
  const found = await findAdmin(cluster, named, context.terminal.env, home);
  const admin = createAdmin(found);
  const [version, nodes, deployments, underWay] = await Promise.all([
    admin.version(),
    admin.nodes(),
    admin.deployments(),
    admin.underWay(cluster.name),
  ]);
  const ours = deployments.filter(({ services }) => services.includes(`${cluster.name}-run`));
  const workers = await Promise.all(ours.map(async (one) => ({ ...one, ...(await workersAt(one.uri)) })));
  const { sessions, events } = await project.ledger.stats();
  return {
    restate: { admin: found, version, nodes },
    ledger: { address, sessions, events },
    workers,
    underWay,
    runs: countStates(await project.ledger.runs({ roots: true, states: ['running', 'waiting', 'paused', 'parked'] })),
  };
}

function countStates(rows: readonly RunRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { running: 0, waiting: 0, paused: 0 };
  for (const { state } of rows) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

function print({ terminal: { out } }: CommandContext, { restate, ledger, workers, underWay, runs }: ClusterStatus): void {
  const { bold, green, red } = out.paint;
  out.line(
    `${bold('restate')}  ${restate.version}, ${restate.nodes === 1 ? 'one server' : `${restate.nodes} servers`}, ${restate.admin}`,
  );
  out.line(`${bold('ledger')}   ${counted(ledger.events, 'event')} in ${counted(ledger.sessions, 'session')}, ${ledger.address}`);
  for (const { uri, answers, working, createdAt } of workers)
    out.line(
      `${bold('workers')}  ${uri} since ${createdAt} ${answers ? green('answers') : red('does not answer')}` +
        `${working === null ? '' : `, ${working} under way in the one that answered`}`,
    );
  if (workers.length === 0) out.line(`${bold('workers')}  none registered; start one: troupe worker`);
  for (const { service, status, count } of underWay) out.line(`${bold('restate')}  ${service}: ${count} ${status}`);
  const states = Object.entries(runs).filter(([, count]) => count > 0);
  out.line(`${bold('runs')}     ${states.map(([state, count]) => `${count} ${state}`).join(', ') || 'none under way'}`);
}
