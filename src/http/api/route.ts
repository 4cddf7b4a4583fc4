/**
 * One thing that the API does, as data: where it is, who may ask, what it takes and what it answers with. The server, the
 * description for programs and the page for people are made from the same table, so none of them can say what is not so.
 */
import type { z } from 'zod';
import type { Result } from '../../base/result.ts';
import type { Deed } from '../../front/roles.ts';
import type { GivenOut } from '../../front/shapes/given.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import type { HttpConnection } from '../listen.ts';
import type { Refusal } from './refusals.ts';

export interface RouteRequest<Query, Body> {
  readonly caller: McpCaller;
  /** What stands in the place of `{name}` in the path. */
  param(name: string): string;
  readonly query: Query;
  readonly body: Body;
  readonly header: (name: string) => string | undefined;
  /** What makes a repetition one: the same for a request and its repetition. */
  readonly key: string | undefined;
  readonly connection: HttpConnection;
  readonly signal: AbortSignal;
  /** Whether the token or the login still counts: what goes on for long asks again. */
  isStillIn(): boolean;
}

export type RouteReply<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'response'; readonly response: Response };

export type RouteOutcome<Value> = Promise<Result<RouteReply<Value>, Refusal>>;

export type RouteMethod = 'GET' | 'POST' | 'DELETE';

/** What it says to whom; `stream` and `bytes` are not JSON. */
export type RouteAnswer = z.ZodType | 'stream' | 'bytes' | 'text' | 'page';

export interface Route {
  readonly method: RouteMethod;
  /** `/runs/{run}`, below `/api/v1`. */
  readonly path: string;
  /** Beside the API and not below it: what other programs expect at a place of their own. */
  readonly at?: 'root' | undefined;
  readonly group: string;
  readonly summary: string;
  readonly deed: Deed | 'anybody';
  readonly query?: z.ZodType | undefined;
  /** `bytes`: whatever comes, unread; the handler reads it. */
  readonly body?: z.ZodType | 'bytes' | undefined;
  readonly answer: RouteAnswer;
  /** A repetition with the same `Idempotency-Key` does nothing again, and is answered like the first. */
  readonly once?: true | undefined;
  /** Of what was done as asked; 200 without it. */
  readonly status?: 201 | undefined;
  handle(asked: RouteRequest<unknown, unknown>): RouteOutcome<unknown>;
}

export const API = '/api/v1';

export const addressOf = ({ at, path }: Pick<Route, 'at' | 'path'>): string => (at === 'root' ? path : `${API}${path}`);

type BodyOf<Body> = Body extends z.ZodType ? z.infer<Body> : AsyncIterable<Uint8Array>;

interface Declared<Query extends z.ZodType, Body extends z.ZodType | 'bytes', Said extends RouteAnswer>
  extends Omit<Route, 'query' | 'body' | 'answer' | 'handle'> {
  readonly query?: Query;
  readonly body?: Body;
  readonly answer: Said;
  handle(
    asked: RouteRequest<z.infer<Query>, BodyOf<Body>>,
  ): RouteOutcome<Said extends z.ZodType ? GivenOut<z.input<Said>> : never>;
}

/** What was parsed by a route's own schemas is what its handler takes: the table knows no more than that. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType | 'bytes', Said extends RouteAnswer>(
  declared: Declared<Query, Body, Said>,
): Route {
  const { handle } = declared;
  return { ...declared, handle: (asked) => handle(asked as RouteRequest<z.infer<Query>, BodyOf<Body>>) };
}
