/** The table of routes as OpenAPI 3.1 has it, for programs that write clients and pages. */
import { z } from 'zod';
import { present } from '../../base/present.ts';
import { COOKIE, KEY_HEADER } from '../api/door.ts';
import { addressOf, type Route, type RouteAnswer, type RouteMethod } from '../api/route.ts';

export type Described = Readonly<Record<string, unknown>>;

/** What is read of a JSON Schema. */
export interface Schema {
  readonly $ref?: string | undefined;
  readonly type?: string | readonly string[] | undefined;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly allOf?: readonly Schema[] | undefined;
  readonly items?: Schema | false | undefined;
  readonly prefixItems?: readonly Schema[] | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export interface Operation extends Described {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Content }>>;
}

/** One route, where it is and what it is. */
export const described = (
  route: Route,
): { readonly address: string; readonly method: string; readonly operation: Operation } => ({
  ...{ address: addressOf(route), method: route.method, operation: operation(route) },
});

export function openApi(routes: readonly Route[], version: string): Described {
  const paths: Record<string, Record<string, Described>> = {};
  for (const route of routes) {
    const address = addressOf(route);
    paths[address] = { ...paths[address], [route.method.toLowerCase()]: operation(route) };
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Troupe', version, description: 'Runs of agents, and the ledger of what they did. See docs/http.md.' },
    paths,
    components: { securitySchemes: SCHEMES, schemas: { Error: jsonSchema(error) } },
  };
}

/** A program has a token. A browser has a login, and for what changes something also its key (`door.ts`). */
const SCHEMES = {
  token: { type: 'http', scheme: 'bearer' },
  login: { type: 'apiKey', in: 'cookie', name: COOKIE },
  key: { type: 'apiKey', in: 'header', name: KEY_HEADER },
} as const;

const waysIn = (method: RouteMethod): readonly Described[] => [
  { token: [] },
  method === 'GET' ? { login: [] } : { login: [], key: [] },
];

const error = z.object({
  error: z.looseObject({ code: z.string(), message: z.string(), fix: z.string().optional().describe('what to do about it') }),
});

function operation(route: Route): Operation {
  const { method, path, summary, group, deed, query, body, answer, once, status = 200 } = route;
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-zA-Z]+(\w?)/g, (_all, next: string) => next.toUpperCase())}`,
    summary,
    tags: [group],
    'x-troupe-deed': deed,
    ...(deed === 'anybody' ? {} : { security: waysIn(method) }),
    parameters: [...pathParameters(path), ...queryParameters(query), ...(once === true ? [REPEATED] : [])],
    ...present({ requestBody: body && { content: taken(body) } }),
    responses: { [String(status)]: { description: 'As asked.', ...contentOf(answer) }, default: REFUSED },
  };
}

const taken = (body: z.ZodType | 'bytes'): Content =>
  body === 'bytes' ? { [MEDIA.bytes]: {} } : { 'application/json': { schema: jsonSchema(body, 'input') } };

const REFUSED = {
  description: 'Refused; nothing was done.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};
const REPEATED: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same for a request and its repetition: what it asks for is done once.',
  schema: { type: 'string' },
};

const pathParameters = (path: string): readonly Parameter[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name: name ?? '',
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));

function queryParameters(query: z.ZodType | undefined): readonly Parameter[] {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(query, 'input');
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}

const MEDIA = { stream: 'text/event-stream', bytes: 'application/octet-stream', text: 'text/plain', page: 'text/html' } as const;

const contentOf = (answer: RouteAnswer): { readonly content: Content } =>
  typeof answer === 'string'
    ? { content: { [MEDIA[answer]]: {} } }
    : { content: { 'application/json': { schema: jsonSchema(answer) } } };

function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'output'): Schema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' });
  return rest as Schema;
}
