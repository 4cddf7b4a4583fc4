/** Lines over time. The library comes when the first one is drawn; whoever cannot see it has the figures in words. */
import { useEffect, useRef, useState } from 'react';
import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';
import './styles/chart.css';

export interface ChartLine {
  readonly name: string;
  /** The name of a colour in tokens.css. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly isDashed?: boolean;
  readonly isFilled?: boolean;
}

export interface ChartProps {
  /** What it shows, in a sentence. */
  readonly label: string;
  /** In seconds. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
  readonly text: (value: number) => string;
}

const HEIGHT = 200;

export function Chart({ label, times, lines, text }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useSchemeChanges();
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn again in other colours
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const data = [[...times], ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
    const plot = new uPlot(optionsOf(element, lines, text), data, element);
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [times, lines, text, scheme]);
  return <div ref={place} className="chart" role="img" aria-label={label} />;
}

function optionsOf(element: HTMLElement, lines: readonly ChartLine[], text: (value: number) => string): uPlot.Options {
  const quiet = colourOf(element, '--quiet');
  const hairline = { stroke: colourOf(element, '--hairline'), width: 1 };
  const axis = { stroke: quiet, grid: hairline, ticks: hairline, font: `12px ${getComputedStyle(element).fontFamily}` };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.08 : 1] } },
    axes: [axis, { ...axis, size: 72, values: (_plot, ticks) => ticks.map(text) }],
    legend: { live: false },
    cursor: { show: false },
    series: [
      {},
      ...lines.map(({ name, colour, isDashed = false, isFilled = false }): uPlot.Series => {
        const stroke = colourOf(element, colour);
        const faint = colourOf(element, `${colour}-ground`);
        return {
          label: name,
          stroke,
          width: 1.5,
          points: { show: false },
          ...(isDashed ? { dash: [5, 4] } : {}),
          ...(isFilled ? { fill: faint } : {}),
        };
      }),
    ],
  };
}

/** Counts how often light became dark, or dark light. */
function useSchemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const changed = () => setChanges((before) => before + 1);
    const system = matchMedia('(prefers-color-scheme: dark)');
    const chosen = new MutationObserver(changed);
    system.addEventListener('change', changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-scheme'] });
    return () => {
      system.removeEventListener('change', changed);
      chosen.disconnect();
    };
  }, []);
  return changes;
}

/** As the scheme has it now: a canvas does not know the names. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
