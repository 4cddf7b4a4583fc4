/**
 * Whether anybody is there to do what an agent hands over to executors, and somewhere to do it. Looked at before its model is
 * asked for the first time, where executors would be started: otherwise it would be paid for a plan that nobody can carry out.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { executorNamed } from '../agents/definition/executor.ts';
import { edgeOf, referencesOf } from '../agents/definition/references.ts';
import { present } from '../base/present.ts';
import type { Failure } from '../events/catalogue.ts';
import type { ExecutorFailure } from '../executors/port.ts';
import { wantsPlaces } from '../patterns/pattern.ts';
import { registeredPatterns } from '../patterns/registered.ts';
import type { AgentAccess, ExecutorAccess, TaskAccess } from './options.ts';

type KnowsExecutors = Pick<AgentAccess, 'agent'> & Pick<ExecutorAccess, 'executors'>;

/** Before a run that is driven here. */
export async function nobodyToWork(
  options: KnowsExecutors & Pick<AgentAccess, 'patterns'> & TaskAccess,
  agent: AgentDefinition,
  folder: string,
): Promise<Failure | undefined> {
  const { places, patterns = registeredPatterns } = options;
  const nowhere = wantsPlaces(patterns, agent) ? await places?.problem?.(folder) : undefined;
  if (nowhere !== undefined) {
    const fix = `${nowhere.fix ?? ''} Or leave out "workspace: worktree" of ${agent.name}: the folder is worked in as it is.`;
    return { ...nowhere, fix: fix.trim() };
  }
  return await noExecutor(options, agent, folder);
}

/** Where they would be started. */
export async function noExecutor(
  { agent: find, executors }: KnowsExecutors,
  agent: AgentDefinition,
  folder: string,
): Promise<Failure | undefined> {
  if (executors === undefined) return undefined;
  const missing: ExecutorFailure[] = [];
  for (const { kind, target } of referencesOf(agent)) {
    if (edgeOf(kind).orExecutor !== true) continue;
    const name = executorNamed(target) ?? (await executorBehind(target, find));
    // An agent with hands of its own.
    if (name === undefined) return undefined;
    const problem = await executors.missing(name, folder);
    if (problem === undefined) return undefined;
    missing.push(problem);
  }
  const [first, ...others] = missing;
  if (first === undefined) return undefined;
  const why = [first, ...others].map(({ message }) => message).join(' ');
  const message = `Nobody is here who could do the work of ${agent.name}. ${why}`;
  return { code: 'executor_unavailable', message, ...present({ fix: first.fix }) };
}

/** A name stands for an agent where there is one, and that one may have an executor. */
async function executorBehind(name: string, find: AgentAccess['agent']): Promise<string | undefined> {
  const agent = await find(name);
  return agent === undefined ? name : agent.executor?.name;
}
