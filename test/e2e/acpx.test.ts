/** acpx, a client that others wrote, talks with `troupe acp`. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createTestProject, type Ended, MAIN, type TestProject } from './support-project.ts';

const folder = fileURLToPath(new URL('../../tools/executors', import.meta.url));
const ACPX = join(folder, 'node_modules/acpx/dist/cli.js');
const shell = { toolCalls: [{ name: 'shell', input: { command: 'touch one.txt' } }] };

/** With a home of its own, so that nothing of an earlier session is found. */
async function acpx(project: TestProject, ...args: readonly string[]): Promise<Ended> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-acpx-'));
  const agent = `${process.execPath} ${MAIN} acp`;
  const child = spawn(process.execPath, [ACPX, '--format', 'json', '--agent', agent, ...args], {
    ...{ cwd: project.folder, env: { ...project.env, HOME: home } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  await rm(home, { recursive: true, force: true });
  return { code, out, err };
}

describe('acpx', () => {
  it('is installed with what the tests need: npm test fetches it', () => {
    expect(existsSync(ACPX)).toBe(true);
  });

  it('has its prompt answered, and what it approves is done', async () => {
    await using project = await createTestProject();
    await project.script(shell, { finalReport: 'All is done.' });
    const { code, out, err } = await acpx(project, '--approve-all', 'exec', 'Touch it.');
    expect([code, err]).toEqual([0, expect.any(String)]);
    for (const word of ['session/request_permission', '"tool_call"', 'usage_update', 'All is done.', '"end_turn"'])
      expect(out).toContain(word);
    await expect(stat(join(project.folder, 'one.txt'))).resolves.toBeDefined();
  });

  it('is told no by nobody but itself: what it denies is not done', async () => {
    await using project = await createTestProject();
    await project.script(shell, { finalReport: '{{lastToolResult}}' });
    const { out } = await acpx(project, '--deny-all', 'exec', 'Touch it.');
    expect(out).toContain('the user said no');
    await expect(stat(join(project.folder, 'one.txt'))).rejects.toThrow();
  });
});
