/** What stands behind a limit is where a user can change it: held against the agent file's keys, the settings and the options. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { keysAt, knownKeysAt } from '../src/agents/definition/json-schema.ts';
import type { JsonObject } from '../src/base/json.ts';
import { limits } from '../src/base/limits.ts';
import { createProgram } from '../src/cli/program/program.ts';
import { settingsSchema } from '../src/project/settings.ts';
import { testTerminal } from './support/test-terminal.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/agents.md'), 'utf8');
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(root, path), 'utf8'));

interface Changeable {
  readonly limit: string;
  readonly place: string;
  readonly name: string;
}

const lines = globSync('src/base/limits/*.ts', { cwd: root }).flatMap((path) =>
  readFileSync(join(root, path), 'utf8').split('\n'),
);
const changeable: readonly Changeable[] = lines.flatMap((line) => {
  const [, limit = '', places = '', name = ''] =
    /^ {2}(\w+): .*, \/\/ (agent|troupe\.yaml|option|agent, troupe\.yaml): (.+)$/.exec(line) ?? [];
  return limit === '' ? [] : places.split(', ').map((place) => ({ limit, place, name }));
});
const at = (wanted: string): readonly Changeable[] => changeable.filter(({ place }) => place === wanted);
const changed = new Set(changeable.map(({ limit }) => limit));

/** `group.maxIterations` is the key `maxIterations` at `group`. */
function exists(name: string, keys: (path: readonly string[]) => readonly string[]): boolean {
  const path = name.split('.');
  return keys(path.slice(0, -1)).includes(path.at(-1) ?? '');
}

it('a limit is in one file, and in the object of them all', () => {
  const named = lines.flatMap((line) => /^ {2}(\w+): /.exec(line)?.[1] ?? []);
  expect(named.toSorted()).toEqual(Object.keys(limits).toSorted());
});

describe('a limit that can be changed', () => {
  it('is known by what stands behind it', () => {
    expect(changeable.length).toBeGreaterThan(20);
    expect(changeable.filter(({ limit }) => !Object.hasOwn(limits, limit))).toEqual([]);
  });

  it.each(at('agent'))('$limit: an agent file knows $name', ({ name }) => {
    expect(exists(name, knownKeysAt)).toBe(true);
  });

  it.each(at('troupe.yaml'))('$limit: troupe.yaml knows $name', ({ name }) => {
    const schema = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject;
    expect(exists(name, (path) => keysAt(schema, path))).toBe(true);
  });

  it.each(at('option'))('$limit: there is the option $name', ({ name }) => {
    const [command, option] = name.split(' ');
    const program: Command = createProgram(testTerminal(), () => async () => undefined);
    const found = program.commands.find((one) => one.name() === command);
    expect(found?.options.map(({ long }) => long)).toContain(option);
  });

  it.each(changeable)('$limit is what holds where $name is not there', ({ limit, name }) => {
    const key = name.split(/[. -]/).at(-1) ?? '';
    const used = sources.flatMap((text) => text.split('\n')).filter((line) => new RegExp(`\\blimits\\.${limit}\\b`).test(line));
    expect(used.filter((line) => line.includes(key))).not.toEqual([]);
  });

  it.each(at('agent').filter(({ name }) => !name.includes('.')))(
    '$limit: docs/agents.md has the same default',
    ({ limit, name }) => {
      const value = (limits as Readonly<Record<string, number>>)[limit] ?? Number.NaN;
      const [, , , standard = ''] =
        page
          .split('\n')
          .find((line) => line.startsWith(`| \`${name}\` |`))
          ?.split('|') ?? [];
      expect(standard.trim()).toMatch(new RegExp(`^(${value}|${value / 60_000}m)\\b`));
    },
  );
});

describe('a limit that a page gives a value of', () => {
  const UNITS: Readonly<Record<string, number>> = { KiB: 1024, MiB: 1024 ** 2, ms: 1, s: 1000, min: 60_000, h: 3_600_000 };
  const known = limits as Readonly<Record<string, number>>;

  /** `16 MiB, 2,000`: several values, each with its unit. */
  const valuesIn = (cell: string): readonly number[] =>
    cell.split(/, /).map((one) => {
      const [, number = '', unit = ''] = /^([\d,]+)(?: (\w+))?$/.exec(one.trim()) ?? [];
      return Number(number.replaceAll(',', '') || Number.NaN) * (UNITS[unit] ?? 1);
    });

  /** Rows that name limits, and nothing else in that cell, with the value in the next. */
  const rows = globSync('docs/*.md', { cwd: root }).flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .flatMap((line) => {
        const cells = line.split('|').map((cell) => cell.trim());
        const at = cells.findIndex(
          (cell) => /^`\w+`(?:, `\w+`)*(?:: .*)?$/.test(cell) && namesIn(cell).every((name) => name in known),
        );
        return at === -1 || !/^\d/.test(cells[at + 1] ?? '')
          ? []
          : [{ path, names: namesIn(cells[at] ?? ''), cell: cells[at + 1] ?? '' }];
      }),
  );

  it.each(rows)('$path: $names', ({ names, cell }) => {
    // A runner's memory is counted in MiB already.
    const counted = names.map((name) => (name.endsWith('MiB') ? (known[name] ?? 0) * 1024 ** 2 : known[name]));
    expect(valuesIn(cell)).toEqual(counted);
  });

  it('docs/engine.md shows the settings of assistants with the values that hold without them', () => {
    const [, block = ''] = /```yaml\n(assistants:.*?)```/s.exec(readFileSync(join(root, 'docs/engine.md'), 'utf8')) ?? [];
    const shown = settingsSchema.parse(parse(block)).assistants ?? {};
    const own = at('troupe.yaml').filter(({ name }) => name.startsWith('assistants.'));
    expect(own.length).toBeGreaterThan(5);
    expect(shown).toEqual(Object.fromEntries(own.map(({ limit, name }) => [name.split('.')[1], known[limit]])));
  });

  it('is looked at', () => expect(rows.length).toBeGreaterThan(25));

  function namesIn(cell: string): readonly string[] {
    return [...cell.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? '');
  }
});

describe('a limit that is said to be fixed', () => {
  it('has no key of an agent file or of the settings before it', () => {
    const override = /\b(?:definition|agent|config|verify|assistants)\??\.\w+ \?\? limits\.(\w+)/g;
    const found = sources.flatMap((text) => [...text.matchAll(override)].map((match) => match[1] ?? ''));
    expect(found.length).toBeGreaterThan(10);
    expect(found.filter((name) => !changed.has(name))).toEqual([]);
  });

  it('is not said to be raised in a source file', () => {
    const told = sources.flatMap((text) => text.match(/^(?! ?\*).*(?:fix: |message: ).*\bsrc\/.*$/gm) ?? []);
    expect(told).toEqual([]);
  });
});
