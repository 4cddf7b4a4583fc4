/** Every agent as an MCP prompt: a client that has a model of its own can borrow the agent's words for it. */
import { type McpServer, type Prompt, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { suggest } from '../../base/did-you-mean.ts';
import { limits } from '../../base/limits.ts';
import { firstLine } from '../../projections/readable.ts';
import { agentsFor, type McpCaller, type McpNeeds } from './needs.ts';
import { pageOf } from './pages.ts';

const DESCRIPTION_CHARACTERS = 300;

export function servePrompts({ server }: McpServer, needs: McpNeeds, caller: McpCaller): void {
  server.setRequestHandler('prompts/list', async ({ params }) => {
    const { entries, ...rest } = pageOf(await agentsFor(needs, caller), (agent) => agent.name, params?.cursor);
    return { prompts: entries.map(promptEntry), ...rest };
  });
  server.setRequestHandler('prompts/get', async ({ params }) => {
    const all = await agentsFor(needs, caller);
    const agent = all.find((one) => one.name === params.name);
    if (agent === undefined) throw unknownPrompt(params.name, all);
    const task = params.arguments?.['task'];
    if (task === undefined || task === '') throw refusal(`The prompt "${params.name}" needs the argument task`);
    if (task.length > limits.promptBytes) throw refusal(`The argument task has more than ${limits.promptBytes} characters`);
    const text = `${needs.agents.promptOf(agent).trim()}\n\nYour task:\n\n${task}`;
    return { description: descriptionOf(agent), messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
}

function promptEntry(agent: AgentDefinition): Prompt {
  return {
    name: agent.name,
    description: descriptionOf(agent),
    arguments: [{ name: 'task', description: `What ${agent.name} is to do`, required: true }],
  };
}

function descriptionOf({ name, description }: AgentDefinition): string {
  return description === undefined ? `The agent ${name}` : firstLine(description, DESCRIPTION_CHARACTERS);
}

function unknownPrompt(name: string, agents: readonly AgentDefinition[]): ProtocolError {
  const names = agents.map((agent) => agent.name);
  return refusal(`There is no prompt "${name}". ${suggest(name, names, 'prompts') ?? 'There are no agents yet.'}`);
}

function refusal(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}
