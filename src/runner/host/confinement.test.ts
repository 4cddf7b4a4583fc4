/** What a runner could do if it wanted to: a probe is started exactly as runners are, and tries. */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { confined } from './confinement.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-confinement-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Node may read the script that it is told to run, wherever it is. */
const probe = join(folder, 'probe.ts');
const secret = join(folder, 'secret.txt');
const ledger = join(folder, 'ledger.db');
cpSync(join(import.meta.dirname, '../../../test/support/runner/probe-main.ts'), probe);
writeFileSync(secret, 'key');
new DatabaseSync(ledger).close();

function run(parameters: readonly string[], environment: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...parameters, secret, ledger], { env: { ...environment }, cwd, stdio: 'pipe' });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on('close', () => resolve(text));
  });
}

describe('a runner', () => {
  it('has no environment and can neither read, write, start anything nor open a ledger', async () => {
    const how = confined(64, probe);
    const denied = 'ERR_ACCESS_DENIED';
    expect(JSON.parse(await run(how.parameters, how.environment, how.folder))).toEqual({
      environment: {},
      folder: parse(process.cwd()).root,
      readOutside: denied,
      listOutside: denied,
      write: denied,
      overwriteItself: denied,
      spawn: denied,
      worker: denied,
      ledger: 'ERR_UNKNOWN_BUILTIN_MODULE',
    });
  });

  it('could do all of it without the confinement, so the probe means something', async () => {
    const free = JSON.parse(await run([probe], { KEY: 'x' }, folder));
    expect(free).toMatchObject({ environment: { KEY: 'x' }, readOutside: 'done', write: 'done', spawn: 'done', ledger: 'done' });
  });

  it('is limited to the memory it was given', () => {
    expect(confined(123).parameters).toContain('--max-old-space-size=123');
  });
});
