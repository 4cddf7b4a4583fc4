/** What may be said of an agent that lives elsewhere: not what it has itself, and no secrets. */
import { type Diagnostic, errorAt } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';
import { remoteModel } from './remote.ts';

/** What a file may say of somebody who has instructions, tools and models of their own. */
const BESIDE: ReadonlySet<string> = new Set([
  ...['name', 'description', 'tags', 'examples', 'a2a', 'remote', 'input', 'output', 'chat', 'maxTurns', 'budget'],
  // not keys of the file
  ...['models', 'prompt', 'source'],
]);
const SECRET_HEADER = /auth|token|key|secret|cookie|password/i;

export function checkRemote(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const { remote } = agent;
  if (remote === undefined) return [];
  const refused = Object.keys(agent).filter((key) => !BESIDE.has(key));
  // The models of such an agent are what stands for it; more than that one were named in the file.
  if (agent.models.some((model) => model !== remoteModel(remote))) refused.push('model');
  return [
    ...refused.map((key) =>
      errorAt(
        placeOf([key], 'key'),
        `"${key}" cannot stand beside "a2a": the agent lives elsewhere and has its own`,
        'Remove one of the two. To use the agent in a pattern, name it in the file of another agent.',
      ),
    ),
    ...Object.entries(remote.headers ?? {})
      .filter(([name, value]) => SECRET_HEADER.test(name) && !value.includes('${'))
      .map(([name]) =>
        errorAt(
          placeOf(['a2a', 'headers', name]),
          `the header ${name} looks like a secret, which has no place in a file`,
          `Put it into a variable of the environment and write \${NAME}.`,
        ),
      ),
  ];
}
