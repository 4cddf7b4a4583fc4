/** The API on a real port over a real ledger, and what tests ask it with. */
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import type { OpenEdges } from '../../../src/cli/serving/edges.ts';
import { type ApiNeeds, createServedApi } from '../../../src/http/api/served-api.ts';
import { createApp } from '../../../src/http/app.ts';
import type { ConsoleFiles } from '../../../src/http/console/files.ts';
import { type HttpConnection, listen } from '../../../src/http/listen.ts';
import { allowedNames } from '../../../src/http/names.ts';
import { createTokens } from '../../../src/http/tokens.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import type { McpCaller } from '../../../src/protocols/mcp/needs.ts';
import { givenRun, type Writer } from '../../conformance/ledger/support.ts';
import { type DescribedApi, isAsDescribed } from './described.ts';

export const OWNER_TOKEN = 'owner-token-0123456789';

export interface ApiServer extends AsyncDisposable {
  readonly origin: string;
  readonly ledger: Ledger;
  readonly errors: Error[];
  /** How many connections the API itself has cut off. */
  cuts(): number;
  /** Where the owner's browser logs in. */
  loginPath(): string;
  /** As the owner, unless another token is given, or none. */
  ask(path: string, options?: AskOptions): Promise<Response>;
  run(): Promise<Writer>;
}

export interface AskOptions extends RequestInit {
  readonly token?: string | undefined;
}

export interface ApiServerOptions {
  readonly ledger?: Ledger;
  readonly clock?: Clock;
  /** Beside the owner, by their tokens. */
  readonly callers?: Readonly<Record<string, McpCaller>>;
  readonly port?: number;
  /** Where people come through a proxy. */
  readonly url?: string;
  readonly more?: Partial<ApiNeeds>;
  /** Doors for chat programs. */
  edges?(onError: (error: Error) => void): Promise<OpenEdges>;
  /** The console, where somebody looks at it. */
  readonly pages?: ConsoleFiles | undefined;
}

export const tokenOf = (name: string): string => `${name}-token-0123456789`;

export const openMemoryLedger = (path = ':memory:'): Ledger =>
  openSqliteLedger({ path, clock: systemClock, ids: createIds(systemClock, systemRandom), validate: true });

export async function startApi(options: ApiServerOptions = {}): Promise<ApiServer> {
  const { clock = systemClock, callers = {}, port = 0, ledger = openMemoryLedger() } = options;
  const ids = createIds(systemClock, systemRandom);
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const names = Object.keys(callers);
  const tokens = createTokens([{ name: 'owner', token: OWNER_TOKEN }, ...names.map((name) => ({ name, token: tokenOf(name) }))]);
  const callerOf = (name: string): McpCaller => callers[name] ?? { name: 'owner', sees: 'everything' };
  const door = { tokens, callerOf, owner: 'owner' };
  const api = createServedApi({
    ...door,
    url: options.url,
    ledger,
    clock,
    random: systemRandom,
    version: '0.0.0',
    onError,
    ...options.more,
  });
  const mcp = { fetch: async () => new Response(null, { status: 404 }), close: async () => undefined };
  const edges = await options.edges?.(onError);
  const app = createApp({
    ...door,
    mcp,
    api,
    edges,
    pages: options.pages,
    names: allowedNames('127.0.0.1', [], options.url),
    version: '0.0.0',
    onError,
  });
  let api31: Promise<DescribedApi> | undefined;
  const described = (): Promise<DescribedApi> => {
    api31 ??= fetch(new URL('/openapi.json', server.origin)).then(async (answer) => (await answer.json()) as DescribedApi);
    return api31;
  };
  let cuts = 0;
  const fetchApp = (request: Request, { cut }: HttpConnection) =>
    app.fetch(request, {
      cut: () => {
        cuts += 1;
        cut();
      },
    });
  const server = await listen({ fetch: fetchApp, host: '127.0.0.1', port, clock: systemClock });
  edges?.begin(server.origin);
  return {
    origin: server.origin,
    ledger,
    errors,
    cuts: () => cuts,
    loginPath: api.loginPath,
    async ask(path, { token = OWNER_TOKEN, headers, ...rest } = {}) {
      const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(new URL(path, server.origin), { ...rest, headers: { ...authorization, ...headers } });
      // A stream that has a copy is open until both are given up.
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (/^\/api\//.test(path) && !isStream)
        await isAsDescribed(await described(), rest.method ?? 'GET', path, response.clone());
      return response;
    },
    run: () => givenRun({ ledger, newSession: ids.session, newRun: ids.run }),
    async [Symbol.asyncDispose]() {
      edges?.close();
      api.close();
      await server.stop();
      await ledger.close();
    },
  };
}

export const sendJson = (body: unknown, more: Record<string, string> = {}): AskOptions => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...more },
  body: JSON.stringify(body),
});
