/** A loop with both ends of the wire in this process, and every frame that crosses it seen: what travels can be counted. */
import type { JsonObject } from '../../../src/base/json.ts';
import { ok } from '../../../src/base/result.ts';
import { runLoop } from '../../../src/loop/loop.ts';
import type { LoopInput, LoopPorts, LoopResult } from '../../../src/loop/port.ts';
import { remoteLoop } from '../../../src/runner/child/remote-loop.ts';
import { createPortCalls } from '../../../src/runner/host/port-calls.ts';
import { servePorts } from '../../../src/runner/host/served-ports.ts';
import type { Start } from '../../../src/runner/wire/frames.ts';
import { createPeer, type Peer } from '../../../src/runner/wire/rpc.ts';

export async function linked(
  input: LoopInput,
  ports: LoopPorts,
  onFrame: (text: string, from: 'host' | 'runner') => void,
): Promise<LoopResult> {
  const served = servePorts(
    input,
    ports,
    createPortCalls(() => {}),
  );
  const methods = served.methods(() => {});
  const cross = (from: 'host' | 'runner', to: () => Peer) => (frame: JsonObject) => {
    const text = JSON.stringify(frame);
    onFrame(text, from);
    to().receive(JSON.parse(text));
    return ok(undefined);
  };
  const host: Peer = createPeer({ send: cross('host', () => runner), method: (name) => methods[name], maxOpen: 100 });
  const runner: Peer = createPeer({ send: cross('runner', () => host), method: () => undefined, maxOpen: 100 });
  const text = JSON.stringify(served.start('thr_linked'));
  onFrame(text, 'host');
  const start: Start = JSON.parse(text);
  const remote = remoteLoop(start, runner, ports.signal);
  return await runLoop(remote.input, remote.ports);
}
