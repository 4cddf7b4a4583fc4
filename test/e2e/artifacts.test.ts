/** What work left behind, through the command line: compared, collected, never overwritten. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { textWidth } from '../../src/cli/terminal/text-width.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const PATCH = 'artifact://patches/patch-0001.diff';
const write = (path: string, content: string) => ({ toolCalls: [{ name: 'write', input: { path, content } }] });

async function worked(settings = ''): Promise<TestProject> {
  const at = await createTestProject(`permissions: { "*": allow }\nsandbox: off\n${settings}`);
  await at.script(write('a.txt', 'one\n'), write('b.txt', 'x\n'.repeat(5_000)), { finalReport: 'Done.' });
  expect((await at.look('run', 'helper', 'Go.')).code).toBe(0);
  return at;
}

it('a list fits into 80 columns', async () => {
  await using at = await worked();
  const terminal = testTerminal({ cwd: at.folder, env: at.env, tty: true, columns: 80 });
  await runProgram(['artifacts', 'list'], terminal);
  const lines = terminal.written.out.split('\n');
  expect(lines.some((line) => line.includes(PATCH))).toBe(true);
  expect(lines.filter((line) => textWidth(line) > 80)).toEqual([]);
});

it('a file that is there is not replaced, unless that is said', async () => {
  await using at = await worked();
  await writeFile(join(at.folder, 'mine.diff'), 'mine');
  const refused = await at.look('artifacts', 'get', PATCH, '-o', 'mine.diff');
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('--force') });
  expect(await readFile(join(at.folder, 'mine.diff'), 'utf8')).toBe('mine');
  expect((await at.look('artifacts', 'get', PATCH, '-o', 'mine.diff', '--force')).code).toBe(0);
  expect(await readFile(join(at.folder, 'mine.diff'), 'utf8')).toContain('+++ b/a.txt');
  expect((await at.look('artifacts', 'get', PATCH, '-o', '.')).code).toBe(0);
  expect(await readFile(join(at.folder, 'patch-0001.diff'), 'utf8')).toContain('+++ b/a.txt');
});

it('a file that changed after the manifest is told', async () => {
  await using at = await worked();
  expect((await at.look('artifacts', 'manifest', '--check')).code).toBe(0);
  await writeFile(join(at.folder, 'a.txt'), 'two\n');
  const checked = await at.look('artifacts', 'manifest', '--check');
  expect(checked).toMatchObject({ code: 1, err: expect.stringContaining('a.txt: it has changed since the manifest') });
});

it('what was collected is told with its tombstone, and the chain is sound', async () => {
  await using at = await worked('artifacts: { keep: { patch: 1ms } }\n');
  expect((await at.look('ledger', 'gc', '--yes')).out).toContain('collected');
  const shown = await at.look('artifacts', 'show', PATCH);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('removed by `troupe ledger gc`') });
  const got = await at.look('artifacts', 'get', PATCH);
  expect(got).toMatchObject({ code: 2, err: expect.stringMatching(/sha256:[0-9a-f]{64}[\s\S]*artifacts\.keep/) });
  expect((await at.look('ledger', 'verify')).code).toBe(0);
});

it.each([
  ['artifact://patches/none.diff', /troupe artifacts list/],
  ['artifact://../etc/passwd', /References look like/],
  ['env://hash/zzzz', /References look like/],
  ['event://session/task.snapshot/00000000', /troupe artifacts list/],
])('%s leads nowhere, and what to do is said', async (ref, fix) => {
  await using at = await worked();
  expect(await at.look('artifacts', 'show', ref)).toMatchObject({ err: expect.stringMatching(fix) });
});
