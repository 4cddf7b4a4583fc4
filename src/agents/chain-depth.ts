/**
 * Chains of agents that name each other deeper than a tree of runs may be. Whatever runs them would be refused in the middle,
 * when everything above is paid for.
 */
import { limits } from '../base/limits.ts';
import { type Reference, referencesOf } from './definition/references.ts';
import type { LoadedAgent } from './file/load.ts';
import { type Diagnostic, errorAt } from './text/diagnostics.ts';

interface Level {
  /** How many runs lie below one of this agent, along its longest way down. */
  readonly below: number;
  /** The first step of that way. */
  readonly next: Reference | undefined;
}

/** Only for agents that do not call each other in a circle. */
export function checkDepth(agents: readonly LoadedAgent[]): readonly Diagnostic[] {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]));
  const levels = levelsOf(byName);
  const tooDeep = agents.filter(({ definition }) => (levels.get(definition.name)?.below ?? 0) > limits.runDepth);
  const named = new Set(tooDeep.flatMap(({ definition }) => others(definition).map(({ target }) => target)));
  // Whoever is named by one that is too deep itself is part of the same chain.
  return tooDeep.filter(({ definition }) => !named.has(definition.name)).map((agent) => describe(agent, byName, levels));
}

const others = (definition: LoadedAgent['definition']): readonly Reference[] =>
  referencesOf(definition).filter(({ target }) => target !== definition.name);

/** Deepest first and without recursion: a folder may hold thousands of agents in one chain. */
function levelsOf(agents: ReadonlyMap<string, LoadedAgent>): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>();
  for (const start of agents.keys()) {
    const way = [start];
    for (let name = way.at(-1); name !== undefined; name = way.at(-1)) {
      const agent = agents.get(name);
      const below = agent === undefined ? [] : others(agent.definition);
      const unknown = below.find(({ target }) => agents.has(target) && !levels.has(target));
      if (unknown !== undefined && !levels.has(name)) {
        way.push(unknown.target);
        continue;
      }
      way.pop();
      if (!levels.has(name)) levels.set(name, levelOf(below, levels));
    }
  }
  return levels;
}

function levelOf(references: readonly Reference[], levels: ReadonlyMap<string, Level>): Level {
  let level: Level = { below: 0, next: undefined };
  for (const next of references) {
    const below = 1 + (levels.get(next.target)?.below ?? 0);
    if (below > level.below) level = { below, next };
  }
  return level;
}

function describe(top: LoadedAgent, agents: ReadonlyMap<string, LoadedAgent>, levels: ReadonlyMap<string, Level>): Diagnostic {
  const { below, next } = levels.get(top.definition.name) ?? { below: 0, next: undefined };
  const steps: string[] = [top.definition.name];
  for (let step = next; step !== undefined && steps.length <= limits.runDepth + 1; step = levels.get(step.target)?.next) {
    steps.push(`-(${step.kind})-> ${step.target}`);
    if (!agents.has(step.target)) break;
  }
  const more = below > steps.length - 1 ? ' …' : '';
  const depth = `${below} levels deep, more than ${limits.runDepth} (limit runDepth)`;
  const message = `agents call each other ${depth}: ${steps.join(' ')}${more}`;
  return errorAt(top.placeOf(next?.path ?? []), message, 'Shorten the chain: let one of them do the work of several.');
}
