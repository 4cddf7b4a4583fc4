/** What users get: the tarball, installed into an empty folder, runs its demo without a key. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG_TEST_MS } from './support/patience.ts';

const root = join(import.meta.dirname, '..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The Node that runs the tests comes first, so that npm and the command use it too; no key of the developer's is seen. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/API_KEY|BASE_URL|^npm_(?!config_(registry|cache|userconfig))|^TROUPE_/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, NO_COLOR: '1' };
}

function run(command: string, parameters: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      command,
      parameters,
      { cwd, env: environment(), timeout: LONG_TEST_MS, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
  });
}

describe('the packed tarball', () => {
  let folder = '';
  let files: readonly string[] = [];
  let command = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-package-'));
    const packed = await run('npm', ['pack', '--pack-destination', folder], root);
    expect(packed.code, packed.stderr).toBe(0);
    const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? 'no tarball';

    const home = join(folder, 'home');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{ "private": true }\n');
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const installed = await run('npm', ['install', join(folder, tarball), ...options], home);
    expect(installed.code, installed.stderr).toBe(0);

    command = join(home, 'node_modules', '.bin', 'troupe');
    files = await readdir(join(home, 'node_modules', 'troupe'), { recursive: true });
  }, LONG_TEST_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('holds what is needed and nothing else', () => {
    expect(files).toEqual(
      expect.arrayContaining(['bin/troupe.mjs', 'dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'LICENSE']),
    );
    expect(files.filter((path) => /^(src|test|bench|scripts|tools)\/|^dist\/.*\.test\.|\.troupe\b|\.tgz$/.test(path))).toEqual(
      [],
    );
  });

  it('says its version', async () => {
    const manifest = await readFile(join(root, 'package.json'), 'utf8');
    const { code, stdout } = await run(command, ['--version'], folder);
    expect(code).toBe(0);
    expect(manifest).toContain(`"version": "${stdout.trim()}"`);
  });

  it('is a library too', async () => {
    const home = join(folder, 'home');
    await writeFile(
      join(home, 'use.mjs'),
      "import * as troupe from 'troupe';\nprocess.stdout.write(String(Object.keys(troupe).length));\n",
    );
    const { code, stdout, stderr } = await run(process.execPath, ['use.mjs'], home);
    expect(code, stderr).toBe(0);
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  it('runs the demo to its end, without a key', async () => {
    const { code, stdout, stderr } = await run(command, ['demo'], folder);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(`${stdout}${stderr}`).toContain('completed, verified');
  });
});
