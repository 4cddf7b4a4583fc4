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
