/**
 * What may be done in the name of a client outside. It is recorded where the run starts and holds for everything below it, in
 * whichever process that goes on; a run without such bounds is the owner's own.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { executorModel } from '../../agents/definition/executor.ts';
import { edgeOf, referencesOf } from '../../agents/definition/references.ts';
import { bareExecutor, isBareExecutor } from '../../agents/definition/to-definition.ts';
import type { ClientRights } from '../../events/assistants.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { RunOrigin } from '../../events/run-origin.ts';
import type { AgentAccess } from '../options.ts';
import { brokenReference } from '../reachable.ts';
import type { DrivenRun } from '../record/driven-run.ts';

export function rightsOf(node: DrivenRun): ClientRights | undefined {
  const origin = originAbove(node);
  return origin.kind === 'client' ? origin.rights : undefined;
}

/** In whose name the run works; the owner's own work has no name. */
export function callerOf(node: DrivenRun): string {
  const origin = originAbove(node);
  return origin.kind === 'client' ? origin.by : '';
}

function originAbove(node: DrivenRun): DrivenRun['started']['origin'] {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  return root.started.origin;
}

/** An agent that may not be spawned does not exist for whoever asks. */
export function mayBeSpawned(rights: ClientRights | undefined, agent: string): boolean {
  return rights?.spawn === undefined || rights.spawn.includes(agent);
}

/** Whether somebody outside has named what only a file may name. Work that is done again has had its name before. */
export const namedFromOutside = (agent: AgentDefinition, origin: RunOrigin, retries: string | undefined): boolean =>
  isBareExecutor(agent) &&
  retries === undefined &&
  (origin.kind === 'client' || (origin.kind === 'person' && origin.client === 'api'));

/** Why the agent may not start: somebody whom it calls is missing, or it may not work for this client. */
export async function startProblem(
  options: Pick<AgentAccess, 'agent' | 'commandsOf'>,
  agent: AgentDefinition,
  rights: ClientRights | undefined,
): Promise<Failure | undefined> {
  return (await brokenReference(agent, options.agent)) ?? (await commandsRefusal(options, agent, rights));
}

/** Why the agent may not work for a client: it, or somebody whom it may call, runs commands. */
export async function commandsRefusal(
  options: Pick<AgentAccess, 'agent' | 'commandsOf'>,
  agent: AgentDefinition,
  rights: ClientRights | undefined,
): Promise<Failure | undefined> {
  const allowed = rights?.commands ?? 'all';
  if (allowed === 'all') return undefined;
  const seen = new Set([agent.name]);
  const left = [agent];
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const how = allowed.includes(one.name) ? undefined : options.commandsOf?.(one);
    if (how !== undefined) return refusal(agent.name, one.name, how);
    for (const { target, kind } of referencesOf(one)) {
      if (seen.has(target)) continue;
      seen.add(target);
      const bare = edgeOf(kind).orExecutor === true ? bareExecutor(executorModel({ name: target })) : undefined;
      const next = (await options.agent(target)) ?? bare;
      if (next !== undefined) left.push(next);
    }
  }
  return undefined;
}

function refusal(asked: string, agent: string, how: string): Failure {
  const who = asked === agent ? asked : `${asked} may call ${agent}, which`;
  return {
    code: 'commands_refused',
    message: `Not spawned: ${who} can run commands (${how}), as the same user as the runs of all other callers of this server.`,
    fix:
      `The owner allows it with serve: { commands: [${agent}] } in troupe.yaml, or all with commands: allow or ` +
      'troupe serve --allow-commands.',
  };
}
