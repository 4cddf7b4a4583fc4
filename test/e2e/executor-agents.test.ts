/**
 * Agents that executors work for, from the command line: what is asked and answered in other processes, what is missing, and
 * `kill -9` of the command, of the executor and of both while it works. Nobody is left behind, and the run goes on.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, watch } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sampleCommand } from '../support/executors/sample-command.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const CODER = '---\nname: coder\nexecutor: sample\n---\n';

async function withExecutor(agent = CODER): Promise<TestProject> {
  const here = await createTestProject('workspace: work\n', agent);
  await mkdir(join(here.folder, 'work'));
  await mkdir(join(here.folder, 'store'));
  const command = sampleCommand('--store', join(here.folder, 'store'));
  await here.write('executors.yaml', JSON.stringify({ executors: { sample: { title: 'Sample', command } } }));
  return here;
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

/** A process ends in its own time. */
async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Resolves when there is such a file. */
async function made(folder: string, name: string): Promise<void> {
  const looking = new AbortController();
  const changes = watch(folder, { signal: looking.signal });
  if (existsSync(join(folder, name))) return looking.abort();
  for await (const { filename } of changes) if (filename === name) return looking.abort();
}

async function executorPid(here: TestProject): Promise<number> {
  const { out } = await here.look('logs', 'last', '--jsonl');
  const sessions = out.split('\n').filter((line) => line.includes('"executor.session"'));
  return Number(/"pid":(\d+)/.exec(sessions.at(-1) ?? '')?.[1]);
}

describe('an agent that an executor works for', () => {
  it('asks, is answered in another process, and goes on there', async () => {
    await using here = await withExecutor();
    const asked = await here.troupe('run', 'coder', 'ask * npm test\nsay done');
    const request = 'coder (executor sample) wants to use shell:\n  | npm test';
    expect(asked).toMatchObject({ code: 5, err: expect.stringContaining(request) });
    await gone(await executorPid(here));
    expect(await here.troupe('approve', 'last')).toMatchObject({
      code: 0,
      out: expect.stringContaining('permission y-once\ndone'),
    });
  });

  it('is told when it is not there: exit code 6, and check knows it', async () => {
    await using here = await withExecutor('---\nname: coder\nexecutor: sampel\n---\n');
    expect(await here.look('check')).toMatchObject({
      code: 2,
      out: expect.stringMatching(/there is no executor "sampel"[\s\S]*"sample"/),
    });
    await here.write('agents/helper.md', '---\nname: coder\nexecutor: gone\n---\n');
    await here.write(
      'executors.yaml',
      JSON.stringify({ executors: { gone: { command: ['no-such-program-here'], install: 'make gone' } } }),
    );
    const failed = await here.troupe('run', 'coder', 'say x');
    expect(failed).toMatchObject({ code: 6, err: expect.stringContaining('Install it: make gone') });
  });

  it.each(['the command', 'the executor', 'both'] as const)('goes on when kill -9 strikes %s', async (victim) => {
    await using here = await withExecutor();
    const work = join(here.folder, 'work');
    const running = here.start(['run', 'coder', `touch ${work}/one\nunless ${work}/first cancelled\nsay done`]);
    await made(work, 'first');
    const pid = await executorPid(here);
    expect(isAlive(pid)).toBe(true);
    if (victim !== 'the command') process.kill(pid, 'SIGKILL');
    if (victim !== 'the executor') running.kill('SIGKILL');
    const first = await running.ended;
    await gone(pid);
    const { code, out } = victim === 'the executor' ? first : await here.troupe('resume', 'last');
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('done') });
    const logs = await here.look('logs', 'last', '--jsonl');
    const of = (type: string) => logs.out.split('\n').filter((line) => line.includes(`"event_type":"${type}"`)).length;
    expect({ sessions: of('executor.session'), prompts: of('executor.prompted'), ends: of('run.ended') }).toEqual({
      ...{ sessions: 2, prompts: 2, ends: 1 },
    });
    await gone(await executorPid(here));
  });
});
