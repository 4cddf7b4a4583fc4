/** Finds places for the nodes of a graph, beside the page: it may take a second for a thousand of them. */
import { Graph as Layered, layout } from '@dagrejs/dagre';
import { type Graph, NODE_HEIGHT, NODE_WIDTH, type Placed } from './shape.ts';

self.onmessage = ({ data }: MessageEvent<Graph>) => {
  const layered = new Layered();
  layered.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 72, marginx: 16, marginy: 16 });
  layered.setDefaultEdgeLabel(() => ({}));
  for (const { id } of data.nodes) layered.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of data.edges) layered.setEdge(from, to);
  layout(layered);
  const places = data.nodes.map(({ id }) => {
    const { x = 0, y = 0 } = layered.node(id);
    return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }] as const;
  });
  const placed: Placed = { places: Object.fromEntries(places) };
  self.postMessage(placed);
};
