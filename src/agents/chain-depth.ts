/**
 * Chains of agents that name each other deeper than a tree of runs may be, or than the budget of one of them lets its own be.
 * Whatever runs them would be refused in the middle, when everything above is paid for.
 */
import { limits } from '../base/limits.ts';
import { edgeOf, type Reference, referencesOf } from './definition/references.ts';
import type { LoadedAgent } from './file/load.ts';
import { type Diagnostic, errorAt } from './text/diagnostics.ts';

interface Level {
  /** How many runs lie below one of this agent, along its longest way down. */
  readonly below: number;
  /** The first step of that way. */
  readonly next: Reference | undefined;
}

const NOBODY: Level = { below: 0, next: undefined };

type Agents = ReadonlyMap<string, LoadedAgent>;
type Named = (definition: LoadedAgent['definition']) => readonly Reference[];

/** Only for agents that do not call each other in a circle. */
export function checkDepth(agents: readonly LoadedAgent[]): readonly Diagnostic[] {
  const byName = new Map(agents.map((agent) => [agent.definition.name, agent]));
  return [...deeperThanRuns(agents, byName), ...deeperThanBudgets(agents, byName)];
}

function deeperThanRuns(agents: readonly LoadedAgent[], byName: Agents): readonly Diagnostic[] {
  const levels = levelsOf(byName, others);
  const tooDeep = agents.filter(({ definition }) => (levels.get(definition.name)?.below ?? 0) > limits.runDepth);
  const named = new Set(tooDeep.flatMap(({ definition }) => others(definition).map(({ target }) => target)));
  // Whoever is named by one that is too deep itself is part of the same chain.
  return tooDeep
    .filter(({ definition }) => !named.has(definition.name))
    .map((agent) => {
      const { below, next } = levels.get(agent.definition.name) ?? NOBODY;
      const depth = `${below} levels deep, more than ${limits.runDepth} (limit runDepth)`;
      const message = `agents call each other ${depth}: ${wayFrom(agent, byName, levels)}`;
      return errorAt(agent.placeOf(next?.path ?? []), message, 'Shorten the chain: let one of them do the work of several.');
    });
}

/** Along those who are sure to be asked: whom a model chooses may be meant to find no room. */
function deeperThanBudgets(agents: readonly LoadedAgent[], byName: Agents): readonly Diagnostic[] {
  const levels = levelsOf(byName, surelyAsked);
  return agents.flatMap((agent) => {
    const { name, budget } = agent.definition;
    const { below } = levels.get(name) ?? NOBODY;
    if (budget?.depth === undefined || below <= budget.depth || below > limits.runDepth) return [];
    const way = wayFrom(agent, byName, levels);
    const message = `those below it are sure to be ${below} levels deep, more than its budget.depth: ${way}`;
    return [errorAt(agent.placeOf(['budget', 'depth']), message, `Set budget.depth to ${below} or more, or shorten the chain.`)];
  });
}

const others: Named = (definition) => referencesOf(definition).filter(({ target }) => target !== definition.name);
const surelyAsked: Named = (definition) => others(definition).filter(({ kind }) => edgeOf(kind).byChoice !== true);

/** Deepest first and without recursion: a folder may hold thousands of agents in one chain. */
function levelsOf(agents: Agents, named: Named): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>();
  for (const start of agents.keys()) {
    const way = [start];
    for (let name = way.at(-1); name !== undefined; name = way.at(-1)) {
      const agent = agents.get(name);
      const below = agent === undefined ? [] : named(agent.definition);
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
  let level = NOBODY;
  for (const next of references) {
    const below = 1 + (levels.get(next.target)?.below ?? 0);
    if (below > level.below) level = { below, next };
  }
  return level;
}

/** The longest way down. */
function wayFrom(top: LoadedAgent, agents: Agents, levels: ReadonlyMap<string, Level>): string {
  const { below, next } = levels.get(top.definition.name) ?? NOBODY;
  const steps: string[] = [top.definition.name];
  for (let step = next; step !== undefined && steps.length <= limits.runDepth + 1; step = levels.get(step.target)?.next) {
    steps.push(`-(${step.kind})-> ${step.target}`);
    if (!agents.has(step.target)) break;
  }
  return `${steps.join(' ')}${below > steps.length - 1 ? ' …' : ''}`;
}
