/**
 * The run tree redrawn in place, with the answer below it as it is being written; that others write is shown on their own
 * lines, as activity. At most ten pictures a second, and only when
 * something is different; at the end the last picture stays and the cursor is back where it belongs.
 */
import type { Clock } from '../../base/clock.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import { safeText } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth, textWidth, wrapToWidth } from '../terminal/text-width.ts';
import { type WindowSize, watchSize } from '../terminal/window-size.ts';
import { createCanvas, rowsOf } from './canvas.ts';
import { progressLines } from './iterations.ts';
import { createLiveWords } from './live-words.ts';
import type { RunView, TypedLine } from './run-view.ts';
import { type TreeLook, treeLines } from './tree-lines.ts';

const FRAME_MS = 1_000 / limits.liveFramesPerSecond;
/** How often a picture is made when nothing happens, for the seconds that go by. */
const IDLE_MS = 1_000;
const TEXT_LINES_MAX = 8;

export interface FrameOptions extends TreeLook {
  readonly height: number;
  /** How the command line is called, for what there is no room for. */
  readonly call: string;
  /** The end of what is being written, untrusted. */
  readonly text: string;
  /** Rows for that, at the most. */
  readonly textRows?: number | undefined;
}

/** One picture. Never taller than the screen: what was drawn must be reachable to be drawn over. */
export function frameLines(tree: RunTree, root: RunId, options: FrameOptions): readonly string[] {
  const { width, height, paint, call } = options;
  const text =
    options.text.trim() === ''
      ? []
      : wrapToWidth(safeText(options.text).trimEnd(), width - 2).slice(-(options.textRows ?? TEXT_LINES_MAX));
  const room = Math.max(1, height - 1);
  const lines = [...treeLines(tree, root, { ...options, brief: true }), ...progressLines(tree, root, width, paint)];
  const rest = Math.max(0, room - lines.length);
  const shown = text.slice(Math.max(0, text.length - rest)).map((line) => paint.dim(`  ${line}`));
  if (lines.length <= room) return [...lines, ...shown];
  // Half a command is none.
  const more = `  … and ${lines.length - room + 1} more lines`;
  const where = `${more}: ${call} show ${shortId(root)}`;
  return [...lines.slice(0, room - 1), paint.dim(cutToWidth(textWidth(where) <= width ? where : more, width))];
}

export interface LiveTreeOptions {
  readonly screen: Screen;
  readonly clock: Clock;
  readonly root: RunId;
  readonly call: string;
  /** What stays when it rests; the whole picture without it. */
  readonly still?: ((tree: RunTree, standing: TreeLook['standing']) => readonly string[]) | undefined;
  readonly textRows?: number | undefined;
}

/** Rows for what a person is asked, and for what they type to it. */
function rowsBelow(typed: TypedLine | undefined, asked: readonly string[], width: number): number {
  const about = typed === undefined ? asked : (typed.about?.() ?? []);
  return typed === undefined && asked.length === 0 ? 0 : 1 + rowsOf(about, width);
}

export function createLiveTree({ screen, clock, root, call, still, textRows }: LiveTreeOptions): RunView {
  let tree: RunTree | undefined;
  const words = createLiveWords();
  const canvas = createCanvas(screen);
  let cancelTimer: (() => void) | undefined;
  let resting = true;
  let size: WindowSize | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let typed: TypedLine | undefined;
  /** What was just asked, before anybody can type to it: the picture leaves it room. */
  let asked: readonly string[] = [];

  const picture = (shown: string, standing?: TreeLook['standing']): readonly string[] => {
    if (tree === undefined || !tree.runs.has(root)) return [];
    const width = screen.width();
    const height = screen.height() - rowsBelow(typed, asked, width);
    const look = { now: clock.now(), width, height, paint: screen.paint, call, ...present({ standing }) };
    return frameLines(tree, root, { ...look, writing: words.writing, text: shown, textRows });
  };
  const paint = (): void => canvas.paint(picture(words.text()), typed);
  const repaint = (): void => {
    if (!resting) paint();
  };
  const drawIn = (delayMs: number): void => {
    const at = clock.elapsed() + delayMs;
    if (at >= dueAt) return;
    cancelTimer?.();
    dueAt = at;
    cancelTimer = clock.after(delayMs, () => {
      dueAt = Number.POSITIVE_INFINITY;
      paint();
      drawIn(IDLE_MS);
    });
  };

  const wake = (): void => {
    if (!resting) return;
    resting = false;
    size = watchSize(screen, clock, {
      changes: canvas.hold,
      settles() {
        canvas.release();
        paint();
      },
    });
  };

  return {
    streams: true,
    draws: true,
    say: (lines, asks) => {
      if (asks !== undefined) asked = lines;
      canvas.say(lines);
      repaint();
    },
    lend: () => canvas.lend(repaint),
    typing: (line) => {
      typed = line;
      asked = [];
      wake();
      paint();
    },
    event: (event, next) => {
      tree = next;
      wake();
      words.event(event);
      drawIn(FRAME_MS);
    },
    piece: (piece) => {
      if (words.piece(piece)) drawIn(FRAME_MS);
    },
    rest: (last, standing) => {
      tree = last;
      cancelTimer?.();
      if (resting) return;
      resting = true;
      size?.stop();
      canvas.release();
      dueAt = Number.POSITIVE_INFINITY;
      typed = undefined;
      canvas.paint(still?.(last, standing) ?? picture('', standing), undefined);
      canvas.leave();
    },
    leave: canvas.leave,
    back: () => {
      if (!resting && typed?.about !== undefined) canvas.say(['', ...typed.about()]);
      repaint();
    },
  };
}
