/**
 * Every file of the engine has a test beside it, or a line in docs/testing.md that says which suite guards it. A suite that does
 * not load the file guards nothing.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';
import { readSources, withoutComments } from '../scripts/architecture.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const IMPORT = /\b(?:(?:import|export)\s+(?!type\s)[\w$*{},\s]*?\bfrom\s+|import\s+|import\(\s*)['"](\.[^'"\n]+)['"]/g;
const ROW = /^\| `([^`]+)` \| `([^`]+)` \|$/gm;

const files = readSources(join(root, 'src')).filter(({ folder }) => folder === 'engine');
const [, list = ''] = read('docs/testing.md').split(/<!-- engine files: (?:begin|end) -->/);
const rows = [...list.matchAll(ROW)].map(([, file = '', suite = '']) => ({ file: `src/engine/${file}`, suite }));

/** Types are guarded by the compiler. */
const doesSomething = (text: string): boolean => /^export (?:async )?(?:function|const|class)\b/m.test(withoutComments(text));
const hasTestBeside = (file: string): boolean => existsSync(join(root, file.replace(/\.ts$/, '.test.ts')));

/** Everything that is loaded with a file, wherever it is. */
function loadedWith(suite: string): ReadonlySet<string> {
  const loaded = new Set([suite]);
  // A set visits what is added while it is walked.
  for (const path of loaded)
    for (const [, name = ''] of withoutComments(read(path)).matchAll(IMPORT)) {
      const target = posix.join(posix.dirname(path), name);
      if (target.endsWith('.ts') && existsSync(join(root, target))) loaded.add(target);
    }
  return loaded;
}

it('the walk found the engine, its tests and the list', () => {
  expect(files.length).toBeGreaterThan(60);
  expect(globSync('src/engine/**/*.test.ts', { cwd: root }).length).toBeGreaterThan(20);
  expect(rows.length).toBeGreaterThan(30);
});

it('every file of the engine has a test beside it, or a suite in docs/testing.md that guards it', () => {
  const listed = new Set(rows.map(({ file }) => file));
  const unguarded = files
    .filter(({ text }) => doesSomething(text))
    .map(({ path }) => `src/${path}`)
    .filter((file) => !hasTestBeside(file) && !listed.has(file));
  expect(unguarded).toEqual([]);
});

it('the list names files that are there, once, and no file that has a test beside it', () => {
  expect(rows.filter(({ file }) => !existsSync(join(root, file)) || hasTestBeside(file))).toEqual([]);
  expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
});

it('every suite that is named loads the file that it guards', () => {
  const known = new Map<string, ReadonlySet<string>>();
  const blind = rows.filter(({ file, suite }) => {
    if (!existsSync(join(root, suite))) return true;
    const loaded = known.get(suite) ?? loadedWith(suite);
    known.set(suite, loaded);
    return !loaded.has(file);
  });
  expect(blind).toEqual([]);
});
