/** The shape of agent frontmatter as a JSON Schema: for editors, which complete and check with it, and for our own hints. */
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Path } from '../text/yaml-map.ts';
import { definitionSchema } from './definition.ts';

export function agentJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(definitionSchema, { io: 'input' });
  return { ...(schema as JsonObject), title: 'Troupe agent', description: 'Frontmatter of a Troupe agent file.' };
}

/** The keys that the schema knows at a place in the frontmatter. */
export function knownKeysAt(path: Path): readonly string[] {
  return keysAt(agentJsonSchema(), path);
}

/** The same of any schema. */
export function keysAt(whole: JsonObject, path: Path): readonly string[] {
  let level: readonly JsonObject[] = [whole];
  for (const step of path) level = level.flatMap(alternatives).flatMap((schema) => below(schema, step));
  return [...new Set(level.flatMap(alternatives).flatMap((schema) => propertyNames(schema)))];
}

function alternatives(schema: JsonObject): readonly JsonObject[] {
  const { anyOf } = schema;
  return Array.isArray(anyOf) ? anyOf.filter(isJsonObject).flatMap(alternatives) : [schema];
}

function below(schema: JsonObject, step: PropertyKey): readonly JsonObject[] {
  const { properties, items, additionalProperties } = schema;
  if (typeof step === 'number') return isJsonObject(items) ? [items] : [];
  const named = isJsonObject(properties) ? properties[String(step)] : additionalProperties;
  return isJsonObject(named) ? [named] : [];
}

function propertyNames(schema: JsonObject): readonly string[] {
  const { properties } = schema;
  return isJsonObject(properties) ? Object.keys(properties) : [];
}
