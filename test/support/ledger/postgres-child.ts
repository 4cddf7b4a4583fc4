/** A process of its own on a Postgres ledger: opens it, then runs the body it was given. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const source = (name: string): string => JSON.stringify(new URL(`../../../src/${name}`, import.meta.url).href);

/** In `body`: `ledger`, `task`, `event(type, payload)` and `say(text)`. */
export function startPostgresProcess(url: string, task: object, body: string) {
  const program = `
    const { openPostgresLedger } = await import(${source('ledger/postgres/store.ts')});
    const { systemClock } = await import(${source('base/clock.ts')});
    const task = ${JSON.stringify(task)};
    const ids = { nonce: () => 'child' + process.pid };
    const ledger = await openPostgresLedger({ url: ${JSON.stringify(url)}, clock: systemClock, ids, leaseMs: task.leaseMs });
    const common = { run: task.run, actor: 'system', cause: task.session + '.1', at: systemClock.now() };
    const event = (type, payload) => ({ ...common, type, payload });
    const say = (text) => process.stdout.write(text + '\\n');
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return {
    child,
    ended: once(child, 'close').then(([code]) => ({ code, output })),
    /** Waits for a line that begins so. */
    said: async (text: string): Promise<void> => {
      while (!output.split('\n').some((line) => line.startsWith(text))) await once(child.stdout, 'data');
    },
  };
}
