/** An address that is told how tasks stand: a real server that keeps what it was sent, and answers as it is told to. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  /** What it took. */
  readonly told: Told[];
  /** What it was sent and did not take. */
  refused: number;
  /** What it answers. */
  status: number;
}

export async function startReceiver(status = 200): Promise<Receiver> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of incoming) chunks.push(chunk);
    } catch {
      // Whoever told it was stopped in the middle.
      return;
    }
    if (receiver.status < 300)
      receiver.told.push({ headers: incoming.headers, body: bodyOf(Buffer.concat(chunks).toString(), incoming.headers) });
    else receiver.refused += 1;
    outgoing.writeHead(receiver.status, receiver.status === 302 ? { location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    told: [],
    refused: 0,
    status,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return receiver;
}

/** A text that is not JSON is what it is. */
const bodyOf = (text: string, headers: IncomingHttpHeaders) =>
  headers['content-type']?.startsWith('text/plain') === true ? text : JSON.parse(text);

/** The states that it was told of, in order. */
export const statesTold = ({ told }: Receiver): readonly string[] =>
  told.flatMap(({ body }) => {
    const { task, statusUpdate } = body as Record<string, { status?: { state?: string } } | undefined>;
    const state = (task ?? statusUpdate)?.status?.state;
    return state === undefined ? [] : [state];
  });
