/**
 * Protocols of their own at places of their own: whoever asks is known, the body is read within its bound, a stream is pulled and
 * costs nothing while nobody takes it. What is refused here is said in the words of the protocol.
 */
import type { Context, Hono } from 'hono';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { EdgeRefusal, EdgeReply, EdgeRequest, ServedEdge } from '../protocols/edges/edge.ts';
import type { McpCaller } from '../protocols/mcp/needs.ts';
import { bodyIn } from './api/body.ts';
import type { HttpConnection } from './listen.ts';
import { endlessResponse } from './stream/endless-response.ts';

export interface MountedEdge {
  /** `/v1`: everything below it. */
  readonly at: string;
  readonly edge: ServedEdge;
}

export interface EdgeNeeds {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** Who holds what the request carries; nobody without it. */
  callerIn(request: Request): McpCaller | undefined;
  onError(error: Error): void;
}

type App = Hono<{ Bindings: HttpConnection; Variables: { caller: McpCaller } }>;

export function mountEdges(app: App, edges: readonly MountedEdge[], needs: EdgeNeeds): void {
  const open = new Map<string, number>();
  for (const { at, edge } of edges)
    for (const path of [at, `${at}/*`]) app.all(path, (context) => answered(context, at, edge, needs, open));
}

const NOBODY: EdgeRefusal = {
  ...{ status: 401, code: 'unauthenticated', message: 'This needs a token.' },
  fix: 'Send Authorization: Bearer <token>; as an API key it is the same.',
};

async function answered(
  { req, env }: Pick<Context<{ Bindings: HttpConnection }>, 'req' | 'env'>,
  at: string,
  edge: ServedEdge,
  needs: EdgeNeeds,
  open: Map<string, number>,
): Promise<Response> {
  const refuse = (refusal: EdgeRefusal): Response =>
    Response.json(edge.refused(refusal), { status: refusal.status, headers: { 'x-should-retry': 'false' } });
  const caller = needs.callerIn(req.raw);
  if (caller === undefined) return refuse(NOBODY);
  const path = stepsOf(new URL(req.url).pathname.slice(at.length));
  if (path === undefined) return refuse({ status: 404, code: 'not_found', message: 'There is nothing here.' });
  const reads = req.method === 'GET' || req.method === 'HEAD';
  const body = reads ? undefined : await bodyIn(req.raw);
  if (body?.ok === false) return refuse(body.error);
  const request: EdgeRequest = { method: req.method, path, caller, body: body?.value, signal: req.raw.signal };
  // Before anything begins: whoever could not be told of it would have it done for nothing.
  if (!reads && (open.get(caller.name) ?? 0) >= limits.streamsPerCaller) return refuse(tooMany);
  const leave = counted(open, caller.name, !reads);
  try {
    return written(await edge.answer(request), env, needs, leave);
  } catch (error) {
    leave();
    needs.onError(error instanceof Error ? error : new Error(messageOf(error)));
    return refuse({ status: 500, code: 'internal', message: 'Something went wrong in the server; its log says what.' });
  }
}

const tooMany: EdgeRefusal = {
  ...{ status: 429, code: 'too_many_streams' },
  message: `${limits.streamsPerCaller} requests are open for this caller (limit streamsPerCaller).`,
  fix: 'Close one of them first.',
};

/** What is open counts until it is closed. */
function counted(open: Map<string, number>, name: string, counts: boolean): () => void {
  if (!counts) return () => undefined;
  open.set(name, (open.get(name) ?? 0) + 1);
  let isLeft = false;
  return () => {
    if (isLeft) return;
    isLeft = true;
    const left = (open.get(name) ?? 1) - 1;
    if (left > 0) open.set(name, left);
    else open.delete(name);
  };
}

function written(reply: EdgeReply, { cut }: HttpConnection, { clock, stopping }: EdgeNeeds, leave: () => void): Response {
  if (reply.kind === 'value') {
    leave();
    return Response.json(reply.value, { status: reply.status, headers: { ...reply.headers } });
  }
  const encoder = new TextEncoder();
  return endlessResponse({
    ...{ clock, stopping, cut, type: reply.type },
    async *frames(signal) {
      for await (const piece of reply.pieces(signal)) yield encoder.encode(piece);
    },
    ended: () => {
      leave();
      reply.close();
    },
  });
}

function stepsOf(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((step) => step !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
