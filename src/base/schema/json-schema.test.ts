import { expect, it } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { schemaFrom } from './json-schema.ts';

const fits = (schema: JsonObject, value: Json): boolean => schemaFrom(schema).safeParse(value).success;

it('holds what is required, also where it is not described', () => {
  for (const schema of [
    { required: ['slug'] },
    { type: 'object', required: ['slug'] },
    { type: 'object', required: ['slug'], properties: { slug: {} } },
    { properties: { slug: { minLength: 1 } }, required: ['slug'] },
    { allOf: [{ required: ['slug'] }, { properties: { slug: { minLength: 1 } } }] },
    { $ref: '#/$defs/one', $defs: { one: { required: ['slug'] } } },
  ] as const) {
    const said = JSON.stringify(schema);
    expect(fits(schema, { slug: 'a' }), said).toBe(true);
    expect(fits(schema, { slug: 'a', more: 1 }), said).toBe(true);
    expect(fits(schema, { other: 'a' }), said).toBe(false);
  }
  const others = { type: 'object', required: ['size'], additionalProperties: { type: 'number' } };
  expect([fits(others, { size: 1 }), fits(others, { size: 'a' }), fits(others, {})]).toEqual([true, false, false]);
  expect(fits({ type: 'object', required: ['a'], additionalProperties: false }, { a: 1 })).toBe(false);
});

it('without a type says something only of the values that its words are about', () => {
  const inside = { type: 'object', properties: { at: { minLength: 2, minimum: 5 } } };
  for (const [at, right] of [
    ['ab', true],
    ['a', false],
    [5, true],
    [4, false],
    [null, true],
    [[], true],
    [{}, true],
    [false, true],
  ] as const)
    expect(fits(inside, { at }), JSON.stringify(at)).toBe(right);
  // At the root whoever writes words about objects means one.
  expect([fits({ required: ['a'] }, 'a'), fits({ items: { type: 'string' } }, ['a']), fits({}, 'a')]).toEqual([
    false,
    true,
    true,
  ]);
  expect(fits({ items: { maximum: 3 } }, [1, 'a', 4])).toBe(false);
});

it('leaves alone what only looks like a schema', () => {
  expect(fits({ enum: [1, 'a'] }, 'a')).toBe(true);
  expect(fits({ const: 'a', minLength: 3 }, 'a')).toBe(true);
  const value = { type: 'object', properties: { required: { type: 'array', items: { type: 'string' } } } };
  expect([fits(value, {}), fits(value, { required: ['a'] }), fits(value, { required: [1] })]).toEqual([true, true, false]);
  expect(() => schemaFrom({ $ref: 'https://elsewhere.example/schema' })).toThrow();
});
