import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { runProgram } from '../program/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-worker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function troupe(env: Record<string, string>, ...args: readonly string[]): Promise<{ code: number; err: string }> {
  const terminal = testTerminal({ env: { HOME: folder, ...env } });
  const code = await runProgram(['-C', folder, ...args], terminal);
  return { code, err: terminal.written.progress };
}

describe('troupe worker', () => {
  it.each([
    ['a project without a cluster', {}, [], /has no cluster.*troupe .*cluster up/s],
    ['an engine that is none', { TROUPE_ENGINE: 'temporal://x' }, [], /must be restate\+http:/],
    ['everybody as a caller', {}, ['--host', '0.0.0.0', '--url', 'http://w:9080'], /must be private.*--identity-key/s],
    [
      'an address that nobody can call',
      {},
      ['--host', '0.0.0.0', '--private-network'],
      /no address that Restate could call.*--url/s,
    ],
    ['a key that is none', {}, ['--identity-key', 'ssh-rsa'], /not an identity key.*publickeyv1_/s],
    ['a url that is none', {}, ['--url', 'worker'], /worker is not an address/],
  ])('refuses %s, with a fix', async (_what, env, args, problem) => {
    const { code, err } = await troupe(env, 'worker', ...args);
    expect(err).toMatch(problem);
    expect(code).toBe(2);
  });
});

describe('troupe cluster', () => {
  it('has no status without a cluster', async () => {
    const { code, err } = await troupe({ TROUPE_LEDGER: 'sqlite:x.db' }, 'cluster', 'status');
    expect(err).toMatch(/fix: /);
    expect(code).not.toBe(0);
  });

  it('does not start more workers than a machine bears', async () => {
    expect(await troupe({}, 'cluster', 'up', '--workers', '1000')).toMatchObject({
      code: 2,
      err: expect.stringContaining('limit clusterWorkers'),
    });
  });
});

describe('troupe doctor on a cluster that is not there', () => {
  it('names the server, and what to do', async () => {
    const terminal = testTerminal({
      env: {
        HOME: folder,
        TROUPE_ENGINE: 'restate+http://127.0.0.1:1',
        TROUPE_RESTATE_ADMIN: 'http://127.0.0.1:1',
        OLLAMA_HOST: '127.0.0.1:1',
      },
    });
    expect(await runProgram(['-C', folder, 'doctor'], terminal)).toBe(1);
    expect(terminal.written.out).toMatch(/broken +restate: no answer at http:\/\/127\.0\.0\.1:1\n +fix: .*troupe .*cluster up/);
    expect(terminal.written.out).toMatch(/note +restate-admin: no answer/);
  });
});
