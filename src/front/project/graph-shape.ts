/** The declared graph as it is drawn: where one can begin, what follows, and what no way leads to. */
import type { Edge } from '../../agents/graph.ts';

export interface GraphShape {
  readonly edges: readonly Edge[];
  /** Agents that name others and that nobody names, or the one that was asked for. */
  readonly entries: readonly string[];
  /** Agents that name nobody and that nobody names. */
  readonly alone: readonly string[];
  /** Agents that no entry leads to. */
  readonly unreachable: readonly string[];
  /** Names without an agent that could be loaded. */
  readonly missing: readonly string[];
}

/** `from` is the agent to begin with; without it every possible beginning is one. */
export function shapeOf(agents: readonly string[], edges: readonly Edge[], from?: string): GraphShape {
  const known = new Set(agents);
  const others = edges.filter(({ from: one, to }) => one !== to);
  const named = new Set(others.map(({ to }) => to));
  const naming = new Set(others.map(({ from: one }) => one));
  const missing = [...named].filter((name) => !known.has(name));
  const alone = from === undefined ? agents.filter((name) => !named.has(name) && !naming.has(name)) : [];
  const entries = from === undefined ? agents.filter((name) => !named.has(name) && naming.has(name)) : [from];
  const reached = reachedFrom([...entries, ...alone], others);
  const unreachable = agents.filter((name) => !reached.has(name));
  const shown = from === undefined ? edges : edges.filter((edge) => reached.has(edge.from));
  return {
    edges: shown,
    entries,
    alone,
    unreachable,
    missing: from === undefined ? missing : missing.filter((one) => reached.has(one)),
  };
}

function reachedFrom(starts: readonly string[], edges: readonly Edge[]): ReadonlySet<string> {
  const next = Map.groupBy(edges, (edge) => edge.from);
  const reached = new Set(starts);
  // A set is walked in the order in which it grows, so what is found on the way is visited, too.
  for (const name of reached) for (const { to } of next.get(name) ?? []) reached.add(to);
  return reached;
}
