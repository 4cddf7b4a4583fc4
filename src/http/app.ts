/**
 * The HTTP server's routes, and what holds for all of them: the name and the page are ours, the caller is known, and answers
 * are for the caller only.
 */
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { messageOf } from '../base/errors.ts';
import type { A2aEndpoint } from '../protocols/a2a-wire/http.ts';
import type { McpEndpoint } from '../protocols/mcp/http.ts';
import type { McpCaller } from '../protocols/mcp/needs.ts';
import type { ApiEndpoint } from './api/api.ts';
import { refusalResponse } from './api/refusals.ts';
import { API } from './api/route.ts';
import type { ConsoleFiles } from './console/files.ts';
import { type EdgeNeeds, type MountedEdge, mountEdges } from './edges.ts';
import type { HttpConnection } from './listen.ts';
import { type AllowedNames, isAllowedHost, isAllowedOrigin } from './names.ts';
import { bearerToken, type Tokens } from './tokens.ts';

export interface AppNeeds {
  readonly mcp: McpEndpoint;
  /** Where peers find agents, if they may. */
  readonly a2a?: Pick<A2aEndpoint, 'card' | 'fetch'> | undefined;
  /** Protocols at places of their own. */
  readonly edges?: ServedEdges | undefined;
  /** What programs and a console read and do, if there is a door for them. */
  readonly api?: ApiEndpoint | undefined;
  /** The pages that people look at, where they are there. */
  readonly pages?: ConsoleFiles | undefined;
  readonly names: AllowedNames;
  readonly tokens: Tokens;
  /** Whoever holds the token of this name, or anybody when no token is needed, is the owner of the project. */
  readonly owner: string;
  callerOf(name: string): McpCaller;
  readonly version: string;
  onError(error: Error): void;
}

export interface ServedEdges extends Pick<EdgeNeeds, 'clock' | 'stopping'> {
  readonly mounted: readonly MountedEdge[];
}

type Environment = { Bindings: HttpConnection; Variables: { caller: McpCaller } };

const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export function createApp(needs: AppNeeds): Hono<Environment> {
  const app = new Hono<Environment>();
  app.use(safeHeaders);
  app.use(knownNames(needs.names));
  app.get('/healthz', (context) => context.json({ status: 'ok', version: needs.version }));
  app.use('/mcp', knownCaller(needs));
  app.all('/mcp', (context) => needs.mcp.fetch(context.req.raw, context.get('caller')));
  if (needs.a2a !== undefined) mountA2a(app, needs, needs.a2a);
  const { api, edges, onError } = needs;
  const callerIn = (request: Request): McpCaller | undefined =>
    callerWith(needs, request.headers.get('authorization') ?? undefined);
  if (edges !== undefined) mountEdges(app, edges.mounted, { ...edges, callerIn, onError });
  if (api !== undefined) for (const path of [`${API}/*`, ...api.pages]) app.all(path, ({ req, env }) => api.fetch(req.raw, env));
  const { pages } = needs;
  if (pages !== undefined) app.get('*', async ({ req }, next) => (await pages.respond(req.raw)) ?? (await next()));
  app.notFound((context) => refuse(context, 'There is nothing here; the MCP server is at /mcp, the API at /api/v1', 404));
  app.onError((error, context) => {
    needs.onError(error instanceof Error ? error : new Error(messageOf(error)));
    // What went wrong inside is for the log: a stranger learns only that it did.
    return refuse(context, 'Something went wrong in the server; its log says what', 500);
  });
  return app;
}

/** Cards are for everybody, everything else is for callers. */
function mountA2a(app: Hono<Environment>, needs: AppNeeds, a2a: Pick<A2aEndpoint, 'card' | 'fetch'>): void {
  for (const path of [
    '/.well-known/agent-card.json',
    '/a2a/.well-known/agent-card.json',
    '/a2a/agents/:agent/.well-known/agent-card.json',
  ])
    app.on(['GET', 'HEAD'], path, (context) => a2a.card(context.req.raw));
  for (const path of ['/a2a', '/a2a/*']) {
    app.use(path, knownCaller(needs));
    app.all(path, (context) => a2a.fetch(context.req.raw, context.get('caller')));
  }
}

const safeHeaders: MiddlewareHandler = async (context, next) => {
  await next();
  const { headers } = context.res;
  // What has a tag, and what is a stream of ours or a page, says itself how long it may be kept and what may run in it.
  const ours = context.req.path.startsWith(`${API}/`) || headers.has('content-security-policy');
  for (const [name, value] of Object.entries(HEADERS))
    if (!(headers.has(name) && (ours || (name === 'cache-control' && headers.has('etag'))))) headers.set(name, value);
};

function knownNames(names: AllowedNames): MiddlewareHandler {
  return async (context, next) => {
    if (!isAllowedHost(context.req.header('host'), names))
      return refuse(context, 'This host is not served; add it with --allow-host', 403, 'foreign_host');
    if (!isAllowedOrigin(context.req.header('origin'), names))
      return refuse(context, 'Pages of this origin may not call the server; add its host with --allow-host', 403, 'foreign_page');
    return await next();
  };
}

function callerWith({ tokens, owner, callerOf }: AppNeeds, authorization: string | undefined): McpCaller | undefined {
  const token = bearerToken(authorization);
  const name = tokens.open ? owner : token === undefined ? undefined : tokens.ownerOf(token);
  return name === undefined ? undefined : callerOf(name);
}

function knownCaller(needs: AppNeeds): MiddlewareHandler<Environment> {
  return async (context, next) => {
    const authorization = context.req.header('authorization');
    const caller = callerWith(needs, authorization);
    if (caller === undefined) {
      context.header('www-authenticate', bearerToken(authorization) === undefined ? 'Bearer' : 'Bearer error="invalid_token"');
      return refuse(context, 'This server needs a token: Authorization: Bearer …', 401);
    }
    context.set('caller', caller);
    return await next();
  };
}

const STATUS = { 401: 'UNAUTHENTICATED', 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND', 500: 'INTERNAL' } as const;

/** Where HTTP+JSON of A2A is spoken. */
const HTTP_JSON = /^\/a2a(\/agents\/[^/]+)?\/rest(\/|$)/;

/** In the form that whoever asks there reads: that of the API, of HTTP+JSON, or of JSON-RPC, which MCP and A2A have. */
function refuse(context: Context, message: string, code: keyof typeof STATUS, named = STATUS[code].toLowerCase()): Response {
  if (context.req.path.startsWith(`${API}/`)) return refusalResponse({ status: code, code: named, message: `${message}.` });
  const error = HTTP_JSON.test(context.req.path)
    ? { error: { code, status: STATUS[code], message, details: [] } }
    : { jsonrpc: '2.0', id: null, error: { code: -32_000, message } };
  return context.json(error, code);
}
