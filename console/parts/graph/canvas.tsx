/** A graph that can be moved and zoomed. Its boxes are links: everything in it can be reached by keyboard. */

import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { visibleText } from '../../../src/base/visible-text.ts';
import '@xyflow/react/dist/style.css';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { Awaited } from '../awaited.tsx';
import './graph.css';
import { type Graph, type GraphNode, NODE_HEIGHT, NODE_WIDTH, type Placed } from './shape.ts';

type Box = Node<{ readonly node: GraphNode }, 'box'>;

const TYPES = { box: BoxNode };
const FIT = { padding: 0.1, maxZoom: 1 };

export function GraphCanvas({ graph, label }: { readonly graph: Graph; readonly label: string }) {
  const placed = usePlaced(graph);
  const nodes = useMemo<Box[]>(
    () =>
      graph.nodes.map((node) => ({
        ...{ id: node.id, type: 'box', data: { node }, width: NODE_WIDTH, height: NODE_HEIGHT, focusable: false },
        position: placed?.places[node.id] ?? { x: 0, y: 0 },
        ariaLabel: node.title,
      })),
    [graph, placed],
  );
  const edges = useMemo<Edge[]>(
    () =>
      graph.edges.map(({ from, to, label: words }) => ({
        ...{ id: `${from} ${to} ${words}`, source: from, target: to, label: words, focusable: false },
      })),
    [graph],
  );
  const { section, fitting } = useFit(placed);
  if (placed === undefined) return <Awaited what="places for the boxes" />;
  return (
    <section className="graph" aria-label={label} ref={section}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={TYPES}
        fitView
        fitViewOptions={FIT}
        {...fitting}
        minZoom={0.1}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        onlyRenderVisibleElements={graph.nodes.length > 200}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}

/** All of it is in sight, also when there is more of it or less room, until somebody looks where they want. */
function useFit(placed: Placed | undefined) {
  const flow = useRef<ReactFlowInstance<Box>>(undefined);
  const isMoved = useRef(false);
  const [place, section] = useState<HTMLElement | null>(null);
  useEffect(() => {
    if (place === null) return;
    const watcher = new ResizeObserver(() => {
      if (!isMoved.current) void flow.current?.fitView(FIT);
    });
    watcher.observe(place);
    return () => watcher.disconnect();
  }, [place]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looks again when boxes stand elsewhere
  useEffect(() => {
    if (!isMoved.current) void flow.current?.fitView(FIT);
  }, [placed]);
  return {
    section,
    fitting: {
      onInit: (made: ReactFlowInstance<Box>) => {
        flow.current = made;
      },
      // Without an event it was not a person.
      onMoveStart: (event: unknown) => {
        if (event !== null) isMoved.current = true;
      },
    },
  };
}

function BoxNode({ data: { node } }: NodeProps<Box>) {
  const inner = (
    <>
      <strong className="cut">{visibleText(node.title)}</strong>
      <span className="cut">{node.note}</span>
    </>
  );
  return (
    <>
      <Handle type="target" position={Position.Left} />
      {node.href === undefined ? (
        <div className={`graph-box ${node.tone}`}>{inner}</div>
      ) : (
        <Link className={`graph-box nopan ${node.tone}`} href={node.href}>
          {inner}
        </Link>
      )}
      <Handle type="source" position={Position.Right} />
    </>
  );
}

/** `undefined` until the places are known; while the graph grows the old ones stay. */
function usePlaced(graph: Graph): Placed | undefined {
  const [placed, setPlaced] = useState<Placed>();
  // What a box says changes often; where it stands only with who there is and who leads to whom.
  const shape = JSON.stringify([graph.nodes.map(({ id }) => id), graph.edges.map(({ from, to }) => [from, to])]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape is all of the graph that matters here
  useEffect(() => {
    // A page that is one file has no other to load.
    if (import.meta.env.MODE === 'file') {
      void import('./place-nodes.ts').then(({ placeNodes }) => setPlaced(placeNodes(graph)));
      return;
    }
    const worker = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }: MessageEvent<Placed>) => setPlaced(data);
    worker.postMessage(graph);
    return () => worker.terminate();
  }, [shape]);
  return placed;
}
