/** Agents as models: what a client lists and names. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { openAgents } from '../../front/chat/needs.ts';
import type { EdgeReply, EdgeRequest } from '../edges/edge.ts';
import { errorReply, notDone } from './errors.ts';
import type { OpenAiNeeds } from './needs.ts';

/** They are files, and have no birthday. */
const modelOf = ({ name, description }: AgentDefinition) => ({
  ...{ id: name, object: 'model', created: 0, owned_by: 'troupe', description },
});

export async function answerModels({ chat }: OpenAiNeeds, { caller, path }: EdgeRequest): Promise<EdgeReply> {
  const agents = await openAgents(chat, caller);
  const name = path.slice(1).join('/');
  if (name === '') return { kind: 'value', status: 200, value: { object: 'list', data: agents.map(modelOf) } };
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return { kind: 'value', status: 200, value: modelOf(found) };
  return errorReply(
    notDone({ why: 'unknown', code: 'no_agent', message: `There is no agent ${JSON.stringify(name.slice(0, 100))}.` }),
  );
}
