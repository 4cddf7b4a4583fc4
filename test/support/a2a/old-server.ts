/** The agent of the older line, started for a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface OldServer extends AsyncDisposable {
  readonly card: string;
  readonly origin: string;
  /** What it was given to work on so far. */
  begun(): Promise<readonly string[]>;
  kill(): Promise<void>;
}

export async function startOldServer(port = 0): Promise<OldServer> {
  const main = join(import.meta.dirname, 'old-server-main.ts');
  const child = spawn(process.execPath, [main, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  const { origin, href: card } = new URL(String(first));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  return {
    ...{ card, origin, kill, [Symbol.asyncDispose]: kill },
    begun: async () => (await (await fetch(`${origin}/begun`)).json()) as string[],
  };
}
