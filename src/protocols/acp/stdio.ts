/** ACP over two streams: one client. A message that is too long is thrown away as it comes, and what follows is heard. */
import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import { boundedLines, requestIdOf } from '../mcp/bounded-lines.ts';
import { serveAcp } from './connection.ts';
import type { AcpNeeds } from './needs.ts';

const INVALID_REQUEST = -32_600;

export interface AcpStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Resolves when the client has closed its side or `signal` has aborted. */
export async function serveAcpStreams(needs: AcpNeeds, { input, output }: AcpStreams, signal: AbortSignal): Promise<void> {
  const lines = boundedLines(limits.acpMessageBytes, (line) => {
    const message = `A message is longer than ${limits.acpMessageBytes} bytes (limit acpMessageBytes) and was not read`;
    needs.onError(new Error(message));
    // A client that waits for an answer learns that none will come, if it can be told which request it was.
    const id = requestIdOf(line);
    if (id !== undefined) output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } })}\n`);
  });
  const gone = new AbortController();
  const end = (): void => gone.abort();
  // A pipe that nobody reads any more is a client that has gone.
  for (const event of ['close', 'error']) output.once(event, end);
  input.once('error', end);
  const stream = ndJsonStream(Writable.toWeb(output) as WritableStream<Uint8Array>, webOf(input.pipe(lines)), {
    maxMessageBytes: 2 * limits.acpMessageBytes,
  });
  await serveAcp(needs, stream, AbortSignal.any([signal, gone.signal]));
  // An input that is still read keeps the process alive.
  input.unpipe(lines);
  input.pause();
}

/** The types of Node and of the web name the same streams. */
const webOf = (stream: Readable): ReadableStream<Uint8Array> => Readable.toWeb(stream) as unknown as ReadableStream<Uint8Array>;
