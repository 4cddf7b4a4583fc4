/** Checks a value against a JSON Schema from an agent file. Compiled once per schema. */
import { z } from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { schemaFrom } from '../base/schema/json-schema.ts';

const compiled = new WeakMap<object, z.ZodType | undefined>();

/** What is wrong, in words; `undefined` when the value fits, or when the schema is one that cannot be checked here. */
export function schemaProblem(schema: Json, value: Json): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (!compiled.has(schema)) compiled.set(schema, compile(schema));
  const checked = compiled.get(schema)?.safeParse(value);
  return checked === undefined || checked.success ? undefined : z.prettifyError(checked.error);
}

function compile(schema: JsonObject): z.ZodType | undefined {
  try {
    return schemaFrom(schema);
  } catch {
    return undefined;
  }
}
