/**
 * A transport to an MCP server that is our child process: JSON-RPC lines on its stdin and stdout. It differs from the
 * official one in what happens around the server: the server leads a process group of its own, so that closing takes its
 * children along, its stderr is kept (bounded) for error messages, and its environment is exactly what it is given.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { ReadBuffer, Transport } from '@modelcontextprotocol/client';
import { type Clock, sleep } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { createCapture } from './capture.ts';
import { endWithThisProcess, stopGroup } from './process-group.ts';

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

  const start = async (): Promise<void> => {
    const started = spawn(server.command, [...server.args], {
      env: server.environment,
      cwd: server.folder,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    await new Promise<void>((resolve, reject) => started.once('spawn', resolve).once('error', reject));
    child = started;
    gone = new Promise((resolve) => {
      started.once('exit', (code, signal) => {
        ending = code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
        resolve();
      });
    });
    endWithThisProcess(started, gone);
    const drained = new Promise((resolve) => started.once('close', resolve));
    // Its last answer and last words may still be in the pipes, which a grandchild can hold open for ever.
    void gone.then(() => Promise.race([drained, sleep(clock, LAST_WORDS_MS)])).then(() => transport.onclose?.());
    started.stderr.on('data', (chunk: Buffer) => stderr.append(chunk));
    // Writing to a server that has just ended is no news: its end is reported by `exit`.
    started.stdin.on('error', () => {});
    started.stdout.on('data', (chunk: Buffer) => {
      if (!deliver(buffer, chunk, transport)) void transport.close();
    });
  };

  const close = async (): Promise<void> => {
    if (child === undefined) return;
    child.stdin.end();
    await Promise.race([gone, sleep(clock, limits.stopGraceMs)]);
    await stopGroup(child, gone, clock);
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
    lastWords: () => [ending, stderr.text().trim()].filter((part) => part !== '').join('; stderr: '),
  };
  return transport;
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
