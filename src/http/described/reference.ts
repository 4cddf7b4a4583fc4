/** The page of the table for people: each route with what it takes, what it answers and how it refuses, from its description. */

import type { Route } from '../api/route.ts';
import { escapedHtml, plainPage } from './html.ts';
import { type Described, described, type Operation, type Schema } from './openapi.ts';

export const REFERENCE_STYLE = `:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 12.5px/1.45 ui-monospace, monospace; }
pre { padding: .6rem .8rem; overflow: auto; background: color-mix(in srgb, currentColor 6%, transparent); }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .3rem 0; }
details[open] { padding-bottom: 1rem; }
summary { display: grid; grid-template-columns: minmax(18rem, 2fr) 3fr minmax(8rem, 1fr); gap: 1rem; cursor: pointer; }
summary code { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
td { padding: .2rem .8rem .2rem 0; vertical-align: top; }
h3 { margin: .8rem 0 .2rem; font-size: 1em; }
@media (max-width: 50rem) { summary { grid-template-columns: 1fr; gap: 0; } }
`;

const MAY = {
  anybody: 'anybody',
  look: 'everybody with a token',
  work: 'all but viewers',
  survey: 'whoever sees everything',
  direct: 'operators and the owner',
  keep: 'the owner',
} as const;

/** Those that any route may give, beside those that its own words name. */
const REFUSALS = [
  ['400', 'the request is not as it should be'],
  ['401', 'nobody is known by this token or login'],
  ['403', 'whoever asks may not'],
  ['404', 'it is not there, or not for whoever asks'],
  ['409', 'somebody or something was first'],
  ['410', 'it was collected'],
  ['413', 'the body is too large'],
  ['415', 'the body is no JSON'],
  ['422', 'it cannot be done at all, or the Idempotency-Key was used for something else'],
  ['429', 'a limit, which is named'],
  ['500', 'something went wrong in the server, whose log says what'],
] as const;

export function referencePage(routes: readonly Route[], version: string): string {
  const groups = Map.groupBy(routes, ({ group }) => group);
  const parts = [...groups].map(([group, listed]) => `<h2>${escapedHtml(group)}</h2>${listed.map(entry).join('')}`);
  const refused = REFUSALS.map(([status, words]) => row([code(status), words])).join('');
  const title = `Troupe ${version}: HTTP API`;
  return plainPage(
    title,
    '<link rel="stylesheet" href="/reference.css">',
    `<h1>${escapedHtml(title)}</h1><p>For programs: <a href="/openapi.json">/openapi.json</a>. ` +
      `A name with a <code>?</code> may be left out.</p>${parts.join('')}` +
      `<h2>Refusals</h2><p>Whatever is refused did nothing, and says so:</p><pre>${escapedHtml(REFUSED)}</pre><table>${refused}</table>`,
  );
}

const REFUSED = '{\n  error: {\n    code: string\n    message: string\n    fix?: string  // what to do about it\n  }\n}';

const code = (text: string): string => `<code>${escapedHtml(text)}</code>`;
const row = (cells: readonly string[]): string => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;

function entry(route: Route): string {
  const { address, method, operation } = described(route);
  const said = [route.summary, MAY[route.deed]].map((text) => `<span>${escapedHtml(text)}</span>`).join('');
  const title = `<summary>${code(`${method} ${address}`)}${said}</summary>`;
  const rest = [parametersOf(operation), bodyOf(operation), answersOf(operation)].join('');
  return `<details id="${escapedHtml(operation.operationId)}">${title}${rest}</details>`;
}

function parametersOf({ parameters }: Operation): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((one) => {
    const { name, required = false, schema, description = schema.description ?? '' } = one;
    return row([
      code(name + (required ? '' : '?')),
      one.in,
      code(wordsOf({ ...schema, description: undefined })),
      escapedHtml(description),
    ]);
  });
  return `<h3>Parameters</h3><table>${rows.join('')}</table>`;
}

function bodyOf({ requestBody }: Operation): string {
  return Object.entries(requestBody?.content ?? {})
    .map(([type, { schema }]) => (schema === undefined ? code(type) : `<pre>${escapedHtml(schemaText(schema))}</pre>`))
    .map((text) => `<h3>Body</h3>${text}`)
    .join('');
}

const answersOf = ({ responses }: Operation): string =>
  Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, { content }]) => {
      const shown = Object.entries(content).map(([type, { schema }]) =>
        schema === undefined ? `<p>${code(type)}</p>` : `<pre>${escapedHtml(schemaText(schema))}</pre>`,
      );
      return `<h3>Answer ${status}</h3>${shown.join('')}`;
    })
    .join('');

/** Deeper than any of ours: what refers to itself ends there. */
const DEEPEST = 12;

/** As somebody would write it down in a program. */
export function schemaText(schema: Schema, depth = 0): string {
  const { anyOf, oneOf, allOf, enum: named, type } = schema;
  const several = anyOf ?? oneOf ?? allOf;
  if (depth > DEEPEST) return '…';
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (several !== undefined)
    return [...new Set(several.map((one) => schemaText(one, depth)))].join(allOf === undefined ? ' | ' : ' & ');
  if (named !== undefined) return named.map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (typeof type === 'object') return type.join(' | ');
  if (type === 'array') return listText(schema, depth);
  return type === 'object' ? objectText(schema, depth) : (type ?? 'any');
}

function listText({ items, prefixItems }: Schema, depth: number): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((one) => schemaText(one, depth)).join(', ')}]`;
  const inner = items === undefined || items === false ? 'any' : schemaText(items, depth);
  return / [|&] /.test(inner) && !inner.startsWith('{') ? `(${inner})[]` : `${inner}[]`;
}

function objectText({ properties = {}, required = [], additionalProperties }: Schema, depth: number): string {
  const pad = '  '.repeat(depth + 1);
  const lines = Object.entries(properties).map(([name, inner]) => {
    const words = inner.description === undefined ? '' : `  // ${inner.description}`;
    return `${pad}${name}${required.includes(name) ? '' : '?'}: ${schemaText(inner, depth + 1)}${words}`;
  });
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0)
    lines.push(`${pad}[name: string]: ${schemaText(additionalProperties, depth + 1)}`);
  return lines.length === 0 ? '{}' : `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

const BOUNDS = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['minLength', 'from'],
  ['maxLength', 'up to'],
] as const;

/** In one line, with its bounds and what it is without a word. */
function wordsOf(schema: Described & Schema): string {
  const bounds = BOUNDS.flatMap(([name, words]) => {
    const bound = schema[name];
    return bound === undefined || bound === Number.MAX_SAFE_INTEGER
      ? []
      : [`${words} ${bound}${name.endsWith('Length') ? ' characters' : ''}`];
  });
  const otherwise = schema.default === undefined ? [] : [`${JSON.stringify(schema.default)} without a word`];
  return [schemaText(schema), ...bounds, ...otherwise].join(', ');
}
