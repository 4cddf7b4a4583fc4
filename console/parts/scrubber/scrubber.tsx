/** The session as a line: any event of it can be made the newest, and everything is shown as it was then. */
import { useEffect, useRef } from 'react';
import { useKeys } from '../../app/keys.ts';
import type { SessionView } from '../../store/session.ts';
import './scrubber.css';

interface Props {
  readonly view: SessionView;
  /** How many events are shown, and whether these are all. */
  readonly count: number;
  readonly isNow: boolean;
  /** `undefined`: now. Done when somebody lets go. */
  readonly move: (to: number | undefined, isDone: boolean) => void;
}

export function Scrubber({ view, count, isNow, move }: Props) {
  const to = (position: number, isDone: boolean) => move(position >= view.count ? undefined : Math.max(1, position), isDone);
  useKeys({ '[': () => to(count - 1, true), ']': () => to(count + 1, true), ['End']: () => move(undefined, true) });
  return (
    <div className="scrubber">
      <Marks view={view} />
      <input
        type="range"
        aria-label="The newest event that is shown"
        aria-valuetext={isNow ? `now, event ${view.count}` : `event ${count} of ${view.count}`}
        min={1}
        max={view.count}
        value={count}
        onChange={(event) => to(Number(event.target.value), false)}
        onPointerUp={() => to(count, true)}
        onKeyUp={() => to(count, true)}
        onBlur={() => to(count, true)}
      />
    </div>
  );
}

/** How much more must be there before the marks are drawn again, as a share. */
const REDRAW = 200;

/** Waits, failures and ends, where they are on the line. */
function Marks({ view }: { readonly view: SessionView }) {
  const place = useRef<HTMLCanvasElement>(null);
  const { history } = view;
  const drawn = view.count - (view.count % Math.max(1, Math.floor(view.count / REDRAW)));
  useEffect(() => {
    const canvas = place.current;
    const context = canvas?.getContext('2d');
    if (canvas === null || context === null || context === undefined) return;
    canvas.width = canvas.clientWidth * devicePixelRatio;
    canvas.height = canvas.clientHeight * devicePixelRatio;
    const colours = getComputedStyle(canvas);
    const mark = (index: number, colour: string) => {
      context.fillStyle = colours.getPropertyValue(colour);
      context.fillRect((index / Math.max(1, drawn - 1)) * (canvas.width - 2), 0, 2 * devicePixelRatio, canvas.height);
    };
    for (let index = 0; index < drawn; index += 1) {
      const type = history.events[index]?.event_type;
      if (history.lines[index]?.level === 'error') mark(index, '--bad');
      else if (type === 'approval.asked' || type === 'task.clarify') mark(index, '--waits');
      else if (type === 'group.evaluated' || type === 'run.ended') mark(index, '--outline');
    }
  }, [history, drawn]);
  return <canvas ref={place} className="scrubber-marks" />;
}
