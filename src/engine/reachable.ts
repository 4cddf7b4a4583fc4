/**
 * Whether everybody that an agent may call exists and nobody calls themselves through others. Looked at before a run starts:
 * a missing agent at the end of a chain would otherwise be found when everything before it is paid for, and a circle never.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { edgeOf, type Reference, referencesOf } from '../agents/definition/references.ts';
import type { Failure } from '../events/catalogue.ts';

type Find = (name: string) => Promise<AgentDefinition | undefined>;

/** An agent on the way from the first one, and what it names that was not followed yet. */
interface Stop {
  readonly agent: AgentDefinition;
  readonly left: Reference[];
  /** How it was named by the one before. */
  readonly kind: string;
}

export async function brokenReference(first: AgentDefinition, find: Find): Promise<Failure | undefined> {
  const seen = new Set<string>();
  const way: Stop[] = [];
  const enter = (agent: AgentDefinition, kind: string): void => {
    seen.add(agent.name);
    way.push({ agent, kind, left: [...referencesOf(agent)] });
  };
  enter(first, '');
  for (let here = way.at(-1); here !== undefined; here = way.at(-1)) {
    const reference = here.left.pop();
    if (reference === undefined) {
      way.pop();
      continue;
    }
    const { target, kind } = reference;
    if (target === here.agent.name && edgeOf(kind).maySelf === true) continue;
    const back = way.findIndex(({ agent }) => agent.name === target);
    if (back !== -1) return circle(way.slice(back), kind);
    if (seen.has(target)) continue;
    const next = await find(target);
    // Whether there is such an executor is seen when it is asked.
    if (next === undefined && edgeOf(kind).orExecutor === true) continue;
    if (next === undefined) return missing(here.agent, reference);
    enter(next, kind);
  }
  return undefined;
}

function circle(stops: readonly Stop[], closing: string): Failure {
  const [first, ...others] = stops;
  const name = first?.agent.name ?? '';
  const path = [name, ...others.map(({ agent, kind }) => `-(${kind})-> ${agent.name}`), `-(${closing})-> ${name}`];
  return {
    code: 'circle',
    message: `Agents call each other in a circle, which would run for ever: ${path.join(' ')}`,
    fix: 'Remove one of these references. `troupe check` says where they stand.',
  };
}

/** An agent that another one names. The one that was asked for itself is `no_agent`. */
export function missing({ name, source }: AgentDefinition, { target, kind }: Pick<Reference, 'target' | 'kind'>): Failure {
  return {
    code: 'missing_agent',
    message: `${source}: there is no agent named ${target} that could run, which ${name} names as ${kind}.`,
    fix: 'If it has a file, `troupe check` says what is wrong with it; `troupe agents list` shows those that there are.',
  };
}
