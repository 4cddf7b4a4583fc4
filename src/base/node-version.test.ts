import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '..');

/** What a program on an old Node would see: the version is what the file goes by. */
const load = (entry: string): Promise<string> =>
  new Promise((resolve) => {
    const program = `
      Object.defineProperty(process.versions, 'node', { value: '20.1.0' });
      await import('${join(SOURCES, entry)}');
    `;
    execFile(process.execPath, ['--input-type=module', '-e', program], (_error, _stdout, stderr) => resolve(stderr));
  });

describe('a program on a Node that is too old', () => {
  it.each(['index.ts', 'testing/index.ts'])('is told so by %s', async (entry) => {
    expect(await load(entry)).toContain('troupe needs Node 24 or newer; this is Node 20.1.0.');
  });

  it('gets as far as that: nothing that such a Node lacks is linked', () => {
    const files = globSync('**/*.ts', { cwd: SOURCES, exclude: ['**/*.test.ts'] });
    expect(files.length).toBeGreaterThan(400);
    const linked = files.filter((file) => /^import (?!type ).*'node:sqlite'/m.test(readFileSync(join(SOURCES, file), 'utf8')));
    expect(linked).toEqual([]);
  });
});
