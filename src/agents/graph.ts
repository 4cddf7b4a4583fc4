/** How agents name each other: the edges of the graph, names that lead nowhere, and circles, which would run for ever. */

import { suggest } from '../base/did-you-mean.ts';
import { checkDepth } from './chain-depth.ts';
import type { AgentDefinition } from './definition/definition.ts';
import { executorNamed } from './definition/executor.ts';
import { type EdgeKind, edgeOf, type Reference, referencesOf } from './definition/references.ts';
import type { LoadedAgent } from './file/load.ts';
import { type Diagnostic, errorAt, quote } from './text/diagnostics.ts';
import type { Path } from './text/yaml-map.ts';

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly kind: EdgeKind;
}

/** Everything the files declare, whether the other end exists or not. */
export function edges(agents: readonly AgentDefinition[]): readonly Edge[] {
  return agents.flatMap((agent) => referencesOf(agent).map(({ kind, target }) => ({ from: agent.name, to: target, kind })));
}

/** `broken` are names whose file has problems of its own, `salvaged` what could be read of them. */
export function checkGraph(
  agents: readonly LoadedAgent[],
  broken: ReadonlySet<string> = new Set(),
  salvaged: readonly LoadedAgent[] = [],
  /** Names of executors; where they are not known, nobody is missed who might be one. */
  executors?: readonly string[],
): readonly Diagnostic[] {
  // Whoever is sound counts where two have one name.
  const all = [...new Map([...salvaged, ...agents].map((agent) => [agent.definition.name, agent])).values()];
  const missing = [
    ...missingAgents(agents, broken, salvaged, executors),
    ...unknownExecutors([...agents, ...salvaged], executors),
  ];
  return [...missing, ...circles(all), ...checkDepth(apartFromCircles(all))];
}

/** Those from whom no way leads into a circle. Whoever names only such agents is one: from the ends of the graph upwards. */
function apartFromCircles(agents: readonly LoadedAgent[]): readonly LoadedAgent[] {
  const known = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const callers = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const { definition } of agents) {
    const targets = new Set(referencesOf(definition).map(({ target }) => target));
    targets.delete(definition.name);
    const others = [...targets].filter((target) => known.has(target));
    open.set(definition.name, others.length);
    for (const target of others) callers.set(target, [...(callers.get(target) ?? []), definition.name]);
  }
  const ends = [...open].flatMap(([name, left]) => (left === 0 ? [name] : []));
  // The list grows while it is walked.
  for (const end of ends) {
    for (const caller of callers.get(end) ?? []) {
      const left = (open.get(caller) ?? 0) - 1;
      open.set(caller, left);
      if (left === 0) ends.push(caller);
    }
  }
  return ends.flatMap((name) => known.get(name) ?? []);
}

function missingAgents(
  agents: readonly LoadedAgent[],
  broken: ReadonlySet<string>,
  salvaged: readonly LoadedAgent[],
  executors: readonly string[] | undefined,
): readonly Diagnostic[] {
  const isExecutor = (kind: EdgeKind, name: string): boolean =>
    executorNamed(name) !== undefined ||
    (edgeOf(kind).orExecutor === true && (executors === undefined || executors.includes(name)));
  const names = agents.map((agent) => agent.definition.name);
  const known = new Set(names);
  return [...agents, ...salvaged].flatMap(({ definition, placeOf }) =>
    referencesOf(definition)
      .filter(({ kind, target }) => !known.has(target) && !broken.has(target) && !isExecutor(kind, target))
      .map(({ kind, target, path }) => {
        const others = names.filter((name) => name !== definition.name);
        const either = edgeOf(kind).orExecutor === true;
        const near = suggest(target, either ? [...others, ...(executors ?? [])] : others, 'agents');
        const fix = near ?? 'Write a file for it in the agents folder.';
        const what = either ? 'no agent and no executor' : 'no agent';
        return errorAt(placeOf(path), `there is ${what} ${quote(target)} (named as ${kind})`, fix);
      }),
  );
}

/** Executors that nobody knows: the agent's own, and where it names one in the place of an agent. */
function unknownExecutors(agents: readonly LoadedAgent[], known: readonly string[] | undefined): readonly Diagnostic[] {
  if (known === undefined) return [];
  return agents.flatMap(({ definition, placeOf }) => {
    const own = definition.executor === undefined ? [] : [{ name: definition.executor.name, path: ['executor'] as Path }];
    const others = referencesOf(definition).map(({ target, path }) => ({ name: executorNamed(target), path }));
    return [...own, ...others].flatMap(({ name, path }) => {
      if (name === undefined || known.includes(name)) return [];
      const fix = suggest(name, known, 'executors') ?? 'Name it in executors.yaml.';
      return [errorAt(placeOf(path), `there is no executor ${quote(name)}`, fix)];
    });
  });
}

/** One step of a way through the graph: who names whom. */
interface Step {
  readonly agent: LoadedAgent;
  readonly reference: Reference;
}

const CIRCLES_MAX = 20;

/**
 * Walks depth first, without recursion, and looks at every edge once: an edge back into the way that led here closes a circle.
 * Not every circle of a tangle is listed, but no tangle is without one.
 */
function circles(agents: readonly LoadedAgent[]): readonly Diagnostic[] {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const done = new Set<string>();
  const found: Diagnostic[] = [];
  for (const start of agents) {
    const way: { readonly agent: LoadedAgent; readonly left: Reference[] }[] = [];
    const enter = (agent: LoadedAgent): void => {
      done.add(agent.definition.name);
      way.push({ agent, left: referencesOf(agent.definition).toReversed() });
    };
    const onWay: Step[] = [];
    if (!done.has(start.definition.name)) enter(start);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const reference = top.left.pop();
      if (reference === undefined) {
        way.pop();
        onWay.pop();
        continue;
      }
      const step: Step = { agent: top.agent, reference };
      const next = byName.get(reference.target);
      // An agent that names itself is either allowed to or already told by the check of its own file.
      if (next === undefined || next === top.agent) continue;
      const back = way.findIndex(({ agent }) => agent === next);
      if (back !== -1) found.push(describeCircle([...onWay.slice(back), step]));
      else if (!done.has(reference.target)) {
        onWay.push(step);
        enter(next);
      }
      if (found.length >= CIRCLES_MAX) return found;
    }
  }
  return found;
}

const STEPS_SHOWN_MAX = 20;

/** `a -(handoff)-> b -(router)-> a`, reported where the first of them names the second. */
function describeCircle(steps: readonly Step[]): Diagnostic {
  const shown = steps.length > STEPS_SHOWN_MAX ? [...steps.slice(0, STEPS_SHOWN_MAX - 1), ...steps.slice(-1)] : steps;
  const path = shown.map(({ agent, reference }, index) => {
    const gap = shown.length < steps.length && index === shown.length - 1 ? '… ' : '';
    return `${gap}${agent.definition.name} -(${reference.kind})-> `;
  });
  const [first] = steps;
  const name = first?.agent.definition.name ?? '';
  const place = first?.agent.placeOf(first.reference.path) ?? { file: '', line: 1, column: 1 };
  return errorAt(place, `agents call each other in a circle: ${path.join('')}${name}`, 'Remove one of these references.');
}
