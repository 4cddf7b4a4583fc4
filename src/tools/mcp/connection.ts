/**
 * One live connection to an MCP server, over stdio or Streamable HTTP. The protocol revision is negotiated: a server is
 * asked for the current one first, and a server that does not know the question is spoken to in the older one.
 */

import { resolve } from 'node:path';
import type { Client, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { expandVariables, minimalEnvironment } from '../shell/environment.ts';
import { createStdioTransport, type StdioTransport } from './stdio.ts';

export type McpServerConfig =
  | {
      readonly command: string;
      readonly args?: readonly string[] | undefined;
      readonly env?: Readonly<Record<string, string>> | undefined;
      readonly cwd?: string | undefined;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> | undefined };

export interface McpConnectOptions {
  readonly clock: Clock;
  /** Where `${NAME}` in `env` and `headers` is looked up. */
  readonly environment: Environment;
  /** The values are as they are: whatever they name has been filled in. */
  readonly verbatim?: boolean;
  /** Asked before every start, the one after a crash included: why it may not be. */
  mayStart?(server: string): Promise<string | undefined>;
  /** Where servers are started when they name no folder of their own. */
  readonly folder: string;
  readonly startMs?: number;
}

export interface McpConnection {
  readonly client: Client;
  alive(): boolean;
  /** What is known of a server that failed. */
  lastWords(): string;
  close(): Promise<void>;
}

type Mode = 'auto' | 'legacy';

/** `signal` gives up a connection that is not made yet; one that is, is closed. */
export async function connectMcp(
  config: McpServerConfig,
  options: McpConnectOptions,
  signal: AbortSignal,
): Promise<Result<McpConnection, string>> {
  if ('url' in config) {
    const headers = expandAll(config.headers ?? {}, options);
    return headers.ok ? connectHttp(config.url, headers.value, options, signal) : headers;
  }
  const declared = expandAll(config.env ?? {}, options);
  if (!declared.ok) return declared;
  const server = {
    command: config.command,
    args: config.args ?? [],
    environment: { ...minimalEnvironment(options.environment), ...declared.value },
    folder: resolve(options.folder, config.cwd ?? '.'),
  };
  const sdk = await import('@modelcontextprotocol/client');
  const attempt = (mode: Mode) => {
    const transport = createStdioTransport(server, sdk, options.clock);
    return { transport, connected: connect(transport, mode, options, signal, transport.lastWords) };
  };
  const first = attempt('auto');
  const outcome = await first.connected;
  if (outcome.ok || signal.aborted || !diedOnTheQuestion(first.transport)) return outcome;
  // Some older servers end when they are asked anything before the handshake they know.
  return attempt('legacy').connected;
}

function diedOnTheQuestion(transport: StdioTransport): boolean {
  return transport.spawned() && transport.lastWords() !== '';
}

async function connectHttp(
  url: string,
  headers: Record<string, string>,
  options: McpConnectOptions,
  signal: AbortSignal,
): Promise<Result<McpConnection, string>> {
  const address = URL.parse(url);
  if (address === null) return fail('its `url` is not a valid address');
  const sdk = await import('@modelcontextprotocol/client');
  const transport = new sdk.StreamableHTTPClientTransport(address, { requestInit: { headers } });
  return connect(transport, 'auto', options, signal, () => '');
}

async function connect(
  transport: Transport,
  mode: Mode,
  { clock, startMs = limits.mcpStartMs }: McpConnectOptions,
  signal: AbortSignal,
  lastWords: () => string,
): Promise<Result<McpConnection, string>> {
  const client = await createClient(mode, startMs);
  let alive = true;
  client.onclose = () => {
    alive = false;
  };
  const deadline = new AbortController();
  const giveUp = AbortSignal.any([deadline.signal, signal]);
  const forget = clock.after(
    startMs,
    () => deadline.abort(new Error(`no answer within ${startMs / 1_000} s (mcpStartMs)`)),
    'hold',
  );
  try {
    await Promise.race([client.connect(transport, { signal: giveUp, timeout: startMs }), rejectOn(giveUp)]);
    return ok({ client, alive: () => alive, lastWords, close: () => closeBoth(client, transport) });
  } catch (error) {
    await closeBoth(client, transport);
    return fail([messageOf(giveUp.aborted ? giveUp.reason : error), lastWords()].filter((part) => part !== '').join('; '));
  } finally {
    forget();
  }
}

async function createClient(mode: Mode, startMs: number): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client');
  return new Client(
    { name: 'troupe', version: '0.1.0' },
    {
      capabilities: {},
      versionNegotiation: { mode, probe: { timeoutMs: Math.min(limits.mcpProbeMs, startMs / 2) } },
      // A result that does not fit its declared schema has still happened: the model sees it.
      jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) },
    },
  );
}

/** A client that never got through does not close its transport, so both are told. */
async function closeBoth(client: Client, transport: Transport): Promise<void> {
  await client.close().catch(() => {});
  await transport.close().catch(() => {});
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

function expandAll(
  values: Readonly<Record<string, string>>,
  { environment, verbatim = false }: McpConnectOptions,
): Result<Record<string, string>, string> {
  if (verbatim) return ok({ ...values });
  const expanded: Record<string, string> = {};
  const missing = new Set<string>();
  for (const [name, value] of Object.entries(values)) {
    const outcome = expandVariables(value, environment);
    expanded[name] = outcome.text;
    for (const variable of outcome.missing) missing.add(variable);
  }
  if (missing.size === 0) return ok(expanded);
  return fail(`the environment variable ${[...missing].join(', ')} is not set, which its configuration needs`);
}
