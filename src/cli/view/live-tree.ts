/**
 * The run tree redrawn in place, with the answer below it as it is being written; that others write is shown on their own
 * lines, as activity. At most ten pictures a second, and only when
 * something is different; at the end the last picture stays and the cursor is back where it belongs.
 */
import type { Clock } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { HIDE_CURSOR, type Screen, SHOW_CURSOR } from '../terminal/terminal.ts';
import { textWidth, wrapToWidth } from '../terminal/text-width.ts';
import { progressLines } from './iterations.ts';
import type { RunView, TypedLine } from './run-view.ts';
import { type TreeLook, treeLines } from './tree-lines.ts';

const FRAME_MS = 1_000 / limits.liveFramesPerSecond;
/** How often a picture is made when nothing happens, for the seconds that go by. */
const IDLE_MS = 1_000;
const TEXT_LINES_MAX = 8;

export interface FrameOptions extends TreeLook {
  readonly height: number;
  /** The end of what is being written, untrusted. */
  readonly text: string;
}

/** One picture. Never taller than the screen: what was drawn must be reachable to be drawn over. */
export function frameLines(tree: RunTree, root: RunId, options: FrameOptions): readonly string[] {
  const { width, height, paint } = options;
  const text = options.text.trim() === '' ? [] : wrapToWidth(safeText(options.text).trimEnd(), width - 2).slice(-TEXT_LINES_MAX);
  const room = Math.max(1, height - 1);
  const lines = [...treeLines(tree, root, { ...options, brief: true }), ...progressLines(tree, root, width, paint)];
  const rest = Math.max(0, room - lines.length);
  const shown = text.slice(Math.max(0, text.length - rest)).map((line) => paint.dim(`  ${line}`));
  if (lines.length <= room) return [...lines, ...shown];
  return [...lines.slice(0, room - 1), paint.dim(`  … and ${lines.length - room + 1} more lines: troupe show`)];
}

/** The line that is being typed, within one row, and the cursor where it belongs; of a long text the part around it. */
function typedLine({ prompt, text, cursor }: TypedLine, width: number): string {
  const room = Math.max(10, width - textWidth(prompt) - 2);
  const from = Math.max(0, cursor - room);
  const shown = safeLine(text.slice(from, from + room).replaceAll(' ', '\u00a0')).replaceAll('\u00a0', ' ');
  const column = textWidth(prompt) + textWidth(text.slice(from, cursor));
  return `${prompt}${shown}\r${column === 0 ? '' : `\u001b[${column}C`}`;
}

/** From where the cursor stands, below the lines or in the one that is being typed, to the first line that was drawn. */
const backTo = (drawn: readonly string[], typed: string): string =>
  drawn.length === 0 ? `${HIDE_CURSOR}${typed === '' ? '' : '\r'}` : `\u001b[${drawn.length}A\r`;

export interface LiveTreeOptions {
  readonly screen: Screen;
  readonly clock: Clock;
  readonly root: RunId;
}

export function createLiveTree({ screen, clock, root }: LiveTreeOptions): RunView {
  let tree: RunTree | undefined;
  let text = '';
  let textOf = '';
  const writing = new Map<RunId, number>();
  let drawn: readonly string[] = [];
  let cancelTimer: (() => void) | undefined;
  let resting = true;
  let dueAt = Number.POSITIVE_INFINITY;
  let typed: TypedLine | undefined;
  let drawnTyped = '';

  const paintFrame = (lines: readonly string[]): void => {
    const below = typed === undefined ? '' : typedLine(typed, screen.width());
    if (below === drawnTyped && lines.length === drawn.length && lines.every((line, index) => line === drawn[index])) return;
    const cursor = typed !== undefined ? SHOW_CURSOR : drawnTyped === '' ? '' : HIDE_CURSOR;
    screen.write(`${backTo(drawn, drawnTyped)}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J${below}${cursor}`);
    drawn = lines;
    drawnTyped = below;
  };
  const picture = (shown: string): readonly string[] => {
    if (tree === undefined || !tree.runs.has(root)) return [];
    const height = screen.height() - (typed === undefined ? 0 : 1);
    const look = { now: clock.now(), width: screen.width(), height, paint: screen.paint };
    return frameLines(tree, root, { ...look, writing, text: shown });
  };
  const drawIn = (delayMs: number): void => {
    const at = clock.elapsed() + delayMs;
    if (at >= dueAt) return;
    cancelTimer?.();
    dueAt = at;
    cancelTimer = clock.after(delayMs, () => {
      dueAt = Number.POSITIVE_INFINITY;
      paintFrame(picture(text));
      drawIn(IDLE_MS);
    });
  };

  return {
    streams: true,
    draws: true,
    say: (lines) => {
      screen.write(`${backTo(drawn, drawnTyped)}\u001b[J${lines.map((line) => `${line}\n`).join('')}`);
      drawn = [];
      drawnTyped = '';
      if (!resting) paintFrame(picture(text));
    },
    typing: (line) => {
      typed = line;
      resting = false;
      paintFrame(picture(text));
    },
    event: (event, next) => {
      tree = next;
      resting = false;
      const { event_type: type, run_id: run } = event;
      if (type === 'model.request' || type === 'model.response' || type === 'run.ended') {
        writing.delete(run);
        if (textOf.startsWith(`${run} `)) text = '';
      }
      drawIn(FRAME_MS);
    },
    piece: (piece) => {
      if (piece.delta.type !== 'text') return;
      drawIn(FRAME_MS);
      if (!piece.terminal) {
        writing.set(piece.run, (writing.get(piece.run) ?? 0) + piece.delta.text.length);
        return;
      }
      const writer = `${piece.run} ${piece.turn}`;
      text = ((writer === textOf ? text : '') + piece.delta.text).slice(-limits.liveTextCharacters);
      textOf = writer;
    },
    rest: (last) => {
      tree = last;
      cancelTimer?.();
      if (resting) return;
      resting = true;
      dueAt = Number.POSITIVE_INFINITY;
      typed = undefined;
      paintFrame(picture(''));
      if (drawn.length > 0) screen.write(SHOW_CURSOR);
      drawn = [];
    },
  };
}
