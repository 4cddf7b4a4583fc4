/** What `troupe doctor` looks at when the project's runs are worked on by a cluster: its servers, and whether workers answer. */

import { limits } from '../../base/limits.ts';
import { createAdmin } from '../../cluster/admin.ts';
import { findAdmin } from '../../cluster/find-admin.ts';
import { request } from '../../cluster/request.ts';
import { workersAt } from '../../cluster/workers-at.ts';
import type { RestateAddress } from '../../engine/restate/address.ts';
import type { Finding } from '../../front/project/finding.ts';
import { isLoopback } from '../../http/names.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { readableDuration } from '../../projections/readable.ts';
import type { CommandContext } from '../terminal/command.ts';

const ANSWER_MS = 3_000;

export async function ingressFinding({ ingress }: RestateAddress, { ledgerAddress }: ProjectConfig): Promise<Finding> {
  const about = 'restate';
  const looked = await Promise.all(
    ingress.map(async (address) => ({ address, answered: await request(`${address}/restate/health`, undefined, ANSWER_MS) })),
  );
  const silent = looked.filter(({ answered }) => answered.kind === 'silent' || !answered.ok).map(({ address }) => address);
  if (silent.length === ingress.length)
    return {
      about,
      state: 'broken',
      text: `no answer at ${silent.join(', ')}`,
      fix: 'start it (troupe cluster up for a trial), or correct `engine` in troupe.yaml',
    };
  if (silent.length > 0)
    return { about, state: 'note', text: `no answer at ${silent.join(', ')}; the others answer`, fix: 'look at that server' };
  if (ledgerAddress.kind === 'sqlite')
    return {
      about,
      state: 'note',
      text: `answers at ${ingress.join(', ')}, but the ledger is a file: workers must be on this machine`,
      fix: 'move it: troupe ledger copy sqlite:… postgres://…',
    };
  return { about, state: 'good', text: `answers at ${ingress.join(', ')}` };
}

/** The admin port is private: not reaching it from here is no fault. */
export async function adminFinding(context: CommandContext, cluster: RestateAddress, config: ProjectConfig): Promise<Finding> {
  const about = 'restate-admin';
  const address = await findAdmin(cluster, undefined, context.terminal.env, config.home);
  const admin = createAdmin(address);
  try {
    const [version, nodes, time] = await Promise.all([admin.version(), admin.nodes(), admin.time()]);
    const now = context.clock.now();
    const skew = Math.abs((time ?? now) - now);
    const text = `version ${version}, ${nodes === 1 ? 'one server' : `${nodes} servers`}, at ${address}`;
    if (skew <= limits.clockSkewMs) return { about, state: 'good', text };
    const fix = 'have both machines keep time (NTP): timers fire by the clock of Restate';
    return { about, state: 'note', text: `${text}; its clock is ${readableDuration(skew)} off this one`, fix };
  } catch {
    const fix =
      'only needed to register workers and to look: name it in TROUPE_RESTATE_ADMIN, or run doctor where it can be reached';
    return { about, state: 'note', text: `no answer at ${address}`, fix };
  }
}

export async function workersFinding(context: CommandContext, cluster: RestateAddress, config: ProjectConfig): Promise<Finding> {
  const about = 'workers';
  const admin = createAdmin(await findAdmin(cluster, undefined, context.terminal.env, config.home));
  const deployments = await admin.deployments().catch(() => undefined);
  if (deployments === undefined) return { about, state: 'note', text: 'not looked at: the admin port does not answer' };
  const newest = deployments.find(({ services }) => services.includes(`${cluster.name}-run`));
  if (newest === undefined)
    return { about, state: 'broken', text: `none registered for ${cluster.name}`, fix: 'start one: troupe worker' };
  if ((await workersAt(newest.uri)).answers) return { about, state: 'good', text: `answer at ${newest.uri}` };
  const here = URL.canParse(newest.uri) && isLoopback(new URL(newest.uri).hostname);
  const text = `no answer at ${newest.uri}${here ? '' : ' from this machine'}`;
  return { about, state: here ? 'broken' : 'note', text, fix: 'start one: troupe worker; Restate must reach it there' };
}
