/** A group that lasts as a preset, so that others can be made from it. */
import type { AgentDefinition } from '../agents/definition.ts';
import type { PresetContent } from '../agents/preset.ts';
import { workersOf } from '../patterns/group-workers.ts';
import type { SavedGroup } from '../projections/groups.ts';

export function presetOf(group: SavedGroup, name: string): PresetContent {
  const agents = new Map((group.agents as unknown as AgentDefinition[]).map((agent) => [agent.name, agent]));
  const leader = agents.get(group.agent);
  const config = leader?.group;
  const workers = config === undefined ? [] : workersOf(config);
  return {
    name,
    description: leader?.description ?? `The group ${group.name}.`,
    mode: group.mode,
    orchestrator: withoutUndefined({ model: leader?.models[0], prompt: leader?.prompt || undefined }),
    workers: workers.map((worker) => {
      const agent = agents.get(worker.agent);
      const charter = [worker.charter, agent?.prompt].filter((text) => text !== undefined && text !== '').join('\n\n');
      return {
        name: worker.name,
        ...withoutUndefined({ model: worker.model ?? agent?.models[0], charter: charter || undefined, role: agent?.description }),
        tools: [...(agent?.tools ?? [])],
      };
    }),
    ...withoutUndefined({ maxIterations: config?.maxIterations, worktrees: group.strategy }),
  };
}

function withoutUndefined<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
