/** JSON as a type, and the only place that turns text into it. */
import { fail, ok, type Result } from './result.ts';

/** Any value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

/** Parses text that a stranger wrote: never throws. */
export function parseJson(text: string): Result<Json, string> {
  try {
    return ok(JSON.parse(text) as Json);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON with sorted keys, so that equal values have equal bytes: what hashes and comparisons are made of.
 * Values that JSON cannot hold are treated as `JSON.stringify` treats them.
 */
export function canonicalJson(value: Json | undefined): string {
  return JSON.stringify(value, (_key, item: Json) => {
    if (!isJsonObject(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0)));
  });
}

/** So much longer than on one line it may be, when it is written for reading. */
const LONGER = 4;
const LONGER_CHARACTERS = 10_000;

/**
 * JSON for reading, on lines of their own. What is nested so deep, or has so much at a depth, that it would mostly be blanks
 * stays on one line: a stranger's few kilobytes must not become hundreds of megabytes. Throws where `JSON.stringify` does.
 */
export function readableJson(value: unknown): string {
  const compact = JSON.stringify(value) ?? 'null';
  const most = compact.length * LONGER + LONGER_CHARACTERS;
  return indentedLength(compact, most) > most ? compact : (JSON.stringify(value, null, 2) ?? 'null');
}

/** How long it would be with two blanks for each level; stops when it is too long. */
function indentedLength(compact: string, most: number): number {
  let length = compact.length;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < compact.length && length <= most; at += 1) {
    const sign = compact[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
      continue;
    }
    if (sign === '"') quoted = true;
    else if (sign === '[' || sign === '{') depth += 1;
    else if (sign === ']' || sign === '}') depth -= 1;
    else if (sign === ':') length += 1;
    if (sign === ',' || sign === '[' || sign === '{' || sign === ']' || sign === '}') length += 1 + 2 * depth;
  }
  return length;
}
