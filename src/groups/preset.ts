/** A group that lasts as a preset, so that others can be made from it. */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { presetFromAgents } from '../agents/presets/from-agents.ts';
import type { PresetContent } from '../agents/presets/preset.ts';
import type { SavedGroup } from '../projections/groups.ts';

/** `undefined` when the group has no workers. */
export function presetOfGroup(group: SavedGroup, name: string): PresetContent | undefined {
  const agents = group.agents as unknown as readonly AgentDefinition[];
  const made = presetFromAgents(agents, group.agent, group.preset ?? name);
  if (made === undefined) return undefined;
  return { ...made, name, mode: group.mode, worktrees: group.strategy };
}
