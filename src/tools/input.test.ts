import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../base/json.ts';
import { checkInput } from './input.ts';

const schema: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'string' },
    count: { type: 'integer', default: 3 },
    mode: { enum: ['a', 'b'] },
    list: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    mail: { type: 'string', format: 'email' },
  },
  required: ['path'],
  additionalProperties: false,
};

describe('checkInput holds arguments against a schema', () => {
  const messages: readonly [Json, string][] = [
    [{}, '`path` is required and must be a string'],
    [{ path: 1 }, '`path` must be a string'],
    [{ path: 'x', count: 1.5 }, '`count` must be a whole number'],
    [{ path: 'x', count: '3' }, '`count` must be a number'],
    [{ path: 'x', mode: 'c' }, '`mode` must be "a" or "b"'],
    [{ path: 'x', list: [{ n: 1 }, {}] }, '`list[1].n` is required and must be a number'],
    [{ path: 'x', either: 3 }, '`either` fits none of the allowed forms'],
    [{ path: 'x', extra: 1 }, 'the arguments may not have `extra`'],
    ['text', 'the arguments must be an object'],
    [null, 'the arguments must be an object'],
  ];
  it.each(messages)('%j: %s', (input, message) => {
    const checked = checkInput(schema, input);
    expect(checked.ok ? '' : checked.error).toContain(message);
  });

  it('changes nothing: no defaults, no coercion', () => {
    const input = { path: 'x' };
    expect(checkInput(schema, input)).toEqual({ ok: true, value: { path: 'x' } });
  });

  it('takes a format as a remark', () => {
    expect(checkInput(schema, { path: 'x', mail: 'not a mail address' }).ok).toBe(true);
  });

  it('accepts anything for a schema it cannot compile', () => {
    expect(checkInput({ type: 'object', if: { required: ['a'] }, else: { required: ['b'] } }, { c: 1 }).ok).toBe(true);
    expect(checkInput({ $ref: 'https://example.org/schema.json' }, {}).ok).toBe(true);
  });

  it('says what is wrong with a value of its type, and not which other types there might be', () => {
    expect(checkInput({ type: 'object', properties: { at: { required: ['x'] } } }, { at: {} })).toMatchObject({
      error: expect.stringMatching(/^The arguments do not fit the tool's schema: `at\.x` [^;]*\.$/),
    });
  });

  it('answers any input with a value, never an exception', () => {
    const objects = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(objects, objects, (anySchema, input) => {
        checkInput(schema, input as Json);
        if (typeof anySchema === 'object' && anySchema !== null && !Array.isArray(anySchema))
          checkInput(anySchema as JsonObject, input as Json);
      }),
    );
    let deep: Json = {};
    for (let depth = 0; depth < 50_000; depth += 1) deep = { x: deep };
    expect(
      checkInput({ $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { x: { $ref: '#/$defs/a' } } } } }, deep).ok,
    ).toBe(false);
  });
});
