/** Places for the nodes of a graph. It may take a second for a thousand of them. */
import { Graph as Layered, layout } from '@dagrejs/dagre';
import { type Graph, NODE_HEIGHT, NODE_WIDTH, type Placed } from './shape.ts';

export function placeNodes(graph: Graph): Placed {
  const layered = new Layered();
  layered.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 72, marginx: 16, marginy: 16 });
  layered.setDefaultEdgeLabel(() => ({}));
  for (const { id } of graph.nodes) layered.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of graph.edges) layered.setEdge(from, to);
  layout(layered);
  const places = graph.nodes.map(({ id }) => {
    const { x = 0, y = 0 } = layered.node(id);
    return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }] as const;
  });
  return { places: Object.fromEntries(places) };
}
