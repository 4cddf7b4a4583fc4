/**
 * The whole screen for one program, on the other page of the terminal: what stood there before comes back, however the program is
 * left. A pasted text comes between marks, so that its lines are not taken for Enter.
 */
import { emitKeypressEvents } from 'node:readline';

export interface KeyPress {
  /** As readline calls it: `return`, `escape`, `pageup`, or the letter. */
  readonly name: string;
  /** What it writes, if it does. */
  readonly text: string;
  readonly ctrl: boolean;
  readonly shift: boolean;
}

export interface FullScreen {
  enter(): void;
  /** Gives the screen back; when the process ends, too. */
  leave(): void;
  /** Every key while nothing is echoed; Ctrl-C and Ctrl-Z come as signals. Until the returned function is called. */
  onKey(heard: (key: KeyPress) => void): () => void;
}

const ENTER = '\u001b[?1049h\u001b[?2004h\u001b[?25l\u001b[2J\u001b[H';
const LEAVE = '\u001b[?2004l\u001b[?25h\u001b[?1049l';

/** Ctrl with these is a signal, which is sent by whoever keeps the keyboard quiet. */
const SIGNALS: ReadonlySet<string> = new Set(['c', 'z', '\\']);

interface ReadlineKey {
  readonly name?: string | undefined;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
  readonly sequence?: string;
}

export function createFullScreen(process: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'on' | 'off'>): FullScreen {
  const { stdin, stdout } = process;
  let inside = false;
  const leave = (): void => {
    if (!inside) return;
    inside = false;
    process.off('exit', leave);
    stdout.write(LEAVE);
  };
  return {
    enter() {
      if (!inside) process.on('exit', leave);
      inside = true;
      stdout.write(ENTER);
    },
    leave,
    onKey(heard) {
      const pressed = (text: string | undefined, key: ReadlineKey): void => {
        const { name = '', ctrl = false, shift = false } = key;
        if (ctrl && SIGNALS.has(name)) return;
        const writes = ctrl || key.meta === true || text === undefined || /\p{Cc}/u.test(text) ? '' : text;
        heard({ name, text: writes, ctrl, shift });
      };
      emitKeypressEvents(stdin);
      stdin.on('keypress', pressed);
      return () => void stdin.off('keypress', pressed);
    },
  };
}
