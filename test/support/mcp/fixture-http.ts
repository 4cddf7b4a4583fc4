/** The MCP server of tests behind our HTTP app on a free port, and official clients of both revisions for it. */
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { systemClock } from '../../../src/base/clock.ts';
import { createApp } from '../../../src/http/app.ts';
import { listen } from '../../../src/http/listen.ts';
import { allowedNames } from '../../../src/http/names.ts';
import { createTokens, type NamedToken } from '../../../src/http/tokens.ts';
import { createMcpEndpoint } from '../../../src/protocols/mcp/http.ts';
import type { FixtureNeeds } from './fixture-needs.ts';

export const eras = ['2026-07-28', '2025-11-25'] as const;
export type Era = (typeof eras)[number];

export interface FixtureServer extends AsyncDisposable {
  readonly url: URL;
  readonly port: number;
  readonly errors: Error[];
  client(era: Era, token?: string): Promise<Client>;
}

export interface FixtureOptions {
  readonly tokens?: readonly NamedToken[];
  readonly headersMs?: number;
}

export async function startFixture(needs: FixtureNeeds, { tokens = [], headersMs }: FixtureOptions = {}): Promise<FixtureServer> {
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const mcp = createMcpEndpoint(needs, onError);
  const names = allowedNames('127.0.0.1');
  const callerOf = (name: string) => ({ name, sees: name === 'user' ? 'everything' : 'own' }) as const;
  const app = createApp({ mcp, names, tokens: createTokens(tokens), owner: 'user', callerOf, version: '0.0.0', onError });
  const bounds = { host: '127.0.0.1', port: 0, clock: systemClock, headersMs };
  const server = await listen({ fetch: (request, connection) => app.fetch(request, connection), ...bounds });
  const url = new URL(`${server.origin}/mcp`);
  const clients: Client[] = [];
  return {
    url,
    port: server.port,
    errors,
    async client(era, token) {
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const client = await connectClient(era, new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await Promise.all([mcp.close(), server.stop()]);
      await needs.ledger.close();
    },
  };
}

export async function connectClient(era: Era, transport: Transport): Promise<Client> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy';
  const client = new Client({ name: 'test', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}
