/** Kept tests as cases of a test runner: this one. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type KeptTestsOptions, keptTests } from './index.ts';

const root = await mkdtemp(join(tmpdir(), 'troupe-kept-'));
afterAll(() => rm(root, { recursive: true, force: true }));

async function write(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

await write('troupe.yaml', 'model: scripted:replies.yaml\n');
await write('agents/greeter.md', '---\nname: greeter\n---\nYou greet.\n');
await write('replies.yaml', '- text: Hello.\n');
await write('tests/greets.yaml', 'agent: greeter\nprompt: Greet.\nchecks: { answer: { contains: [Hello] } }\n');
const options: KeptTestsOptions = { root, env: { HOME: root, PATH: process.env['PATH'] } };

const kept = await keptTests(options);

describe('a project', () => {
  for (const { name, run } of kept) it(name, run);
});

describe('kept tests', () => {
  it('fail with every check that does, and files that are none with why', async () => {
    await write(
      'tests/rude.yaml',
      'agent: greeter\nprompt: Greet.\ntrials: 2\nchecks: { answer: { contains: [Bye] }, maxTurns: 5 }\n',
    );
    await write('tests/wrong.yaml', 'agent: greeter\n');
    const cases = await keptTests(options);
    expect(cases.map(({ name }) => name)).toEqual(['greets', 'rude', 'tests/wrong.yaml']);
    const [, rude, wrong] = cases;
    await expect(rude?.run()).rejects.toThrow(
      /^rude does not pass:\ntrial 1: answer: "Bye" is not in it \(run_\w+\)\ntrial 2: answer/,
    );
    await expect(wrong?.run()).rejects.toThrow('prompt');
  });

  it('of a project without any, and options that there are not, are refused', async () => {
    await expect(keptTests({ ...options, root: join(root, 'agents') })).rejects.toThrow('There are no tests');
    await expect(keptTests({ roots: root } as KeptTestsOptions)).rejects.toThrow('roots');
  });
});
