/** What may be said of an agent that lives elsewhere, or that an executor works for: not what it has itself, and no secrets. */
import { type Diagnostic, errorAt } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';
import { inPlaceOfModel } from './executor.ts';

/** What a file may say of somebody who has instructions, tools and models of their own. */
const BESIDE_CARD: ReadonlySet<string> = new Set([
  ...['name', 'description', 'tags', 'examples', 'a2a', 'remote', 'input', 'output', 'chat', 'maxTurns', 'budget'],
  // not keys of the file
  ...['models', 'prompt', 'source'],
]);
const SECRET_HEADER = /auth|token|key|secret|cookie|password/i;

export function checkRemote(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const { remote } = agent;
  if (remote === undefined) return [];
  const refused = Object.keys(agent).filter((key) => !BESIDE_CARD.has(key));
  // The models of such an agent are what stands for it; more than that one were named in the file.
  if (agent.models.some((model) => model !== inPlaceOfModel(agent))) refused.push('model');
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

/** What a file may say beside it: who it is, what holds for any run, what goes before it and behind it. */
const BESIDE_EXECUTOR: ReadonlySet<string> = new Set([
  ...['name', 'description', 'tags', 'examples', 'a2a', 'input', 'output', 'chat', 'maxTurns', 'budget'],
  ...['executor', 'mcp', 'permissions', 'verify', 'advisors', 'handoff'],
  // not keys of the file; `remote` is told by its own check
  ...['models', 'prompt', 'source', 'remote'],
]);

/** Patterns in which the agent's own loop calls tools of ours. */
const NEEDS_LOOP: ReadonlySet<string> = new Set(['agents', 'router', 'team', 'group', 'dispatch', 'architect']);

export function checkExecutor(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const { executor, remote } = agent;
  if (executor === undefined || remote !== undefined) return [];
  const refused = Object.keys(agent).filter((key) => !BESIDE_EXECUTOR.has(key));
  if (agent.models.some((model) => model !== inPlaceOfModel(agent))) refused.push('model');
  return refused.map((key) => errorAt(placeOf([key], 'key'), `"${key}" cannot stand beside "executor": ${why(key)}`, fix(key)));
}

function why(key: string): string {
  return NEEDS_LOOP.has(key) ? 'an executor has none of the tools that it takes' : 'the executor has its own';
}

function fix(key: string): string {
  if (key === 'model') return 'Write the model under `executor.model`, in the words of the executor.';
  if (NEEDS_LOOP.has(key)) return 'Put the pattern into an agent of its own and name this one there.';
  return 'Remove one of the two.';
}
