/** What users get: the tarball, installed into an empty folder, runs its demo without a key. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKED_VARIABLE } from '../scripts/steps.ts';
import { LONG_TEST_MS } from './support/patience.ts';

const root = join(import.meta.dirname, '..');
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const examples = readdirSync(join(root, 'examples')).filter((name) =>
  ['run.ts', 'team.test.ts'].some((program) => existsSync(join(root, 'examples', name, program))),
);

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

/** As a release does it; a run of all checks has done it already. */
async function pack(folder: string): Promise<string> {
  const packed = await run('npm', ['pack', '--pack-destination', folder], root);
  expect(packed.code, packed.stderr).toBe(0);
  return folder;
}

/** Only compiled. Types that were not found would be `any`, and nothing would be an error. */
const MISUSE = `
import { defineTool, type RunOutcome } from 'troupe';
import { createTemporaryProject } from 'troupe/testing';
import { z } from 'zod';

export function reportOf(outcome: RunOutcome): string {
  // @ts-expect-error: a run that has not ended has no report
  return outcome.report.body;
}
// @ts-expect-error: a temporary project needs replies
await createTemporaryProject({});
// @ts-expect-error: count is a number
defineTool({ name: 'add', description: 'Adds.', input: z.object({ count: z.number() }), run: ({ count }) => count.trim() });
`;

const settingsOfCompiler = (module: string, moduleResolution: string): string =>
  JSON.stringify({
    compilerOptions: {
      ...{ module, moduleResolution, target: 'es2024', lib: ['es2024', 'esnext.disposable'], strict: true, noEmit: true },
      ...{ types: ['node'], typeRoots: [join(root, 'node_modules', '@types')] },
    },
    include: ['*.ts'],
  });

/** The pieces of code in the pages, beside the project that they speak of. */
async function writePrograms(home: string): Promise<readonly string[]> {
  const replies = { replies: [{ text: 'Come in.' }] };
  const agents = ['greeter', 'hello', 'fixer'].map((name) => [`agents/${name}.md`, `---\nname: ${name}\n---\nYou help.\n`]);
  const project = [...agents, ['troupe.yaml', 'model: scripted:replies.yaml\n'], ['replies.yaml', JSON.stringify(replies)]];
  await mkdir(join(home, 'my-project', 'agents'), { recursive: true });
  for (const [path = '', text = ''] of project) await writeFile(join(home, 'my-project', path), text);
  const pages = await Promise.all(['README.md', 'docs/library.md'].map((page) => readFile(join(root, page), 'utf8')));
  const blocks = pages.flatMap((page) => [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code));
  const names = blocks.map((_block, index) => `page-${index}.ts`);
  for (const [index, name] of names.entries()) await writeFile(join(home, name), blocks[index] ?? '');
  await writeFile(join(home, 'misuse.ts'), MISUSE);
  return names;
}

describe('the packed tarball', () => {
  let folder = '';
  let home = '';
  let files: readonly string[] = [];
  let command = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'troupe-package-'));
    const packed = process.env[PACKED_VARIABLE] ?? (await pack(folder));
    const tarball = (await readdir(packed)).find((name) => name.endsWith('.tgz')) ?? 'no tarball';

    home = join(folder, 'home');
    await mkdir(home);
    await writeFile(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
    const options = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    const installed = await run('npm', ['install', join(packed, tarball), ...options], home);
    expect(installed.code, installed.stderr).toBe(0);

    command = join(home, 'node_modules', '.bin', 'troupe');
    files = await readdir(join(home, 'node_modules', 'troupe'), { recursive: true });
  }, LONG_TEST_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('holds what is needed and nothing else', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'bin/troupe.mjs',
        'dist/index.js',
        'dist/index.d.ts',
        'dist/testing/index.js',
        'dist/cli/main.js',
        'templates/agent/agents/hello.md',
      ]),
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

  it('is a library too: what the pages show has types, whichever way modules are looked for, and runs', async () => {
    const programs = await writePrograms(home);
    expect(programs.length).toBeGreaterThan(4);
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      await writeFile(join(home, 'tsconfig.json'), settingsOfCompiler(module, moduleResolution));
      const { code, stdout } = await run(process.execPath, [TSC, '-p', '.', '--singleThreaded'], home);
      expect({ moduleResolution, code, stdout }).toEqual({ moduleResolution, code: 0, stdout: '' });
    }
    for (const program of programs) {
      const { code, stderr } = await run(process.execPath, [program], home);
      expect({ program, code, stderr }).toEqual({ program, code: 0, stderr: '' });
    }
  });

  it.each(examples)('runs the example %s, copied out of it', async (example) => {
    const copy = join(home, example);
    await cp(join(home, 'node_modules', 'troupe', 'examples', example), copy, { recursive: true });
    const test = example === '18-testing';
    const program = join(copy, test ? 'team.test.ts' : 'run.ts');
    const text = await readFile(program, 'utf8');
    // What their READMEs tell whoever has installed the package.
    const imports = text.replace("'../../src/index.ts'", "'troupe'").replace("'../../src/testing/index.ts'", "'troupe/testing'");
    expect(imports).not.toBe(text);
    await writeFile(program, imports);
    const { code, stdout, stderr } = await run(process.execPath, [...(test ? ['--test'] : []), program], home);
    expect(code, stdout + stderr).toBe(0);
    const readme = await readFile(join(copy, 'README.md'), 'utf8');
    expect(test ? '' : stdout).toBe(/```\n\n```\n([\s\S]*?)```\n/.exec(readme)?.[1] ?? '');
  });

  it('runs the demo to its end, without a key', async () => {
    const { code, stdout, stderr } = await run(command, ['demo'], folder);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    expect(`${stdout}${stderr}`).toContain('completed, verified');
  });
});
