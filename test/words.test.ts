/** One word, one meaning: a name that is exported is defined in one file of src, types included. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSources, withoutComments } from '../scripts/architecture.ts';

const sources = readSources(join(import.meta.dirname, '..', 'src'));

/** What a line begins with that defines a name for others. Re-exports define nothing. */
const DEFINES =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|var|function\*?|class|interface|type)\s+([A-Za-z_$][\w$]*)/gm;

/** Names that are meant to be in several files, each with its reason. Take entries out, do not add any. */
const shared: Readonly<Record<string, string>> = {};

const definedIn = new Map<string, string[]>();
for (const { path, text } of sources) {
  const names = [...withoutComments(text).matchAll(DEFINES)].map(([, name = '']) => name);
  for (const name of new Set(names)) definedIn.set(name, [...(definedIn.get(name) ?? []), path]);
}

describe('exported names', () => {
  it('were seen: values, types and classes', () => {
    expect(definedIn.size).toBeGreaterThan(1_000);
    expect(['runLoop', 'LoopPorts', 'TroupeError', 'systemClock'].filter((name) => !definedIn.has(name))).toEqual([]);
  });

  it('are each defined in one file of src', () => {
    const twice = [...definedIn].filter(([name, files]) => files.length > 1 && !(name in shared));
    expect(twice.map(([name, files]) => `${name}: ${files.join(', ')}`)).toEqual([]);
  });

  it('that may be defined twice still are', () => {
    expect(Object.keys(shared).filter((name) => (definedIn.get(name)?.length ?? 0) < 2)).toEqual([]);
  });
});
