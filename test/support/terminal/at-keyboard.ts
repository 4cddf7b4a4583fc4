/** A person at a real pseudo-terminal: they type, wait until they see something, and look. */
import { writeSync } from 'node:fs';
import pseudoTerminals from '@lydell/node-pty';
import { MAIN } from '../../e2e/support-project.ts';
import { PATIENCE_MS } from '../patience.ts';
import { ROOM_FOR_THE_YOUNG } from '../programs/programs.ts';
import { createTerminalScreen, type TerminalScreen } from './screen.ts';

export interface AtKeyboard extends AsyncDisposable {
  /** Keys as they are: `\r` is Enter, `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** Waits until this is on the screen; wherever a line ends there, a string may have a space. */
  sees(what: string | RegExp): Promise<void>;
  /** Waits until the screen has changed, or the program has ended: then nothing changes any more. */
  readonly changes: () => Promise<'changed' | 'ended'>;
  /** Everything that was printed, as the screen has it now. */
  screen(): string;
  readonly shown: TerminalScreen;
  resize(columns: number, rows: number): void;
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface Desk {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Seat {
  readonly columns?: number;
  readonly rows?: number;
  /** Another program than the command line. */
  readonly main?: string;
  /**
   * Under a shell with job control: Ctrl-Z stops it, and `fg` is what takes it up; or in its background. With `bash`, what it
   * prints is what an interactive bash begins with, in which it is `troupe`.
   */
  readonly shell?: 'jobs' | 'background' | 'bash';
}

/** As a person's shell does it: says that it has stopped, and does what is typed then. */
const JOBS = 'set -m; "$@"; code=$?; while [ $code -gt 145 ] && [ $code -lt 150 ]; do '.concat(
  'printf "[stopped] $ "; read -r typed; eval "$typed >/dev/null"; code=$?; done; exit $code',
);

/** A line of a terminal holds four times as much. */
const TYPED_AT_ONCE = 1_000;

/** As somebody has it in their ~/.bashrc. */
const BASH =
  'printf "%s\\n" "PS1=\\"\\$ \\"" "bind \\"set bell-style none\\"" "troupe() { \'$1\' \'$2\' \\"\\$@\\"; }" "$("$@")" > .bashrc; exec bash --noprofile --rcfile .bashrc -i';

const SHELLS = { jobs: JOBS, background: 'set -m; "$@" & wait $!', bash: BASH };

export function sitDown({ folder, env }: Desk, args: readonly string[], seat: Seat = {}): AtKeyboard {
  const { columns = 100, rows = 30, main = MAIN, shell } = seat;
  // A shell that gives the command a name has it as the first two words.
  const command = [process.execPath, ...(shell === 'bash' ? [] : ROOM_FOR_THE_YOUNG), main, ...args];
  const [program = '', ...rest] = shell === undefined ? command : ['/bin/sh', '-c', SHELLS[shell], 'sh', ...command];
  // The screen is xterm.js, as in VS Code.
  const seen = { TERM_PROGRAM: 'vscode', ...env };
  const child = pseudoTerminals.spawn(program, rest, { cols: columns, rows, cwd: folder, env: seen, name: 'xterm' });
  const screen = createTerminalScreen(columns, rows);
  const listeners = new Set<() => void>();
  let drawn = Promise.resolve();
  child.onData((text) => {
    drawn = screen.write(text).then(() => {
      for (const listener of listeners) listener();
    });
  });
  const ended = new Promise<number | null>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      const code = signal === undefined || signal === 0 ? exitCode : null;
      void drawn.then(() => resolve(code));
    });
  });
  const shown = (): string => screen.lines().join('\n');
  const flat = (): string =>
    screen
      .paragraphs()
      .map((rows) => rows.join(''))
      .join(' ')
      .replace(/\s+/g, ' ');
  const isThere = (what: string | RegExp): boolean =>
    typeof what === 'string' ? flat().includes(what.replace(/\s+/g, ' ')) : what.test(shown());
  const kill = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It is gone already.
    }
  };
  return {
    // At once, and not when this process gets round to it: what is typed before something happens has come before it. Of much
    // at once a terminal takes only a part, and the rest when that was read.
    type: (keys) => {
      if (keys.length > TYPED_AT_ONCE) child.write(keys);
      else writeSync((child as unknown as { readonly fd: number }).fd, keys);
    },
    screen: shown,
    shown: screen,
    ended,
    kill,
    resize(wide, high) {
      screen.resize(wide, high);
      child.resize(wide, high);
    },
    changes: () =>
      new Promise((resolve) => {
        const changed = (): void => {
          listeners.delete(changed);
          resolve('changed');
        };
        listeners.add(changed);
        void ended.then(() => {
          listeners.delete(changed);
          resolve('ended');
        });
      }),
    sees: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!isThere(what)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        const giveUp = (): void => {
          look();
          if (listeners.delete(look)) reject(new Error(`never seen: ${what}\n${shown()}`));
        };
        setTimeout(giveUp, PATIENCE_MS).unref();
        void ended.then(giveUp);
        look();
      }),
    async [Symbol.asyncDispose]() {
      kill('SIGKILL');
      await ended;
    },
  };
}
