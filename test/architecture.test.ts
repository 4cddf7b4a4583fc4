/** Imports point downwards, without circles. The rule is derived from the sources, so no lint setting can weaken it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  allowed,
  drawGraph,
  folderOf,
  forbiddenImports,
  importCycles,
  loadedWith,
  pageWithGraph,
  readSources,
  roomOf,
  rooms,
  type Source,
  withoutComments,
} from '../scripts/architecture.ts';

const root = join(import.meta.dirname, '..');
const sources = readSources(join(root, 'src'));
const DEPTH_MAX = 3;
/** More than that in one folder is a room that is missing. */
const FILES_MAX = 21;

const made = (path: string, imports: readonly string[]): Source => ({
  path,
  folder: folderOf(path),
  text: '',
  imports,
  loads: imports,
  packages: [],
});

describe('the sources', () => {
  it('were all seen by the walk', () => {
    expect(sources.length).toBeGreaterThan(15);
    expect(sources.flatMap((source) => source.imports).length).toBeGreaterThan(20);
  });

  it('import only what the table allows', () => {
    expect(forbiddenImports(sources)).toEqual([]);
  });

  it('import files that exist', () => {
    const known = new Set(sources.map((source) => source.path));
    const missing = sources.flatMap((source) => source.imports.filter((target) => target.endsWith('.ts') && !known.has(target)));
    expect(missing).toEqual([]);
  });

  it('have no circles, types included', () => {
    expect(importCycles(sources)).toEqual([]);
  });

  it('are at most three levels deep', () => {
    expect(sources.filter((source) => source.path.split('/').length > DEPTH_MAX).map((source) => source.path)).toEqual([]);
  });

  it('are in rooms that somebody can look over', () => {
    const folders = Object.groupBy(sources, (source) => source.path.split('/').slice(0, -1).join('/'));
    expect(Object.keys(folders).length).toBeGreaterThan(40);
    const crowded = Object.entries(folders).filter(([, files]) => (files?.length ?? 0) > FILES_MAX);
    expect(crowded.map(([folder, files]) => `${folder}: ${files?.length} files`)).toEqual([]);
  });

  it('keep events and projections, and all that they load, fit for a browser', () => {
    const browser = sources.filter((source) => source.folder === 'events' || source.folder === 'projections');
    expect(browser.length).toBeGreaterThan(0);
    const found = loadedWith(sources, browser).flatMap((source) =>
      source.packages.filter((name) => name.startsWith('node:')).map((name) => `${source.path}: ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('keep the whole of what the runs of a session share for who builds it and the drivers', () => {
    const engine = sources.filter((source) => source.folder === 'engine');
    const naming = (name: RegExp): readonly string[] =>
      engine.filter(({ text }) => name.test(withoutComments(text))).map(({ path }) => path.slice('engine/'.length));
    const drivers = /^(?:local|restate)\//;
    const whole = naming(/\bDrivenTree\b/).filter((path) => !drivers.test(path));
    expect(whole).toEqual(['run/build-tree.ts', 'run/place-in-tree.ts', 'run/tree.ts']);
    const all = naming(/\bEngineOptions\b/).filter((path) => !drivers.test(path));
    expect(all).toEqual(['engine.ts', 'options.ts', 'run/build-tree.ts', 'run/tree.ts', 'start.ts']);
  });

  it('do not silence the rule against circles', () => {
    const silenced = sources.filter((source) => /biome-ignore[^\n]*noImportCycles/.test(source.text));
    expect(silenced.map((source) => source.path)).toEqual([]);
  });
});

describe('the table of allowed imports', () => {
  it('only points downwards', () => {
    const order = Object.keys(allowed);
    for (const [folder, targets] of Object.entries(allowed)) {
      for (const target of targets)
        expect(order.indexOf(folderOf(`${target}/`)), `${folder} -> ${target}`).toBeLessThan(order.indexOf(folder));
    }
  });

  it('has every room that there is, and no other', () => {
    for (const [folder, order] of Object.entries(rooms)) {
      const there = new Set(sources.filter((source) => source.folder === folder).map((source) => roomOf(source.path)));
      expect([...order.flat()].sort(), folder).toEqual([...there].sort());
    }
  });

  it('keeps rooms of one line apart, and lower ones from those above', () => {
    expect(forbiddenImports([made('ledger/sqlite/store.ts', ['ledger/postgres/store.ts'])])).toHaveLength(1);
    expect(forbiddenImports([made('ledger/rules/append.ts', ['ledger/sqlite/store.ts'])])).toHaveLength(1);
    expect(forbiddenImports([made('ledger/sqlite/store.ts', ['ledger/rules/append.ts', 'ledger/port.ts'])])).toEqual([]);
    expect(forbiddenImports([made('ledger/elsewhere/store.ts', [])])).toHaveLength(1);
  });

  it('keeps the loop away from the ledger and the engine', () => {
    expect(forbiddenImports([made('loop/loop.ts', ['ledger/port.ts', 'engine/port.ts'])])).toHaveLength(2);
  });

  it('lets the session see the ports of models and tools, and nothing behind them', () => {
    expect(forbiddenImports([made('loop/loop.ts', ['models/port.ts', 'tools/port.ts'])])).toEqual([]);
    expect(forbiddenImports([made('loop/loop.ts', ['models/prices.ts'])])).toHaveLength(1);
  });

  it('names a folder that it does not know', () => {
    expect(forbiddenImports([made('helpers/things.ts', [])])).toHaveLength(1);
  });
});

describe('the search for circles', () => {
  it('finds a planted one, and itself', () => {
    const planted = [made('a/one.ts', ['a/two.ts']), made('a/two.ts', ['a/three.ts']), made('a/three.ts', ['a/one.ts'])];
    expect(importCycles(planted)).toEqual([['a/one.ts', 'a/three.ts', 'a/two.ts']]);
    expect(importCycles([made('a/one.ts', ['a/one.ts'])])).toEqual([['a/one.ts']]);
    expect(
      importCycles([made('a/one.ts', ['a/two.ts', 'a/three.ts']), made('a/two.ts', ['a/three.ts']), made('a/three.ts', [])]),
    ).toEqual([]);
  });
});

describe('ARCHITECTURE.md', () => {
  it('has the rooms of the engine, all of them and in their order', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const [, section = ''] = page.split('## The rooms of the engine\n');
    const table = section.split('\n').filter((line) => line.startsWith('| `'));
    const shown = table.map((line) =>
      [...(line.split('|')[1] ?? '').matchAll(/`([\w-]+)(?:\/|\.ts)`/g)].map(([, room = '']) => room),
    );
    const order = rooms['engine'] ?? [];
    const levels = shown.map((row) => row.map((room) => order.findIndex((line) => line.includes(room))));
    expect(shown.flat().sort()).toEqual(order.flat().sort());
    for (const [index, row] of levels.slice(1).entries())
      expect(Math.min(...row), table[index + 1]).toBeGreaterThanOrEqual(Math.max(...(levels[index] ?? [])));
  });

  it('shows the graph of the sources as they are (npm run fix draws it)', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    expect(page).toBe(pageWithGraph(page, drawGraph(sources)));
  });

  it('has the folders in the order of the rule', () => {
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const [, table = ''] = page.split('\n## The layers\n');
    const rows = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `([\w.]+)` \|/gm)].map((match) => match[1]);
    expect(rows).toEqual([...Object.keys(allowed), 'index.ts']);
  });
});
