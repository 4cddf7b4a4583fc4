/** What must hold within one agent file beyond the types of its keys. */

import { type Diagnostic, errorAt, quote, warningAt } from '../text/diagnostics.ts';
import type { Path, PlaceOf } from '../text/yaml-map.ts';
import { checkArchitect } from './check-architect.ts';
import { checkDispatch } from './check-dispatch.ts';
import { checkExecutor, checkRemote } from './check-own-models.ts';
import type { AgentDefinition } from './definition.ts';
import { schemaProblems } from './plausible-schema.ts';
import { edgeOf, referencesOf } from './references.ts';

/** A run has one core; without any of these it is a plain session. */
const CORES = ['team', 'group', 'dispatch', 'architect'] as const;

/** `partly`: keys of which something is refused, so that what they lack is not held against them. */
export function checkDefinition(
  agent: AgentDefinition,
  placeOf: PlaceOf,
  partly: ReadonlySet<string> = new Set(),
): readonly Diagnostic[] {
  return [
    ...checkCores(agent, placeOf),
    ...(partly.has('group') ? [] : checkWorkers(agent, placeOf)),
    ...checkSelf(agent, placeOf),
    ...checkTeam(agent, placeOf),
    ...checkDispatch(agent, placeOf, partly.has('dispatch')),
    ...checkArchitect(agent, placeOf),
    ...checkDuplicates(agent, placeOf),
    ...checkFormats(agent, placeOf),
    ...checkRemote(agent, placeOf),
    ...checkExecutor(agent, placeOf),
  ];
}

function checkCores(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const declared = CORES.filter((core) => agent[core] !== undefined);
  const [first, ...others] = declared;
  if (first === undefined) return [];
  const problems = others.map((core) =>
    errorAt(
      placeOf([core], 'key'),
      `"${core}" cannot stand beside "${first}": an agent has one core pattern`,
      `Keep one of ${declared.join(', ')}; put the other into an agent of its own and name that one.`,
    ),
  );
  if (agent.router === undefined) return problems;
  const fix = 'A router is a plain session that chooses. Move the destinations to an agent that this one hands off to.';
  return [...problems, errorAt(placeOf(['router'], 'key'), `"router" cannot stand beside "${first}"`, fix)];
}

/** Only a loop can do without workers: then the agent reviews its own work. */
function checkWorkers({ group }: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  if (group === undefined || group.workers !== undefined || group.mode === 'reflect') return [];
  const fix = 'Name the agents under `workers`, or write `mode: reflect` for an agent that reviews its own work.';
  return [errorAt(placeOf(['group'], 'key'), `a group of mode ${group.mode} needs "workers"`, fix)];
}

function checkSelf(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  return referencesOf(agent)
    .filter(({ kind, target }) => target === agent.name && edgeOf(kind).maySelf !== true)
    .map(({ kind, path }) => {
      const place = placeOf(path);
      return errorAt(place, `the agent names itself as ${kind}: it would run for ever`, 'Name another agent, or remove it.');
    });
}

function checkTeam({ name, team }: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const supervisor = team?.supervisor ?? name;
  const index = team?.members.indexOf(supervisor) ?? -1;
  // An agent that lists itself is told by the check of what names itself.
  if (index === -1 || supervisor === name) return [];
  const message = `${quote(supervisor)} leads the team and cannot be one of its members`;
  return [errorAt(placeOf(['team', 'members', index]), message, 'Keep it as the supervisor or as a member.')];
}

function checkDuplicates(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const { tools, tags, examples, agents, advisors, router, team, group, dispatch, architect } = agent;
  // Two workers may be the same agent with other models, as long as they answer to different names.
  const workers = group?.workers?.map((worker) => (typeof worker === 'string' ? worker : (worker.name ?? worker.agent)));
  const lists: readonly (readonly [Path, readonly string[] | undefined])[] = [
    [['tools'], tools],
    [['tags'], tags],
    [['examples'], examples],
    [['agents'], agents],
    [['advisors'], advisors],
    [['router', 'destinations'], router?.destinations],
    [['team', 'members'], team?.members],
    [['group', 'workers'], workers],
    [['dispatch', 'agents'], dispatch?.agents],
    [['dispatch', 'priority'], dispatch?.priority],
    [['architect', 'fallbackExecutors'], architect?.fallbackExecutors],
  ];
  return lists.flatMap(([path, list]) => duplicates(path, list ?? [], placeOf));
}

function duplicates(path: Path, list: readonly string[], placeOf: PlaceOf): readonly Diagnostic[] {
  const seen = new Set<string>();
  const problems: Diagnostic[] = [];
  for (const [index, entry] of list.entries()) {
    if (seen.has(entry))
      problems.push(errorAt(placeOf([...path, index]), `${quote(entry)} is listed twice in "${path.join('.')}"`, 'Keep one.'));
    seen.add(entry);
  }
  return problems;
}

function checkFormats(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  return (['input', 'output'] as const).flatMap((side) => {
    const { schema, format } = agent[side] ?? {};
    if (schema === undefined) return [];
    const problems = schemaProblems(schema).map(({ path, message, fix }) =>
      errorAt(placeOf([side, 'schema', ...path]), message, fix),
    );
    if (format === undefined || format === 'json') return problems;
    const message = `"${side}.schema" needs the format json, not ${format}`;
    return [...problems, errorAt(placeOf([side, 'format']), message, 'Write `format: json`, or remove the schema.')];
  });
}

export function checkPrompt(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  if (agent.remote !== undefined) return agent.prompt === '' ? [] : [unsaid(placeOf)];
  // The request alone is enough for an executor.
  if (agent.prompt !== '' || agent.executor !== undefined) return [];
  return [warningAt(placeOf([]), 'the prompt is empty', 'Write below the second `---` what the agent is to do.')];
}

const unsaid = (placeOf: PlaceOf): Diagnostic =>
  warningAt(placeOf(['a2a'], 'key'), 'the text below is a note: it is not sent to an agent that lives elsewhere');
