import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sandboxFinding } from '../../src/cli/doctor/sandbox-finding.ts';
import type { SandboxMode } from '../../src/sandbox/settings.ts';

let empty = '';
beforeAll(async () => {
  empty = await mkdtemp(join(tmpdir(), 'troupe-no-programs-'));
  // Nothing that walls are made of is found there. What was found is kept per process: this file has one of its own.
  vi.stubEnv('PATH', empty);
  // Tests may keep their files in memory, which is another reason for no walls.
  vi.stubEnv('TMPDIR', '/tmp');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(empty, { recursive: true, force: true });
});

async function found(mode: SandboxMode) {
  const settings = { mode, least: 'off', settled: false, network: [], read: [], write: [] } as const;
  return await sandboxFinding(settings, { PATH: empty, HOME: empty });
}

it.each([
  ['auto', 'note'],
  ['on', 'broken'],
] as const)(
  'sandbox: %s where the programs for it are missing is told as %s, with their names and how to get them',
  async (mode, state) => {
    const finding = await found(mode);
    expect(finding).toMatchObject({
      about: 'sandbox',
      state,
      fix: expect.stringContaining('apt-get install bubblewrap socat ripgrep'),
    });
    expect(finding.text).toMatch(/^commands run without walls: /);
    const programs = process.platform === 'linux' ? [/bubblewrap|bwrap/, /socat/, /ripgrep|rg/] : [/ripgrep|rg/];
    for (const program of programs) expect(finding.text).toMatch(program);
  },
);

it('sandbox: off is a choice, and nothing has to be got for it', async () => {
  expect(await found('off')).toEqual({ about: 'sandbox', state: 'note', text: expect.stringContaining('without walls') });
});
