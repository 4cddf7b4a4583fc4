/** What Troupe was started with is not there for commands to read: not in a variable, not in `/proc`, not on a command line. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startHttp } from '../support/assistants/client.ts';
import { toolsOf } from '../support/assistants/served-project.ts';
import { startedBy } from '../support/process/process-tree.ts';
import { programOf } from '../support/programs/programs.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const MCP_SERVER = await programOf(fileURLToPath(new URL('../support/mcp/server.ts', import.meta.url)));
const TOKEN = 'canary-token-0123456789';
const SECRETS = { TROUPE_TOKEN: TOKEN, PGPASSWORD: 'canary-password', MY_THING: 'canary without a telling name' };
const hasBlocks = existsSync('/proc/self/environ');

/** Reads what it can of its parent, says so, and stays until it is told to go. */
const COMMAND = 'cat /proc/$PPID/environ /proc/$PPID/cmdline > parent; touch begun; until [ -e go ]; do sleep 0.02; done';

async function projectWithCommand(): Promise<TestProject> {
  const mcp = JSON.stringify({ test: { command: process.execPath, args: [MCP_SERVER] } });
  const agent = '---\nname: helper\ntools: [shell, "mcp:test"]\npermissions: { shell: allow }\n---\nYou help.\n';
  const project = await createTestProject(`mcp: ${mcp}\n`, agent);
  await project.serve(({ toolResults }) =>
    toolResults === 0 ? { calls: [{ name: 'shell', input: { command: COMMAND } }] } : { text: 'Looked.' },
  );
  return project;
}

const begun = (project: TestProject) => expect.poll(() => existsSync(join(project.folder, 'begun'))).toBe(true);

/** Everything that others can read of how these processes were started. */
function blocksOf(pids: readonly number[]): string {
  const read = (pid: number, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1');
    } catch {
      // One that came and went, such as a `sleep`.
      return '';
    }
  };
  return pids.map((pid) => read(pid, 'environ') + read(pid, 'cmdline')).join('\n');
}

it.runIf(hasBlocks)('no process of a server at work shows a key or a token', async () => {
  await using project = await projectWithCommand();
  await using server = await startHttp(project, SECRETS);
  await using client = await server.connect('2026-07-28', TOKEN);
  const { spawn, untilEnded } = toolsOf(client);
  const { process_id } = await spawn('helper', 'Look around.');
  await begun(project);
  const family = startedBy(server.pid);
  const kinds = ['loop-worker', 'troupe-reaper', 'mcp/server', 'until'];
  for (const kind of kinds) expect(family.map(({ command }) => command).join('\n')).toContain(kind);
  const all = blocksOf([server.pid, ...family.map(({ pid }) => pid)]) + readFileSync(join(project.folder, 'parent'), 'latin1');
  expect(all).toContain('PATH=');
  for (const secret of ['canary', project.env['OPENAI_API_KEY'] ?? '?']) expect(all).not.toContain(secret);
  await project.write('go', '');
  expect((await untilEnded(process_id)).process.status).toBe('finished');
});

it.runIf(hasBlocks)('a run hides them too, and a token on the command line is starred', async () => {
  await using project = await projectWithCommand();
  Object.assign(project.env, SECRETS);
  const running = project.start(['run', 'helper', 'Look around.']);
  await begun(project);
  expect(blocksOf([running.pid, ...startedBy(running.pid).map(({ pid }) => pid)])).not.toContain('canary');
  await project.write('go', '');
  expect(await running.ended).toMatchObject({ code: 0, out: 'Looked.\n' });

  for (const given of [['--token', `${TOKEN}-2`], [`--token=${TOKEN}-2`]]) {
    const serving = project.start(['serve', '--port', '0', ...given]);
    await serving.says('others, JSON');
    expect(blocksOf([serving.pid])).toMatch(/--token[=\0]\*{10,}/);
    expect(blocksOf([serving.pid])).not.toContain('canary');
    serving.kill('SIGTERM');
    expect(await serving.ended).toMatchObject({ code: 0, err: expect.not.stringContaining('warning') });
  }
});

it('every variable still counts after it was hidden', async () => {
  await using project = await createTestProject('vars: { a: "1" }\n');
  await project.script({ text: 'Fine.' });
  project.env['TROUPE_HOME'] = join(project.folder, 'elsewhere');
  expect(await project.troupe('run', 'helper', 'Hello.')).toMatchObject({ code: 0, out: 'Fine.\n' });
  expect(existsSync(join(project.folder, 'elsewhere', 'ledger.db'))).toBe(true);
});
