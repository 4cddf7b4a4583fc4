/**
 * A window on many rows of one height: only those that can be seen are drawn. At the end it follows what comes; whoever has
 * scrolled up stays where they are.
 */
import { type ReactNode, type UIEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import './styles/rows.css';

export const ROW = 28;
const OVERSCAN = 8;

interface Props {
  readonly count: number;
  readonly label: string;
  readonly row: (index: number) => ReactNode;
  /** Follows the end while somebody is there. */
  readonly follows: boolean;
  /** Scrolled into view when it changes. */
  readonly chosen?: number | undefined;
  /** How many rows have come below what can be seen. */
  readonly onBehind: (behind: number) => void;
}

export function Rows({ count, label, row, follows, chosen, onBehind }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(600);
  const isAtEnd = useRef(true);
  const shown = Math.ceil(height / ROW) + 2 * OVERSCAN;
  const from = Math.max(0, Math.min(first, count - 1) - OVERSCAN);
  const to = Math.min(count, from + shown);
  const look = (element: HTMLDivElement) => {
    const top = Math.floor(element.scrollTop / ROW);
    const end = element.scrollTop + element.clientHeight;
    isAtEnd.current = end >= element.scrollHeight - ROW;
    setFirst(top);
    onBehind(isAtEnd.current ? 0 : Math.max(0, count - Math.ceil(end / ROW)));
  };
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const watcher = new ResizeObserver(() => setHeight(element.clientHeight));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: looks again when there are more rows
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    if (follows && isAtEnd.current) element.scrollTop = element.scrollHeight;
    look(element);
  }, [count, follows, height]);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null || chosen === undefined || chosen < 0) return;
    const top = chosen * ROW;
    if (top >= element.scrollTop && top + ROW <= element.scrollTop + element.clientHeight) return;
    isAtEnd.current = false;
    element.scrollTop = top - element.clientHeight / 2;
  }, [chosen]);
  return (
    <section
      ref={place}
      className="rows"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      onScroll={(event: UIEvent<HTMLDivElement>) => look(event.currentTarget)}
    >
      <div className="rows-space" style={{ height: count * ROW }}>
        <ol className="rows-shown" style={{ transform: `translateY(${from * ROW}px)` }} start={from + 1}>
          {Array.from({ length: Math.max(0, to - from) }, (_, index) => row(from + index))}
        </ol>
      </div>
    </section>
  );
}
