/**
 * Sub-agents as tools: what the model sees of them. They are called by the runtime, as child runs; the tools here only say
 * what there is and what it takes.
 */

import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { FINAL_REPORT } from '../../loop/final-report.ts';
import type { Pattern } from '../../patterns/pattern.ts';
import { modelName } from '../../tools/mcp/model-name.ts';
import type { AgentTool, ServiceTool, Tool } from '../../tools/port.ts';
import { missing } from '../reachable.ts';

export const ASK_CLARIFICATION = 'ask_clarification';
export const DISMISS_AGENT = 'dismiss_agent';

/** What the runtime may add to an agent's tools, beside those of patterns: a sub-agent of such a name is called differently. */
const RESERVED = [ASK_CLARIFICATION, DISMISS_AGENT, FINAL_REPORT];

const REASON = {
  type: 'string',
  description: 'Why you call this agent: one sentence for the record. It is not shown to the agent.',
};

/** Tools for the agents a definition names. `taken` are the names of its other tools. */
export async function agentTools(
  definition: AgentDefinition,
  find: (name: string) => Promise<AgentDefinition | undefined>,
  taken: ReadonlySet<string>,
  patterns: readonly Pattern[],
): Promise<Result<Tool[], Failure>> {
  const tools: AgentTool[] = [];
  const names = new Set([...taken, ...RESERVED, ...patterns.flatMap((pattern) => pattern.tools ?? [])]);
  for (const name of definition.agents ?? []) {
    const agent = await find(name);
    if (agent === undefined) return fail(missing(definition, { target: name, kind: 'sub-agent' }));
    const tool = agentTool(agent, toolName(name, names));
    names.add(tool.name);
    tools.push(tool);
  }
  return ok(tools.some((tool) => tool.agent.chat) ? [...tools, clarificationTool, dismissalTool] : tools);
}

function toolName(agent: string, taken: ReadonlySet<string>): string {
  const plain = agent.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return /^[a-zA-Z0-9_-]{1,64}$/.test(plain) && plain === agent && !taken.has(plain) ? plain : modelName('agent', agent, taken);
}

function agentTool(agent: AgentDefinition, name: string): AgentTool {
  return {
    name,
    description: agent.description ?? `Gives a task to the agent ${agent.name} and returns its answer.`,
    inputSchema: inputSchema(agent),
    replay: 'safe',
    kind: 'agent',
    agent: {
      name: agent.name,
      chat: agent.chat === true,
      maxTurns: agent.maxTurns ?? limits.maxTurns,
      takesJson: agent.input?.schema !== undefined,
      isRemote: agent.remote !== undefined,
    },
  };
}

function inputSchema(agent: AgentDefinition): JsonObject {
  const own = agent.input?.schema as JsonObject | undefined;
  if (own === undefined) {
    const prompt = {
      type: 'string',
      description: 'The whole task, with everything the agent needs to know. It sees nothing else.',
    };
    return {
      type: 'object',
      properties: { prompt, reason: REASON },
      required: ['prompt', 'reason'],
      additionalProperties: false,
    };
  }
  const properties = own['properties'] as JsonObject | undefined;
  const required = Array.isArray(own['required']) ? own['required'] : [];
  return { ...own, properties: { ...properties, reason: REASON }, required: [...required, 'reason'] };
}

/** `ids`: those that can be named, where that is known. */
const idSchema = (description: string, ids: readonly string[] | undefined): JsonObject => ({
  ...{ type: 'string', description },
  ...present({ enum: ids && [...ids] }),
});

export const clarificationSchema = (ids?: readonly string[]): JsonObject => ({
  type: 'object',
  properties: { id: idSchema('The clarification id from its answer', ids), question: { type: 'string' } },
  required: ['id', 'question'],
  additionalProperties: false,
});

export const dismissalSchema = (ids?: readonly string[]): JsonObject => ({
  type: 'object',
  properties: { id: idSchema('The clarification id from its answer', ids) },
  required: ['id'],
  additionalProperties: false,
});

export const clarificationTool: ServiceTool = {
  name: ASK_CLARIFICATION,
  description: 'Asks an agent that has answered you a further question. It remembers everything it did.',
  inputSchema: clarificationSchema(),
  replay: 'safe',
  kind: 'clarification',
};

export const dismissalTool: ServiceTool = {
  name: DISMISS_AGENT,
  description: 'Lets an agent that has answered you go. It cannot be asked any more, nor can the agents that it called.',
  inputSchema: dismissalSchema(),
  replay: 'safe',
  kind: 'dismissal',
};
