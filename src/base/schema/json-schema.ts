/**
 * JSON Schemas that others wrote, as checks. The library that compiles them takes a schema without `type` for one that says
 * nothing, and passes over properties that are required and not described: so what such a schema says is spelled out first.
 */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';

/** Throws where there is something in the schema that cannot be checked here. */
export function schemaFrom(schema: JsonObject): z.ZodType {
  return z.fromJSONSchema(spelledOut(schema, 'root') as z.core.JSONSchema.JSONSchema);
}

/** Words that say something of values of one type, and nothing of any other. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['minProperties', 'maxProperties'],
  ],
  array: ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  string: ['pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};
const TYPES: readonly string[] = [...Object.keys(WORDS), 'boolean', 'null'];
/** With one of these it is said which values there may be. */
const SAYS_VALUES: readonly string[] = ['type', 'enum', 'const', '$ref'];
const HOLD_ONE: ReadonlySet<string> = new Set([
  ...['items', 'additionalItems', 'additionalProperties', 'contains', 'propertyNames', 'not'],
]);
const HOLD_LISTS: ReadonlySet<string> = new Set(['prefixItems', 'items', 'allOf', 'anyOf', 'oneOf']);
const HOLD_NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

function spelledOut(schema: Json, at: 'root' | 'below'): Json {
  if (!isJsonObject(schema)) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([word, value]) => [word, within(word, value ?? null)]));
  return { ...inner, ...typeOf(schema, at), ...requiredOf(inner) };
}

function within(word: string, value: Json): Json {
  if (Array.isArray(value)) return HOLD_LISTS.has(word) ? value.map((one) => spelledOut(one, 'below')) : value;
  if (HOLD_ONE.has(word)) return spelledOut(value, 'below');
  if (!HOLD_NAMED.has(word) || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spelledOut(one ?? null, 'below')]));
}

/** Whoever writes words about objects alone at the root means an object; below it, values of other types are passed over. */
function typeOf(schema: JsonObject, at: 'root' | 'below'): JsonObject {
  if (SAYS_VALUES.some((word) => Object.hasOwn(schema, word))) return {};
  const about = Object.keys(WORDS).filter((type) => WORDS[type]?.some((word) => Object.hasOwn(schema, word)));
  const [only] = about;
  if (only === undefined) return {};
  return { type: at === 'root' && about.length === 1 ? only : [...TYPES] };
}

function requiredOf({ required, properties = {}, additionalProperties }: JsonObject): JsonObject {
  if (!Array.isArray(required) || !isJsonObject(properties) || additionalProperties === false) return {};
  const other = isJsonObject(additionalProperties) ? additionalProperties : {};
  const missing = required.flatMap((name) => (typeof name === 'string' && !Object.hasOwn(properties, name) ? [name] : []));
  // A property of which nothing is said may have any value, and must be there.
  const named = [...Object.entries(properties), ...missing.map((name) => [name, other] as const)].map(([name, one]) =>
    required.includes(name) && isJsonObject(one) && Object.keys(one).length === 0 ? [name, { type: [...TYPES] }] : [name, one],
  );
  return { properties: Object.fromEntries(named) };
}
