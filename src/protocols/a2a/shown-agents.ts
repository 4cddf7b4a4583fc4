/** Which agents peers find: nothing is shown unless an agent's own file or the project's settings say so. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { A2aNeeds } from './needs.ts';

/** Every agent that is shown, by name. */
export async function shownAgents({
  agents,
  settings,
}: Pick<A2aNeeds, 'agents' | 'settings'>): Promise<readonly AgentDefinition[]> {
  const named = new Set(settings.agents ?? []);
  if (settings.house !== undefined) named.add(settings.house);
  return (await agents.list()).filter(({ name, a2a }) => a2a === true || named.has(name));
}
