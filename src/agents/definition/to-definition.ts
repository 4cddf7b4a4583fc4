/** From what a file or a program says to a definition. */
import { present } from '../../base/present.ts';
import { type Diagnostic, errorAt, quote } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import { nameProblem } from './agent-name.ts';
import type { AgentDefinition, Frontmatter } from './definition.ts';
import { executorModel, executorNamed, inPlaceOfModel } from './executor.ts';
import { LOOKING_TOOLS } from './tool-names.ts';

/** `name` counts when the frontmatter gives none. */
export function toDefinition(frontmatter: Frontmatter, name: string, prompt: string, source: string): AgentDefinition {
  const { name: own, model, models, a2a, ...rest } = frontmatter;
  const where = servedOrRemote(a2a);
  const wanted = new Set([model ?? [], models ?? [], inPlaceOfModel({ ...where, executor: rest.executor }) ?? []].flat());
  // Somebody without hands looks, plans and asks unless its file says less.
  const tools = rest.tools ?? (rest.architect === undefined ? undefined : [...LOOKING_TOOLS]);
  return { ...rest, ...present({ tools }), ...where, name: own ?? name, models: [...wanted], prompt, source };
}

const NO_FILE = 'executors';

/** An executor without a file, by a name such as `executor:claude-code`: whoever writes agent files can name it. */
export function bareExecutor(named: string): AgentDefinition | undefined {
  const name = executorNamed(named);
  if (name === undefined) return undefined;
  return { name: named, executor: { name }, models: [executorModel({ name })], prompt: '', source: NO_FILE };
}

/** Nobody but a file's author names such a one: it is in no list, and no file says on what terms it works. */
export const isBareExecutor = ({ name, source, executor }: AgentDefinition): boolean =>
  source === NO_FILE && executor !== undefined && executorNamed(name) === executor.name;

export function checkName(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const problem = nameProblem(agent.name);
  if (problem === undefined) return [];
  return [errorAt(placeOf(['name']), `the name ${quote(agent.name)} ${problem}`, 'Give the agent another `name`.')];
}

/** What the file says, as one of two things. */
function servedOrRemote(a2a: Frontmatter['a2a']): Pick<AgentDefinition, 'a2a' | 'remote'> {
  if (a2a === undefined) return {};
  if (typeof a2a === 'boolean') return { a2a };
  return { remote: typeof a2a === 'string' ? { card: a2a } : a2a };
}
