/** Whether answers of the API are what its own description says of them: every test that asks it holds them against it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Schema } from '../../../src/http/described/openapi.ts';

type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>>;

export interface DescribedApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Formats are words for people here. */
const ajv = new Ajv2020({ strict: false, validateFormats: false });
const checks = new Map<string, ValidateFunction>();

export function checkOf(name: string, schema: object): ValidateFunction {
  const known = checks.get(name) ?? ajv.compile(schema);
  checks.set(name, known);
  return known;
}

/** Does nothing for what is no JSON, and for what no route answers. */
export async function isAsDescribed(api: DescribedApi, method: string, address: string, response: Response): Promise<void> {
  if (!/^application\/json(;|$)/.test(response.headers.get('content-type') ?? '')) return;
  const { pathname } = new URL(address, 'http://here');
  const segments = pathname.split('/');
  const fits = (path: string): boolean => {
    const names = path.split('/');
    return names.length === segments.length && names.every((name, index) => name.startsWith('{') || name === segments[index]);
  };
  const paths = Object.keys(api.paths).filter((path) => api.paths[path]?.[method.toLowerCase()] !== undefined && fits(path));
  // What has a name of its own comes before what stands for any.
  const [path] = paths.toSorted((left, right) => left.split('{').length - right.split('{').length);
  if (path === undefined) return;
  const text = await response.text();
  // A HEAD, and what has not changed.
  if (text === '') return;
  const value: unknown = JSON.parse(text);
  const said = `${method} ${path} ${response.status}`;
  const isRefused = response.status >= 400;
  const contents = api.paths[path]?.[method.toLowerCase()]?.responses[String(response.status)]?.content;
  // Bytes may be anything, JSON too.
  if (!isRefused && contents?.['application/octet-stream'] !== undefined) return;
  const schema = isRefused ? api.components.schemas['Error'] : contents?.['application/json']?.schema;
  if (schema === undefined) throw new Error(`${said} is not described`);
  const check = checkOf(`${isRefused ? 'Error' : said}`, schema);
  expect({ said, errors: check(value) ? [] : check.errors, value }).toEqual({ said, errors: [], value });
}
