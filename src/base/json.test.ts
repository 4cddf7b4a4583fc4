import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readableJson } from './json.ts';

describe('JSON for reading', () => {
  it('is on lines of its own, as everybody writes it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        expect(readableJson(value)).toBe(JSON.stringify(value, null, 2));
      }),
    );
    expect(readableJson({ a: ['[{,"\\'], b: {} })).toBe('{\n  "a": [\n    "[{,\\"\\\\"\n  ],\n  "b": {}\n}');
    expect(readableJson(undefined)).toBe('null');
  });

  it('stays on one line where it would mostly be blanks', () => {
    const deep = `${'['.repeat(3_000)}1${']'.repeat(3_000)}`;
    expect(readableJson(JSON.parse(deep))).toBe(deep);
    const wide = `${'['.repeat(100)}${Array.from({ length: 100_000 }, () => 1).join(',')}${']'.repeat(100)}`;
    expect(readableJson(JSON.parse(wide))).toBe(wide);
  });
});
