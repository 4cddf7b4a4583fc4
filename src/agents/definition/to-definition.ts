/** From what a file or a program says to a definition. */
import { type Diagnostic, errorAt, quote } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import { nameProblem } from './agent-name.ts';
import type { AgentDefinition, Frontmatter } from './definition.ts';

/** `name` counts when the frontmatter gives none. */
export function toDefinition(frontmatter: Frontmatter, name: string, prompt: string, source: string): AgentDefinition {
  const { name: own, model, models, ...rest } = frontmatter;
  const wanted = new Set([model ?? [], models ?? []].flat());
  return { ...rest, name: own ?? name, models: [...wanted], prompt, source };
}

export function checkName(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const problem = nameProblem(agent.name);
  if (problem === undefined) return [];
  return [errorAt(placeOf(['name']), `the name ${quote(agent.name)} ${problem}`, 'Give the agent another `name`.')];
}
