/** What must hold of a dispatch: its templates have room for what they are about, and everybody it ranks can answer. */
import { nearest } from '../../base/did-you-mean.ts';
import { type Diagnostic, errorAt, quote, warningAt } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';
import { hasPlace, TEMPLATE_PLACES } from './places.ts';
import { clarifier } from './references.ts';

type Dispatch = NonNullable<AgentDefinition['dispatch']>;

/** `isPart`: something of it is refused, and whom else it may have named is not known. */
export function checkDispatch({ dispatch, output }: AgentDefinition, placeOf: PlaceOf, isPart: boolean): readonly Diagnostic[] {
  if (dispatch === undefined) return [];
  return [
    ...(isPart ? [] : [...checkAgents(dispatch, placeOf), ...checkPriority(dispatch, placeOf)]),
    ...checkTemplates(dispatch, placeOf),
    ...checkOutput(output, placeOf),
  ];
}

function checkAgents({ agents, fallback }: Dispatch, placeOf: PlaceOf): readonly Diagnostic[] {
  if (agents.length > 0) return [];
  const all = fallback === undefined ? 'every request fails' : `every request goes to ${quote(fallback)}`;
  return [
    warningAt(placeOf(['dispatch', 'agents']), `there is nobody to choose from: ${all}`, 'Name the agents under `agents`.'),
  ];
}

function checkPriority(dispatch: Dispatch, placeOf: PlaceOf): readonly Diagnostic[] {
  const { agents, fallback, priority = [] } = dispatch;
  const known = [...agents, fallback, clarifier(dispatch)].filter((name) => name !== undefined);
  return priority.flatMap((name, index) => {
    if (known.includes(name)) return [];
    const near = nearest(name, known);
    const fix = near === undefined ? 'Name agents that are listed under `agents`.' : `Did you mean "${near}"?`;
    return [errorAt(placeOf(['dispatch', 'priority', index]), `${quote(name)} has priority but is not dispatched to`, fix)];
  });
}

function checkTemplates(dispatch: Dispatch, placeOf: PlaceOf): readonly Diagnostic[] {
  const problems = Object.entries(TEMPLATE_PLACES).flatMap(([key, places]) =>
    withoutPlace(dispatch, key as keyof typeof TEMPLATE_PLACES, places, placeOf),
  );
  // Whoever asks the user in words of its own need not repeat the request; an agent that is to ask has to know it.
  if (clarifier(dispatch) === undefined) return problems;
  return [...problems, ...withoutPlace(dispatch, 'clarificationPromptTemplate', [['request', '0']], placeOf)];
}

function withoutPlace(
  dispatch: Dispatch,
  key: keyof typeof TEMPLATE_PLACES | 'clarificationPromptTemplate',
  places: readonly (readonly string[])[],
  placeOf: PlaceOf,
): readonly Diagnostic[] {
  const template = dispatch[key];
  if (template === undefined) return [];
  return places
    .filter((names) => !hasPlace(template, names))
    .map(([name]) =>
      errorAt(placeOf(['dispatch', key]), `"dispatch.${key}" has no {${name}}`, `Write {${name}} where it belongs.`),
    );
}

/** The answers of several agents are put together as text. */
function checkOutput(output: AgentDefinition['output'], placeOf: PlaceOf): readonly Diagnostic[] {
  if (output?.schema === undefined && output?.format !== 'json') return [];
  const fix = 'Remove it, or hand the answer over to an agent that gives it this form: `handoff`.';
  return [errorAt(placeOf(['output'], 'key'), '"output" as JSON cannot stand beside "dispatch"', fix)];
}
