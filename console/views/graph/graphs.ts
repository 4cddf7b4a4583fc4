/** What is drawn of a session and of the files of agents. */

import { counted } from '../../../src/base/wording.ts';
import { addSpending, noSpending } from '../../../src/projections/costs.ts';
import { readableCost } from '../../../src/projections/readable.ts';
import type { RunNode, RunTree } from '../../../src/projections/run-tree.ts';
import { subtreeSpending } from '../../../src/projections/run-tree.ts';
import type { AgentGraph } from '../../api/types.ts';
import type { Graph, GraphEdge, GraphNode } from '../../parts/graph/shape.ts';
import { markOf } from '../../parts/states.ts';

/** More boxes nobody can read; each agent once shows all of them. */
export const SHOWN_RUNS = 500;

export function ranGraph(tree: RunTree, addressOf: (run: string) => string): Graph {
  const nodes = [...tree.runs.values()].slice(0, SHOWN_RUNS);
  const known = new Set(nodes.map(({ run }) => run));
  return {
    nodes: nodes.map((node) => runBox(tree, node, addressOf)),
    edges: nodes.flatMap(({ parent, run, role }) =>
      parent === null || !known.has(parent) ? [] : [{ from: parent, to: run, label: role ?? '' }],
    ),
  };
}

function runBox(tree: RunTree, node: RunNode, addressOf: (run: string) => string): GraphNode {
  const { sign, word, tone } = markOf(node.state, node.verification?.state);
  const note = `${sign} ${word}, ${readableCost(subtreeSpending(tree, node.run))}`;
  return { id: node.run, title: node.member ?? node.agent, note, tone, href: addressOf(node.run) };
}

/** Each agent once: how often it ran, how often that failed, for how much; and who called whom how often. */
export function aggregatedGraph(tree: RunTree): Graph {
  const byAgent = Map.groupBy(tree.runs.values(), ({ agent }) => agent);
  const calls = new Map<string, GraphEdge & { readonly count: number }>();
  for (const { agent, parent } of tree.runs.values()) {
    const caller = parent === null ? undefined : tree.runs.get(parent)?.agent;
    if (caller === undefined) continue;
    const key = JSON.stringify([caller, agent]);
    const count = (calls.get(key)?.count ?? 0) + 1;
    calls.set(key, { from: caller, to: agent, count, label: `${count}×` });
  }
  return {
    nodes: [...byAgent].map(([agent, runs]) => agentBox(agent, runs)),
    edges: [...calls.values()].map(({ from, to, label }) => ({ from, to, label })),
  };
}

function agentBox(agent: string, runs: readonly RunNode[]): GraphNode {
  const failed = runs.filter(({ state }) => state === 'failed' || state === 'budget_exhausted').length;
  const open = runs.filter(({ endedAt }) => endedAt === null).length;
  const spent = runs.reduce((sum, one) => addSpending(sum, one.spent), noSpending());
  const note = `${counted(runs.length, 'run')}${failed > 0 ? `, ✗ ${failed} failed` : ''}, ${readableCost(spent)}`;
  const tone = failed > 0 ? 'bad' : open > 0 ? 'runs' : 'quiet';
  return { id: agent, title: agent, note, tone, href: `/agents/${encodeURIComponent(agent)}` };
}

export function declaredGraph({ agents, edges, missing, entries }: AgentGraph): Graph {
  const named = new Set([...entries, ...edges.flatMap(({ from, to }) => [from, to])]);
  const known = new Map(agents.map((agent) => [agent.name, agent]));
  return {
    nodes: [...named].map((name): GraphNode => {
      const isMissing = missing.includes(name) || !known.has(name);
      return {
        id: name,
        title: name,
        note: isMissing ? '✗ there is none' : (known.get(name)?.models[0] ?? ''),
        tone: isMissing ? 'bad' : entries.includes(name) ? 'good' : 'quiet',
        href: isMissing ? undefined : `/agents/${encodeURIComponent(name)}`,
      };
    }),
    edges: edges.map(({ from, to, kind }) => ({ from, to, label: kind })),
  };
}
