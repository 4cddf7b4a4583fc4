import { describe, expect, it } from 'vitest';
import { fieldsOf, promptOf } from './input-fields.ts';

const schema = {
  type: 'object',
  required: ['path', 'level'],
  properties: {
    path: { type: 'string', maxLength: 100, description: 'which file' },
    level: { enum: ['low', 'high'] },
    count: { type: 'integer' },
    deep: { type: 'boolean' },
    words: { type: 'array', items: { type: 'string' } },
    more: { type: 'object' },
  },
};

describe('the fields of an input schema', () => {
  it('are one for each property, of the kind that fits it', () => {
    expect(fieldsOf(schema)?.map(({ name, kind, needed }) => [name, kind, needed])).toEqual([
      ['path', 'line', true],
      ['level', 'choice', true],
      ['count', 'number', false],
      ['deep', 'yes-no', false],
      ['words', 'list', false],
      ['more', 'json', false],
    ]);
  });

  it('are none without a schema, and one for JSON where no property is named', () => {
    expect(fieldsOf(undefined)).toBeUndefined();
    expect(fieldsOf({ type: 'array' })?.map(({ name, kind }) => [name, kind])).toEqual([['', 'json']]);
  });

  it.each([
    [
      'what was filled in',
      { path: 'a', level: 'low', count: '3', words: 'x\n\ny', more: '{"a":1}' },
      '{"path":"a","level":"low","count":3,"deep":false,"words":["x","y"],"more":{"a":1}}',
    ],
    ['what is needed and missing', { path: 'a' }, 'level is needed.'],
    ['what is no number', { path: 'a', level: 'low', count: '1.5' }, 'count is a whole number.'],
    [
      'what is no JSON',
      { path: 'a', level: 'low', more: '{' },
      'more is JSON: quotes around texts and names, no comma at the end.',
    ],
  ])('make an input of %s', (_what, filled, expected) => {
    const made = promptOf(fieldsOf(schema) ?? [], filled);
    expect(made.ok ? made.value : made.error).toBe(expected);
  });
});
