/**
 * What a browser loads before it shows anything, packed: the page, and every file that it names or its scripts import at once.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const built = join(root, 'dist', 'console');
const FIRST_LOAD_BYTES = 180 * 1024;

beforeAll(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build-console.ts')]);
});

/** The files that a script or a page loads with it; not what it imports later. */
function loadedWith(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  const text = readFileSync(join(built, name), 'utf8');
  const imported = [...text.matchAll(/(?:^|[;}\s])(?:import|export)\s*(?:[\w$*{},\s]+?\s*from\s*)?["']\.\/([\w.-]+)["']/g)];
  for (const [, file = ''] of imported) loadedWith(`assets/${file}`, seen);
  for (const [, file = ''] of text.matchAll(/(?:src|href)="\/(assets\/[\w.-]+)"/g)) loadedWith(file, seen);
  return seen;
}

it('is small', () => {
  const first = [...loadedWith('index.html')];
  expect(first.length).toBeGreaterThan(2);
  expect(first.some((name) => name.endsWith('.css'))).toBe(true);
  const bytes = first.reduce((sum, name) => sum + statSync(join(built, `${name}.gz`)).size, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES);
});

it('leaves graphs, charts, differences and the palette for later', () => {
  const first = loadedWith('index.html');
  const later = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js') && !first.has(`assets/${name}`));
  expect(later.length).toBeGreaterThan(10);
  expect(later.some((name) => name.startsWith('palette-'))).toBe(true);
});
