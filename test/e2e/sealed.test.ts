/** Secrets through the real command line: one process asks, another one approves, and the file holds what the model wrote. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestProject, type TestProject } from './support-project.ts';

const PASSWORD = 'Xk29-vbTq-8Zz1w0';
const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
const WRITTEN = `PGPASSWORD=${PASSWORD}\nTOKEN=${TOKEN}\n`;
const AGENT = '---\nname: helper\ntools: [read, write, shell, ask]\npermissions: { write: ask }\n---\nYou help.\n';

async function waiting(project: TestProject): Promise<string> {
  await project.script(
    { text: `I write ${PASSWORD}.`, toolCalls: [{ name: 'write', input: { path: 'settings.env', content: WRITTEN } }] },
    { text: 'Written.' },
  );
  const started = await project.start(['run', 'helper', `The password is ${PASSWORD}`]).ended;
  expect(started.err).toContain('write');
  expect(started.err).not.toContain(TOKEN);
  const run = /run_\w+/.exec(started.err)?.[0] ?? '';
  expect(run).not.toBe('');
  return run;
}

/** Everything below the folder of the ledger. */
async function ledgerBytes(project: TestProject): Promise<string> {
  const folder = join(project.folder, '.troupe');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(0);
  return (await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1')))).join('\n');
}

it('a file holds exactly what was approved in another process, and nobody can read it in the ledger', async () => {
  await using project = await createTestProject('', AGENT);
  project.env['PGPASSWORD'] = PASSWORD;
  project.env['XDG_STATE_HOME'] = join(project.folder, '..', `${project.folder.split('/').at(-1)}-state`);
  try {
    const run = await waiting(project);
    // Whoever approves does not have the variable in his shell.
    delete project.env['PGPASSWORD'];
    const approved = await project.troupe('approve', run);
    expect(approved).toMatchObject({ code: 0 });
    expect(await readFile(join(project.folder, 'settings.env'), 'utf8')).toBe(WRITTEN);
    const logs = await project.look('logs', run, '--jsonl');
    expect(logs.out).toContain('[redacted:PGPASSWORD]');
    expect(logs.out).not.toContain('"sealed"');
    for (const text of [await ledgerBytes(project), logs.out, approved.err, (await project.look('show', run)).out])
      for (const secret of [PASSWORD, TOKEN]) expect(text.includes(secret), secret).toBe(false);
    expect((await project.look('ledger', 'verify')).code).toBe(0);
    const state = (await project.look('doctor', '--json')).out;
    expect(state).toMatch(/key [0-9a-f]{12} in /);
  } finally {
    await rm(project.env['XDG_STATE_HOME'] ?? '', { recursive: true, force: true });
  }
});

it('without the key nothing is written, and who approved it is asked, told and shown what was not done', async () => {
  await using project = await createTestProject('', AGENT);
  project.env['TROUPE_SEAL_KEY'] = Buffer.alloc(32, 1).toString('base64');
  project.env['PGPASSWORD'] = PASSWORD;
  const run = await waiting(project);
  project.env['TROUPE_SEAL_KEY'] = Buffer.alloc(32, 2).toString('base64');
  const approved = await project.troupe('approve', run);
  expect(approved.code).toBe(5);
  expect(approved.err).toContain('write was not run: its exact arguments are gone');
  expect(approved.err).toContain('again | leave it');
  const left = await project.troupe('answer', run, 'leave it');
  await expect(readFile(join(project.folder, 'settings.env'))).rejects.toMatchObject({ code: 'ENOENT' });
  expect(left.code).toBe(0);
  expect(left.err).toContain('write was not run: its exact arguments are gone');
  expect(left.err).toContain('1 call was not made: its exact arguments are gone');
  expect(JSON.parse((await project.look('show', run, '--json')).out)).toMatchObject({ callsGone: 1 });
  expect((await project.look('logs', run, '--jsonl')).out).toContain('the exact arguments of this call are gone');
});
