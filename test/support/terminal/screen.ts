/** What a terminal shows: a whole emulator, which also breaks long lines anew when its width changes, as terminals do. */
import xterm from '@xterm/headless';

const SCROLLBACK = 5_000;
const CURSOR_MODE = 25;

export interface TerminalScreen {
  /** Resolves when it is on the screen. */
  write(text: string): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Everything from the first line that was ever printed, as it stands now; what scrolled away included. */
  lines(): readonly string[];
  /** Only what stands in the window now. */
  inSight(): readonly string[];
  /** The same by lines as they were printed: each with the rows that it takes. */
  paragraphs(): readonly (readonly string[])[];
  columns(): number;
  cursorIsShown(): boolean;
  /** How often the bell rang. */
  bells(): number;
}

/** `reflowCursorLine`: the line with the cursor is broken anew, too, as most terminals do it that are not xterm.js. */
export function createTerminalScreen(columns: number, rows: number, reflowCursorLine = false): TerminalScreen {
  const options = { cols: columns, rows, scrollback: SCROLLBACK, allowProposedApi: true, reflowCursorLine };
  const terminal = new xterm.Terminal(options);
  let cursor = true;
  let bells = 0;
  terminal.onBell(() => {
    bells += 1;
  });
  const follow = (final: string, shown: boolean): void => {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (modes) => {
      if (modes.includes(CURSOR_MODE)) cursor = shown;
      return false;
    });
  };
  follow('h', true);
  follow('l', false);
  const rowsNow = (): readonly { readonly text: string; readonly goesOn: boolean }[] => {
    const { active } = terminal.buffer;
    return Array.from({ length: active.length }, (_none, index) => {
      const goesOn = active.getLine(index + 1)?.isWrapped === true;
      return { text: active.getLine(index)?.translateToString(!goesOn) ?? '', goesOn };
    });
  };
  return {
    write: (text) => new Promise((resolve) => terminal.write(text, resolve)),
    resize: (wide, high) => terminal.resize(wide, high),
    lines: () => withoutEmptyEnd(rowsNow().map(({ text }) => text.trimEnd())),
    inSight: () =>
      rowsNow()
        .slice(terminal.buffer.active.baseY)
        .map(({ text }) => text.trimEnd()),
    paragraphs() {
      const all: string[][] = [];
      let open: string[] = [];
      for (const { text, goesOn } of rowsNow()) {
        open.push(goesOn ? text : text.trimEnd());
        if (goesOn) continue;
        all.push(open);
        open = [];
      }
      return all.slice(0, all.findLastIndex((rows) => rows.some((row) => row !== '')) + 1);
    },
    columns: () => terminal.cols,
    cursorIsShown: () => cursor,
    bells: () => bells,
  };
}

function withoutEmptyEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
