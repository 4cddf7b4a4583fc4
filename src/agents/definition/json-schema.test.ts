import { describe, expect, it } from 'vitest';
import { parseJson } from '../../base/json.ts';
import { definitionSchema } from './definition.ts';
import { agentJsonSchema, knownKeysAt } from './json-schema.ts';

describe('the schema for editors', () => {
  const schema = agentJsonSchema();

  it('is plain JSON that knows every key and no other', () => {
    expect(parseJson(JSON.stringify(schema))).toEqual({ ok: true, value: schema });
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
    });
    expect(knownKeysAt([])).toEqual(Object.keys(definitionSchema.shape));
    expect(schema['required']).toBeUndefined();
  });

  it('describes what people write, not what it becomes', () => {
    expect(schema['properties']).toMatchObject({
      handoff: { anyOf: [{ type: 'string' }, { type: 'object', required: ['to'] }] },
      advisors: { anyOf: [{ type: 'string' }, { type: 'array' }] },
      llmTimeout: { type: ['string', 'number'] },
      permissions: { additionalProperties: { anyOf: [{ enum: ['allow', 'ask', 'deny'] }, { type: 'object' }] } },
    });
  });

  it('knows the keys further down', () => {
    expect(knownKeysAt(['group', 'workers', 3])).toEqual(['agent', 'model', 'charter', 'name']);
    expect(knownKeysAt(['mcp', 'any'])).toEqual(['command', 'args', 'env', 'cwd', 'url', 'headers']);
    expect(knownKeysAt(['nowhere', 'at', 'all'])).toEqual([]);
  });
});
