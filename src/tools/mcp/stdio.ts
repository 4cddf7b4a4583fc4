/**
 * A transport to an MCP server that is our child process: JSON-RPC lines on its stdin and stdout. It differs from the
 * official one in what happens around the server: the server leads a process group of its own, so that its end, closing and
 * our own end take its children along, its stderr is kept (bounded) for error messages, and nothing of our environment gets
 * to it but what it is given.
 */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { ReadBuffer, Transport } from '@modelcontextprotocol/client';
import { type Clock, sleep } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import { stopGroup } from '../../process/process-group.ts';
import { tellingLine } from '../../process/telling-line.ts';
import { startTethered } from '../../process/tethered-process.ts';
import { createCapture } from '../shell/capture.ts';

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string | undefined;
}

export interface StdioTransport extends Transport {
  /** Whether a process was started at all. */
  spawned(): boolean;
  /** How the server ended and what it last wrote to stderr; empty when there is nothing to say. */
  lastWords(): string;
}

type Sdk = Pick<typeof import('@modelcontextprotocol/client'), 'ReadBuffer' | 'serializeMessage'>;

const LAST_WORDS_MS = 500;

export function createStdioTransport(server: StdioServer, sdk: Sdk, clock: Clock): StdioTransport {
  const stderr = createCapture(limits.mcpStderrBytes);
  const buffer = new sdk.ReadBuffer({ maxBufferSize: limits.mcpMessageBytes });
  let child: ChildProcessWithoutNullStreams | undefined;
  let ending = '';
  let gone: Promise<void> = Promise.resolve();
  /** Whatever it left behind is gone too. */
  let cleared: Promise<void> = gone;

  const start = async (): Promise<void> => {
    const { folder, environment } = server;
    const { child: started, release } = startTethered(server.command, server.args, { folder, environment, input: 'pipe' });
    await new Promise<void>((resolve, reject) => started.once('spawn', resolve).once('error', reject));
    child = started;
    gone = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        ending = code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
        resolve();
      });
    });
    const drained = new Promise((resolve) => started.once('close', resolve));
    // Its last answer and last words may still be in the pipes, which a grandchild can hold open for ever.
    const settled = gone.then(() => Promise.race([drained, sleep(clock, LAST_WORDS_MS)]));
    void settled.then(() => transport.onclose?.());
    cleared = settled.then(() => stopGroup(started, drained, clock)).then(release);
    started.stderr.on('data', (chunk: Buffer) => stderr.append(chunk));
    started.stdout.on('data', (chunk: Buffer) => {
      if (!deliver(buffer, chunk, transport)) void transport.close();
    });
  };

  const close = async (): Promise<void> => {
    if (child === undefined) return;
    child.stdin.end();
    await Promise.race([gone, sleep(clock, limits.stopGraceMs)]);
    if (ending === '') await stopGroup(child, gone, clock);
    await Promise.race([cleared, sleep(clock, limits.stopGraceMs)]);
    child.stdout.destroy();
    child.stderr.destroy();
    buffer.clear();
  };

  const transport: StdioTransport = {
    start,
    close,
    send: async (message) => {
      if (child === undefined || ending !== '') throw new Error('The server is not running.');
      const { stdin } = child;
      if (!stdin.write(sdk.serializeMessage(message)))
        await Promise.race([new Promise((resolve) => stdin.once('drain', resolve)), gone]);
    },
    spawned: () => child !== undefined,
    lastWords: () => [ending, tellingLineOf(stderr.text())].filter((part) => part !== '').join('; stderr: '),
  };
  return transport;
}

const LINE_CHARACTERS = 300;

/** Of what a server wrote as it died the one line that says why, and how many others there were. */
function tellingLineOf(written: string): string {
  const { line, others } = tellingLine(written);
  const more = others > 0 ? ` (and ${counted(others, 'more line')}, which its command prints when it is run by itself)` : '';
  return `${startOf(line, LINE_CHARACTERS)}${more}`;
}

/** Hands on every complete message. Lines that are no message are reported and passed over; `false` when one is too long. */
function deliver(buffer: ReadBuffer, chunk: Buffer, transport: Transport): boolean {
  try {
    buffer.append(chunk);
  } catch (error) {
    transport.onerror?.(new Error(`a message exceeds ${limits.mcpMessageBytes} bytes (mcpMessageBytes): ${messageOf(error)}`));
    return false;
  }
  for (;;) {
    try {
      const message = buffer.readMessage();
      if (message === null) return true;
      transport.onmessage?.(message);
    } catch (error) {
      transport.onerror?.(error instanceof Error ? error : new Error(messageOf(error)));
    }
  }
}
