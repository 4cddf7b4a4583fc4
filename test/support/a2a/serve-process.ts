/** `troupe serve` of a project as a real process on free ports, which can be killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { MAIN, type TestProject } from '../../e2e/support-project.ts';
import { ALICE, BOB } from './served.ts';

const TOKENS = { TROUPE_TOKENS: `alice=${ALICE},bob=${BOB}`, TROUPE_TOKEN: 'owner-0123456789abcdef' };

export interface ServeProcess extends AsyncDisposable {
  readonly pid: number;
  readonly origin: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function serve(project: Pick<TestProject, 'folder' | 'env'>): Promise<ServeProcess> {
  const child = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0', '--grpc-port', '0'], {
    env: { ...project.env, ...TOKENS },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  const [first] = await once(createInterface({ input: child.stdout }), 'line');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exit;
  };
  return { pid: child.pid ?? 0, origin: new URL(String(first)).origin, end, [Symbol.asyncDispose]: () => end('SIGTERM') };
}
