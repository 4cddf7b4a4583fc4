/** `troupe cluster status`: the servers, where workers answer, and what is under way. */
import { counted } from '../../base/wording.ts';
import { type ClusterStatus, readClusterStatus } from '../../front/project/cluster-status.ts';
import type { Project } from '../../project/project.ts';
import { type CommandContext, callOf, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import type { ClusterStatusOptions } from './cluster.ts';

export async function clusterStatusCommand(context: CommandContext, options: ClusterStatusOptions): Promise<ExitCode> {
  return await withProject(context, { readOnly: true }, async (project) => {
    const status = await statusOf(project, options.admin);
    if (options.json) printJson(context, 'cluster status', status);
    else print(context, status);
    return status.workers.some((one) => one.answers) ? exitCodes.completed : exitCodes.failed;
  });
}

async function statusOf(project: Project, named: string | undefined): Promise<ClusterStatus> {
  const { cluster } = project.config;
  if (cluster === undefined)
    throw usageError('This project has no cluster', 'name one in troupe.yaml (engine: …), or try one: troupe cluster up');
  return await readClusterStatus(project, cluster, named);
}

function print(context: CommandContext, { restate, ledger, workers, underWay, runs }: ClusterStatus): void {
  const { out } = context.terminal;
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
  if (workers.length === 0) out.line(`${bold('workers')}  none registered; start one: ${callOf(context)} worker`);
  for (const { service, status, count } of underWay) out.line(`${bold('restate')}  ${service}: ${count} ${status}`);
  const states = Object.entries(runs).filter(([, count]) => count > 0);
  out.line(`${bold('runs')}     ${states.map(([state, count]) => `${count} ${state}`).join(', ') || 'none under way'}`);
}
