/**
 * What a run brings along where others work on it: its agents, and the settings it was started under. So a worker needs neither
 * the files of the project nor the options of the command, and a file that changes meanwhile changes nothing of a run under way.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import type { Verify } from '../../agents/definition/verify.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { convergenceOf } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import { stricter } from '../../permissions/rule-map.ts';
import { decide, type Permissions } from '../../tools/permissions.ts';
import type { AgentAccess, ModelAccess, ProjectRules, ToolAccess } from '../options.ts';

export const BROUGHT_STEP = 'brought';

type Brought = Payloads['session.brought'];

export async function bringAlong(options: AgentAccess & ProjectRules, root: AgentDefinition): Promise<Result<Brought, Failure>> {
  const found = new Map([[root.name, root]]);
  const pending = [root];
  for (let agent = pending.pop(); agent !== undefined; agent = pending.pop()) {
    for (const { target } of referencesOf(agent)) {
      const next = found.has(target) ? undefined : await options.agent(target);
      if (next === undefined) continue;
      if (found.size >= limits.agentFilesPerFolder) return fail(tooMany(root));
      found.set(target, next);
      pending.push(next);
    }
  }
  const agents = [...found.values()];
  const files = await filesOf(options, agents);
  const { vars, models, permissions, verify } = options.settings ?? {};
  return ok({
    agents: agents.map(asJson),
    ...present({
      files: Object.keys(files).length === 0 ? undefined : files,
      vars: vars === undefined || Object.keys(vars).length === 0 ? undefined : { ...vars },
      models: models === undefined || models.length === 0 ? undefined : [...models],
      permissions: permissions === undefined || permissions.length === 0 ? undefined : permissions.map(asJson),
      verify: verify === undefined ? undefined : asJson(verify),
    }),
  });
}

/** Whether somebody among them hands out tasks, which need the files that they are about. */
export function handsOutTasks({ patterns = registeredPatterns }: AgentAccess, { agents }: Brought): boolean {
  return agents.some((agent) => convergenceOf(patterns, agent as unknown as AgentDefinition) !== undefined);
}

/** Everything here came from a schema of zod, so it is JSON. */
const asJson = (value: AgentDefinition | Permissions | Verify): Json => value as unknown as Json;

async function filesOf(options: AgentAccess, agents: readonly AgentDefinition[]): Promise<Record<string, string>> {
  const named = agents.flatMap(({ group }) => [group?.sharedContext, group?.routingContext]);
  const files: Record<string, string> = {};
  for (const file of named.filter((one) => typeof one === 'string')) {
    const read = await options.contextFile?.(file);
    if (read?.ok === true) files[file] = read.value;
  }
  return files;
}

function tooMany({ name }: AgentDefinition): Failure {
  const most = `${limits.agentFilesPerFolder} agents (agentFilesPerFolder)`;
  const message = `${name} can come to more than ${most}, too many to bring along.`;
  return { code: 'limit', message, fix: 'Name fewer agents, or run it in one process: engine: embedded.' };
}

/** What the root run of a session has brought along, if it has. */
export function broughtBy(events: readonly LedgerEvent[], root: string): Brought | undefined {
  const found = events.findLast((event) => event.event_type === 'session.brought' && event.run_id === root);
  return found?.event_type === 'session.brought' ? found.payload : undefined;
}

/** This machine's own, under what the run has brought along. */
export function withBrought<Options extends AgentAccess & ModelAccess & ToolAccess & ProjectRules>(
  options: Options,
  brought: Brought | undefined,
): Options {
  if (brought === undefined) return options;
  const agents = new Map(brought.agents.map((json) => json as unknown as AgentDefinition).map((agent) => [agent.name, agent]));
  const rules = (brought.permissions ?? []).map((json) => json as unknown as Permissions);
  const { files = {}, vars, models = [], verify } = brought;
  return {
    ...options,
    agent: async (name, session) => agents.get(name) ?? (await options.agent(name, session)),
    prompt: (agent, workspace) => options.prompt(agent, workspace, vars),
    contextFile: async (file) => {
      const text = files[file];
      if (text !== undefined) return ok(text);
      return (await options.contextFile?.(file)) ?? fail({ message: `${file} did not come with the run.` });
    },
    defaultModels: async () => (models.length > 0 ? ok(models) : await options.defaultModels()),
    permission: (agent, tool, call) =>
      stricter(options.permission(agent, tool, call), decide(tool, agent.permissions, rules, call)),
    projectVerify: (verify as unknown as Verify | undefined) ?? options.projectVerify,
  };
}
