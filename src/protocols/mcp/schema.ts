/**
 * A schema whose JSON Schema is made once. Over HTTP every request has a server instance of its own, and each would make the
 * JSON Schema of the tool that is called anew, which costs more than the call.
 */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import type { z } from 'zod';

export function withKeptJsonSchema<Schema extends z.ZodType>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema['~standard'];
  const kept = new Map<string, Record<string, unknown>>();
  type Options = Parameters<typeof standard.jsonSchema.input>[0];
  const keep = (direction: 'input' | 'output') => (options: Options) => {
    const key = `${direction} ${options.target}`;
    const known = kept.get(key) ?? standard.jsonSchema[direction](options);
    kept.set(key, known);
    return known;
  };
  return { '~standard': { ...standard, jsonSchema: { input: keep('input'), output: keep('output') } } };
}
