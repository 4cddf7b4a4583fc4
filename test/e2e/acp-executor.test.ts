/** `troupe acp --executor`: the built-in coding agent in a folder whose files give it no rights, with state kept elsewhere. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { methods } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { choose, startAcp } from '../support/acp/acp-client.ts';
import { createTestProject, type TestProject } from './support-project.ts';

interface Bench extends AsyncDisposable {
  readonly project: TestProject;
  readonly worktree: string;
  readonly home: string;
  args(...more: readonly string[]): readonly string[];
}

const shell = (command: string) => ({ toolCalls: [{ name: 'shell', input: { command } }] });

/** A worktree of a stranger, a home for state, and a script instead of a model. */
async function bench(...replies: readonly unknown[]): Promise<Bench> {
  const project = await createTestProject();
  const base = await mkdtemp(join(tmpdir(), 'troupe-executor-'));
  const [worktree, home, script] = [join(base, 'worktree'), join(base, 'home'), join(base, 'replies.yaml')];
  await mkdir(join(worktree, 'agents'), { recursive: true });
  await writeFile(script, JSON.stringify(replies));
  await writeFile(join(worktree, 'troupe.yaml'), 'permissions: { shell: allow }\nmodel: scripted:stranger.yaml\n');
  await writeFile(join(worktree, 'agents', 'troupe-coder.md'), '---\ntools: [shell]\n---\nA stranger.\n');
  return {
    ...{ project, worktree, home },
    args: (...more) => ['--executor', '--home', home, '--model', `scripted:${script}`, ...more],
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await rm(base, { recursive: true, force: true });
    },
  };
}

it('does a task in the folder of its session, and keeps its state elsewhere', async () => {
  const plan = { toolCalls: [{ name: 'plan', input: { items: [{ text: 'Write it', status: 'active' }] } }] };
  const write = { toolCalls: [{ name: 'write', input: { path: 'src/tool.js', content: 'console.log(1)\n' } }] };
  await using it = await bench(plan, write, shell('node src/tool.js'), { finalReport: 'The tool is there.' });
  await using client = await startAcp({ folder: it.worktree, env: it.project.env }, it.args('--mode', 'full'));
  const session = await client.begin(it.worktree);
  const response = await client.prompt(session, 'Add a tool.');
  expect(response).toMatchObject({ stopReason: 'end_turn', usage: { totalTokens: expect.any(Number) } });
  expect(response._meta).toMatchObject({ troupe: { run: expect.stringMatching(/^run_/), costUsd: expect.any(Number) } });
  expect(client.said()).toContain('The tool is there.');
  expect(client.asked).toEqual([]);
  expect(await readFile(join(it.worktree, 'src/tool.js'), 'utf8')).toBe('console.log(1)\n');
  expect(client.updates.map(({ update }) => update)).toContainEqual({
    sessionUpdate: 'plan',
    entries: [{ content: 'Write it', priority: 'medium', status: 'in_progress' }],
  });
  // What lies there keeps two from changing a file at once; git does not see it.
  expect(await readdir(join(it.worktree, '.troupe'))).toEqual(['.gitignore', 'files.lock']);
  await expect(stat(join(it.home, 'ledger.db'))).resolves.toBeDefined();
});

it('has no rights from the files of the folder that it works in, and is not one of its agents', async () => {
  await using it = await bench(shell('touch one.txt'), { finalReport: '{{lastToolResult}}' });
  const rejecting = { permission: choose('reject_once') };
  await using client = await startAcp({ folder: it.worktree, env: it.project.env }, it.args(), rejecting);
  const session = await client.begin(it.worktree);
  await client.prompt(session, 'Run it.');
  // The folder's own settings would have allowed it.
  expect(client.asked).toHaveLength(1);
  await expect(stat(join(it.worktree, 'one.txt'))).rejects.toThrow();
});

it('is loaded again after kill -9, and goes on where it was', async () => {
  await using it = await bench(shell('echo once >> count.txt'), shell('touch second.txt'), { finalReport: 'Both ran.' });
  const place = { folder: it.worktree, env: it.project.env };
  let session = '';
  const second = Promise.withResolvers<void>();
  {
    await using client = await startAcp(place, it.args(), {
      permission: (asked) => {
        if (!JSON.stringify(asked.toolCall.rawInput).includes('second')) return choose('allow_once')(asked);
        second.resolve();
        return Promise.withResolvers<never>().promise;
      },
    });
    session = await client.begin(it.worktree);
    const answered = client.prompt(session, 'Run both.');
    await Promise.race([second.promise, answered]);
    client.child.kill('SIGKILL');
    await expect(answered).rejects.toThrow();
    await client.ended;
  }
  await using client = await startAcp(place, it.args());
  await client.connection.agent.request(methods.agent.session.load, { sessionId: session, cwd: it.worktree, mcpServers: [] });
  const replayed = client.updates.map(({ update }) => update.sessionUpdate);
  expect(replayed).toEqual(expect.arrayContaining(['user_message_chunk', 'tool_call', 'tool_call_update']));
  expect((await client.prompt(session, 'Go on.')).stopReason).toBe('end_turn');
  expect(client.said()).toContain('Both ran.');
  expect(await readFile(join(it.worktree, 'count.txt'), 'utf8')).toBe('once\n');
  await expect(stat(join(it.worktree, 'second.txt'))).resolves.toBeDefined();
});
