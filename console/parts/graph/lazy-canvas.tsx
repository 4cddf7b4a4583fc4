/** The graph, loaded when it is shown; and the same in words. */

import { lazy, Suspense } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { Awaited } from '../awaited.tsx';
import type { Graph } from './shape.ts';

const Canvas = lazy(async () => ({ default: (await import('./canvas.tsx')).GraphCanvas }));

interface Props {
  readonly graph: Graph;
  readonly label: string;
}

export function LazyGraph({ graph, label }: Props) {
  return (
    <>
      <Suspense fallback={<Awaited what="the graph" />}>
        <Canvas graph={graph} label={label} />
      </Suspense>
      <details className="graph-words">
        <summary>The same in words</summary>
        <ul>
          {graph.nodes.map(({ id, title, note }) => (
            <li key={id}>
              {visibleText(title)} <span className="quiet">{note}</span>
              {graph.edges
                .filter(({ from }) => from === id)
                .map(({ to, label: words }) =>
                  visibleText(` → ${graph.nodes.find((node) => node.id === to)?.title ?? to} (${words})`),
                )
                .join(',')}
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}
