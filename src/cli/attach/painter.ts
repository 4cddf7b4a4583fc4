/**
 * Puts pictures on the screen: at most ten a second, one a second for the time that goes by, and only the rows that are different
 * are written.
 */
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { HIDE_CURSOR, type Screen, SHOW_CURSOR } from '../terminal/terminal.ts';
import type { Picture } from './picture.ts';

interface Painter {
  paint(picture: Picture): void;
  /** Nothing of what was drawn is there any more. */
  forget(): void;
}

const at = (row: number, column: number): string => `\u001b[${row + 1};${column + 1}H`;

function createPainter(screen: Screen): Painter {
  let drawn: readonly string[] = [];
  let shown = '';
  return {
    forget() {
      drawn = [];
      shown = '';
      screen.write('\u001b[2J');
    },
    paint({ rows, cursor }) {
      // Erased before it is written: behind a row that is full, the last sign would go.
      const changed = rows.flatMap((row, index) => (row === drawn[index] ? [] : [`${at(index, 0)}\u001b[2K${row}`]));
      const place = cursor === undefined ? HIDE_CURSOR : `${at(cursor.row, cursor.column)}${SHOW_CURSOR}`;
      if (changed.length === 0 && place === shown) return;
      screen.write(`${changed.join('')}${place}`);
      drawn = rows;
      shown = place;
    },
  };
}

export interface Drawing {
  /** Something may look different now. */
  soon(): void;
  /** Draws everything anew: the screen was somebody else's, or has another size. */
  anew(): void;
  stop(): void;
}

const FRAME_MS = 1_000 / limits.liveFramesPerSecond;
/** For the seconds that go by. */
const IDLE_MS = 1_000;

export function createDrawing(screen: Screen, clock: Clock, made: () => Picture): Drawing {
  const painter = createPainter(screen);
  let cancelTimer: (() => void) | undefined;
  let soon = false;
  const draw = (): void => {
    cancelTimer?.();
    soon = false;
    painter.paint(made());
    cancelTimer = clock.after(IDLE_MS, draw);
  };
  return {
    soon() {
      if (soon) return;
      soon = true;
      cancelTimer?.();
      cancelTimer = clock.after(FRAME_MS, draw);
    },
    anew() {
      painter.forget();
      draw();
    },
    stop: () => cancelTimer?.(),
  };
}
