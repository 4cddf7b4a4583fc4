/** How a run is shown while it works. The driver feeds it; what it does with that is its own affair. */
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import type { Screen } from '../terminal/terminal.ts';
import type { TreeLook } from './tree-lines.ts';

export interface RunView {
  /** Whether the view wants pieces of answers; models are only asked to stream when it does. */
  readonly streams: boolean;
  event(event: LedgerEvent, tree: RunTree): void;
  piece(piece: LivePiece): void;
  /** Prints lines that stay, above what is drawn; those that ask something stay in sight until it is typed to them. */
  say(lines: readonly string[], asks?: 'asks'): void;
  /** What a person is typing, at the bottom; `undefined` when they are done. Nothing else is printed below it. */
  typing(line: TypedLine | undefined): void;
  /** Whether it draws that line itself. */
  readonly draws: boolean;
  /** Leaves the whole screen to a program; nothing is printed until the returned function is called. */
  lend(): () => void;
  /**
   * Leaves the screen to somebody else: a question, or the end. A later event takes it back. `standing` says how the runs stand
   * where nobody works on them any more.
   */
  rest(tree: RunTree, standing?: TreeLook['standing']): void;
  /** What is drawn stays as it is, and the cursor stands below it: somebody else has the screen until `back`. */
  leave(): void;
  back(): void;
}

/** What stands before what is typed: one text, or the same in shorter and shorter words for narrow screens, the longest first. */
export type LinePrompt = string | readonly [string, ...string[]];

/** A line that is being typed. */
export interface TypedLine {
  readonly prompt: LinePrompt;
  readonly text: string;
  /** Before which character of the text the cursor stands. */
  readonly cursor: number;
  /** What it is an answer to: it stays in sight above the picture, and is said again when somebody else had the screen. */
  readonly about?: (() => readonly string[]) | undefined;
}

/** Shows nothing but what somebody is asked. */
export function createSilentView(screen: Screen): RunView {
  return {
    streams: false,
    draws: false,
    event: () => undefined,
    piece: () => undefined,
    say: (lines) => screen.write(lines.map((line) => `${line}\n`).join('')),
    typing: () => undefined,
    lend: () => () => undefined,
    rest: () => undefined,
    leave: () => undefined,
    back: () => undefined,
  };
}

/** Shows the same to both; a person is asked on the first. */
export function bothViews(first: RunView, second: RunView): RunView {
  return {
    streams: first.streams || second.streams,
    draws: first.draws,
    leave: first.leave,
    back: first.back,
    say: first.say,
    typing: first.typing,
    event: (event, tree) => {
      first.event(event, tree);
      second.event(event, tree);
    },
    piece: (piece) => {
      if (first.streams) first.piece(piece);
      if (second.streams) second.piece(piece);
    },
    lend: () => {
      const back = [first.lend(), second.lend()];
      return () => {
        for (const take of back) take();
      };
    },
    rest: (tree, standing) => {
      first.rest(tree, standing);
      second.rest(tree, standing);
    },
  };
}
