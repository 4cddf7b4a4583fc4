/** A person at a real pseudo-terminal: they type, wait until they see something, and look. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../../e2e/support-project.ts';
import { createTerminalScreen } from './screen.ts';

const PTY = fileURLToPath(new URL('pseudo-terminal.py', import.meta.url));

export interface AtKeyboard extends AsyncDisposable {
  /** Keys as they are: `\r` is Enter, `\u0003` is Ctrl-C. */
  type(keys: string): void;
  /** Waits until this is on the screen. */
  sees(what: string | RegExp): Promise<void>;
  /** Everything that was printed, as the screen has it now. */
  screen(): string;
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface Desk {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

export function sitDown(
  { folder, env }: Desk,
  args: readonly string[],
  { columns = 100, rows = 30 }: { readonly columns?: number; readonly rows?: number } = {},
): AtKeyboard {
  const command = [PTY, `${columns}`, `${rows}`, process.execPath, MAIN, ...args];
  const child = spawn('python3', command, { cwd: folder, env: { ...env, TERM: 'xterm' }, detached: true });
  const screen = createTerminalScreen(columns, rows);
  const listeners = new Set<() => void>();
  const shown = (): string => screen.lines().join('\n');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen.write(text);
    for (const listener of listeners) listener();
  });
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It is gone already.
    }
  };
  return {
    type: (keys) => void child.stdin.write(keys),
    screen: shown,
    ended,
    kill,
    sees: (what) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof what === 'string' ? !shown().includes(what) : !what.test(shown())) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        void ended.then(() => {
          look();
          if (listeners.has(look)) reject(new Error(`never seen: ${what}\n${errors}${shown()}`));
        });
        look();
      }),
    async [Symbol.asyncDispose]() {
      kill('SIGKILL');
      await ended;
    },
  };
}
