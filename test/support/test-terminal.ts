/** A terminal for tests: keeps what was written, answers what it is asked from a list. */
import { createScreen, type Terminal } from '../../src/cli/terminal/terminal.ts';

export interface TestTerminal extends Terminal {
  /** `all` has both in the order in which they were written, as a person sees them. */
  readonly written: { out: string; progress: string; all: string };
  /** As if a signal came in. */
  signal(name: 'SIGINT' | 'SIGTERM'): void;
  readonly exits: number[];
}

export interface TestTerminalOptions {
  readonly answers?: readonly (string | undefined)[];
  readonly interactive?: boolean;
  readonly input?: readonly Uint8Array[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  /** What it writes is seen on a terminal. */
  readonly tty?: boolean;
}

export function testTerminal(options: TestTerminalOptions = {}): TestTerminal {
  const written = { out: '', progress: '', all: '' };
  const write = (to: 'out' | 'progress') => (text: string) => {
    written[to] += text;
    written.all += text;
  };
  const answers = [...(options.answers ?? [])];
  const listeners = new Set<(signal: 'SIGINT' | 'SIGTERM') => void>();
  const exits: number[] = [];
  const size = { columns: options.columns ?? 80, rows: options.rows ?? 24, isTTY: options.tty ?? false };
  return {
    written,
    exits,
    out: createScreen({ write: write('out'), ...size }, false),
    progress: createScreen({ write: write('progress'), ...size }, false),
    input: chunks(options.input ?? []),
    interactive: options.interactive ?? false,
    animated: false,
    env: options.env ?? {},
    cwd: options.cwd ?? '/nowhere',
    ask: async () => answers.shift(),
    edit: () => undefined,
    onStop: (callback) => {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
    signal: (name) => {
      for (const listener of listeners) listener(name);
    },
    exitNow: (code) => void exits.push(code),
    keys: { take: () => undefined, letGo: () => undefined, suspend: async () => undefined, onReturn: () => () => undefined },
    keyboard: { hush: () => () => undefined, onPause: () => () => undefined },
    fullScreen: { enter: () => undefined, leave: () => undefined, onKey: () => () => undefined },
  };
}

async function* chunks(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}
