/** A line to a server that may be another one tomorrow: all that passes is counted, and whoever counts may act in between. */
import { createServer, connect as dial, type Socket } from 'node:net';

export interface CountingWire extends AsyncDisposable {
  readonly origin: string;
  /** Where it leads; nowhere while there is no server. */
  leadsTo(port: string | undefined): void;
}

/** `passes` is called before a piece is let through, in whichever direction. */
export async function countingWire(passes: () => void): Promise<CountingWire> {
  let to: string | undefined;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    if (to === undefined) return void near.destroy();
    const far = dial(Number(to), '127.0.0.1');
    for (const [one, other] of [[near, far] as const, [far, near] as const]) {
      open.add(one);
      one.on('data', (piece) => {
        passes();
        other.write(piece);
      });
      one.on('end', () => other.end());
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const at = server.address();
  return {
    origin: `http://127.0.0.1:${typeof at === 'object' ? at?.port : ''}`,
    leadsTo: (port) => {
      to = port;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
