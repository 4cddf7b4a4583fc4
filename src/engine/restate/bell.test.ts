/**
 * Whoever rings is heard: a run hangs its bell up before it is worked on, and Restate must have it by then. What a worker tells
 * Restate is held back here between the two, as a slow partition would.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestRestate } from '../../../test/support/cluster/restate-server.ts';
import { createRestateWorld } from '../../../test/support/cluster/restate-world.ts';
import { agent, calls, reports, turnOf } from '../../../test/support/world.ts';
import type { RestateServer } from '../../cluster/restate-server.ts';
import { userText } from '../../events/messages.ts';

let restate: RestateServer;
beforeAll(async () => {
  restate = await startTestRestate();
});
afterAll(() => restate.stop());

/** Passes everything on; what the worker says to the first call that has a run worked on is kept until it is let go. */
function holdingBack(): { through(port: number): Promise<number>; kept(): string; letGo(): void; close(): void } {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let held: Socket | undefined;
  let kept: Buffer[] | undefined = [];
  const pass = (from: Socket, port: number): void => {
    const to = connect(port, '127.0.0.1');
    for (const socket of [from, to]) sockets.add(socket.on('error', () => undefined));
    from.on('data', (bytes) => {
      if (held === undefined && bytes.includes('-run/drive')) held = from;
      to.write(bytes);
    });
    to.on('data', (bytes) => {
      if (from === held && kept !== undefined) kept.push(bytes);
      else from.write(bytes);
    });
    from.on('close', () => to.destroy());
    to.on('close', () => from.destroy());
  };
  return {
    async through(port) {
      const own = createServer((from) => pass(from, port)).listen(0, '127.0.0.1');
      server = own;
      await once(own, 'listening');
      return (own.address() as AddressInfo).port;
    },
    kept: () => Buffer.concat(kept ?? []).toString('latin1'),
    letGo: () => {
      held?.write(Buffer.concat(kept ?? []));
      kept = undefined;
    },
    close: () => {
      server?.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

it('nothing is done for a run before Restate has its bell, so that a child that ends at once is not missed', async () => {
  const wire = holdingBack();
  const asked: (string | undefined)[] = [];
  const world = await createRestateWorld(restate, {
    agents: [agent({ agents: ['helper'] }), agent({ name: 'helper' })],
    brain: (request) => {
      asked.push(request.agent);
      const first = request.agent === 'worker' && turnOf(request) === 1;
      return first ? calls({ name: 'helper', input: { prompt: 'Look.', reason: 'to know' } }) : reports('Done.');
    },
    through: wire.through,
  });
  try {
    const started = await world.engine.start({ agent: 'worker', input: userText('Go.'), workspace: '.' });
    if (started.kind !== 'started') throw new Error(started.error.message);
    await expect.poll(wire.kept).toContain('wake');
    expect(wire.kept()).toContain('bell');
    expect(wire.kept()).not.toContain('work');
    expect(asked).toEqual([]);
    wire.letGo();
    const end = await started.handle.done;
    expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed' } });
    expect(asked).toEqual(['worker', 'helper', 'worker']);
  } finally {
    await world.close();
    wire.close();
  }
});
