/**
 * The API as a function from a request to a response: who asks, whether they may, what they ask for, all before a route is
 * called. Names and pages were looked at before (`app.ts`).
 */
import { type Context, Hono } from 'hono';
import { messageOf } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { type Deed, mayDo, roleOfCaller } from '../../front/roles.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import type { HttpConnection } from '../listen.ts';
import { bodyIn, bytesIn } from './body.ts';
import { type ApiDoor, callerIn, isStillIn } from './door.ts';
import { invalid, knownRefusal, notFound, type Refusal, refusalResponse } from './refusals.ts';
import { addressOf, type Route, type RouteRequest } from './route.ts';

export interface ApiEndpoint {
  /** What it answers to beside everything below `API`. */
  readonly pages: readonly string[];
  fetch(request: Request, connection: HttpConnection): Promise<Response>;
}

export interface ApiOptions {
  readonly door: ApiDoor;
  readonly routes: readonly Route[];
  onError(error: Error): void;
}

/** Whoever may ask without saying who they are: nothing is done in their name. */
const NOBODY: McpCaller = { name: '', sees: 'own', role: 'viewer' };

export function createApi({ door, routes, onError }: ApiOptions): ApiEndpoint {
  const app = new Hono<{ Bindings: HttpConnection }>();
  for (const route of routes)
    app.on(route.method, addressOf(route).replaceAll(/\{(\w+)\}/g, ':$1'), (context) => answer(door, route, context));
  app.notFound(({ req }) => refusalResponse(notFound(`${req.method} ${req.path.slice(0, 200)} in this API`)));
  app.onError((error) => {
    const known = knownRefusal(error);
    if (known !== undefined) return refusalResponse(known);
    onError(error instanceof Error ? error : new Error(messageOf(error)));
    return refusalResponse({ status: 500, code: 'internal', message: 'Something went wrong in the server; its log says what.' });
  });
  const pages = routes.filter(({ at }) => at === 'root').map(addressOf);
  return { pages, fetch: async (request, connection) => await app.fetch(request, connection) };
}

async function answer(door: ApiDoor, route: Route, context: Context<{ Bindings: HttpConnection }>): Promise<Response> {
  const response = await answered(door, route, context);
  // Nobody ever reads the body of this one: a stream would count as open, and be made, for as long as the server lives.
  if (context.req.method === 'HEAD') await response.body?.cancel();
  return response;
}

async function answered(door: ApiDoor, route: Route, context: Context<{ Bindings: HttpConnection }>): Promise<Response> {
  const asked = await askedIn(door, route, context);
  if (!asked.ok) return refusalResponse(asked.error, asked.error.status === 401 ? { 'www-authenticate': 'Bearer' } : {});
  const outcome = await route.handle(asked.value);
  if (!outcome.ok) return refusalResponse(outcome.error);
  if (outcome.value.kind === 'response') return outcome.value.response;
  return Response.json(outcome.value.value, { status: route.status ?? 200 });
}

async function askedIn(
  door: ApiDoor,
  { deed, query, body }: Route,
  { req, env }: Context<{ Bindings: HttpConnection }>,
): Promise<Result<RouteRequest<unknown, unknown>, Refusal>> {
  const caller = deed === 'anybody' ? ok(NOBODY) : callerIn(door, req.raw);
  if (!caller.ok) return caller;
  if (deed !== 'anybody' && !mayDo(roleOfCaller(caller.value), deed)) return fail(notAllowed(caller.value, deed));
  const words = query?.safeParse(req.query());
  if (words?.success === false) return fail(invalid(explained('the query', words.error.issues)));
  const given = body === undefined ? ok(undefined) : body === 'bytes' ? bytesIn(req.raw) : await bodyIn(req.raw);
  if (!given.ok) return given;
  const parsed = body === undefined || body === 'bytes' ? undefined : body.safeParse(given.value);
  if (parsed?.success === false) return fail(invalid(explained('the body', parsed.error.issues)));
  const key = req.header('idempotency-key');
  if (key !== undefined && !/^[\x21-\x7e]{1,200}$/.test(key))
    return fail(invalid(`An Idempotency-Key has 1 to ${limits.idempotencyKeyCharacters} visible characters.`));
  return ok({
    ...{
      caller: caller.value,
      query: words?.data,
      body: body === 'bytes' ? given.value : parsed?.data,
      key,
      connection: env,
      signal: req.raw.signal,
    },
    param: (name) => req.param(name) ?? '',
    header: (name) => req.header(name),
    isStillIn: () => isStillIn(door, req.raw),
  });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** The first few, each with where it is. */
const explained = (where: string, issues: readonly Issue[]): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.length === 0 ? where : path.map(String).join('.')}: ${message}`)
    .join('; ');

const notAllowed = (caller: McpCaller, deed: Deed): Refusal => ({
  status: 403,
  code: 'not_allowed',
  message: `${caller.name} may not do this: its role is ${roleOfCaller(caller)}.`,
  fix: deed === 'keep' ? 'Only the owner may.' : 'The owner can give another role: serve.callers in troupe.yaml.',
});
