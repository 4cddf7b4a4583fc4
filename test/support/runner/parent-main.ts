/**
 * A host that somebody will kill: starts loops whose models never answer and runners that wait, prints their numbers as one
 * line of JSON, and stays. With `idle` it has runners that wait and nothing else, and ends by itself.
 */
import { systemClock } from '../../../src/base/clock.ts';
import { createLoopHost } from '../../../src/runner/host/host.ts';
import { startRunner } from '../../../src/runner/host/process.ts';
import { scriptedPorts, watchProcesses } from './scripted-ports.ts';

const mode = process.argv[2] ?? 'busy';
const host = createLoopHost({ clock: systemClock, settings: { warm: 2 } });

if (mode === 'idle') {
  host.warm();
  const waiting = startRunner(systemClock, 64);
  await waiting.ready;
  waiting.hold(false);
  process.stdout.write(`${JSON.stringify([waiting.pid])}\n`);
} else {
  const pids: number[] = [];
  let asked = 0;
  for (let index = 0; index < 2; index += 1) {
    const { input, ports } = scriptedPorts({
      replies: () => 'x',
      during: () => {
        asked += 1;
        if (asked === 2) process.stdout.write(`${JSON.stringify(pids)}\n`);
        return new Promise(() => {});
      },
    });
    void host.run(input, ports, watchProcesses((pid) => pids.push(pid)).hosted);
  }
}
