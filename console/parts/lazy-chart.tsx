/** A chart that is loaded when it is shown. Where it cannot be drawn, the figures beside it have to do. */
import { lazy, Suspense } from 'react';
import { Awaited } from './awaited.tsx';
import type { ChartProps } from './chart.tsx';

const Drawn = lazy(() =>
  import('./chart.tsx').then(
    ({ Chart }) => ({ default: Chart }),
    () => ({ default: NoChart }),
  ),
);

const NoChart = (_props: ChartProps) => <p className="quiet">The chart cannot be drawn by this browser.</p>;

export function LazyChart(props: ChartProps) {
  return (
    <Suspense fallback={<Awaited what="the chart" />}>
      <Drawn {...props} />
    </Suspense>
  );
}
