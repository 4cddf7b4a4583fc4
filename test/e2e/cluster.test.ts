/** A whole cluster on one machine through the command line: the same commands, several processes, and nothing left behind. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseOwnPorts } from '../support/cluster/own-ports.ts';
import { startedBy, stillThere } from '../support/process/process-tree.ts';
import { agentWith, createTestProject, type Ended, objectIn, type Running, type TestProject } from './support-project.ts';

let project: TestProject;
let up: Running;

const lastJson = (ended: Ended): ReturnType<typeof objectIn> => objectIn(ended.out);

beforeAll(async () => {
  project = await createTestProject('', agentWith('model: scripted:hello.yaml'));
  const agent = (name: string, tools: string): string =>
    `---\nname: ${name}\nmodel: scripted:${name}.yaml\ntools: [${tools}]\npermissions: { shell: allow }\n---\nYou work.\n`;
  await project.write('hello.yaml', JSON.stringify([{ text: 'Hello there.' }]));
  await project.write('agents/asker.md', agent('asker', 'ask'));
  const question = { name: 'ask', input: { question: 'Which one?', choices: ['a', 'b'] } };
  await project.write('asker.yaml', JSON.stringify([{ toolCalls: [question] }, { text: 'Thank you.' }]));
  await project.write('agents/slow.md', agent('slow', 'shell'));
  const sleep = { name: 'shell', input: { command: 'touch begun; sleep 3600' } };
  await project.write('slow.yaml', JSON.stringify([{ toolCalls: [sleep] }, { text: 'Slept.' }]));
  await chooseOwnPorts(project.folder, 1);
  up = project.start(['cluster', 'up', '--workers', '2', '--write']);
  await up.says('Ctrl-C stops everything');
});

afterAll(async () => {
  up.kill('SIGKILL');
  await up.ended;
  await project[Symbol.asyncDispose]();
});

describe('a cluster on one machine', () => {
  it('runs an agent, and shows it as ever', async () => {
    expect(await project.troupe('run', 'helper', 'hi')).toMatchObject({ code: 0, out: 'Hello there.\n' });
    expect((await project.troupe('ps')).out).toMatch(/helper +completed/);
    expect(lastJson(await project.troupe('show', 'last', '--json'))).toMatchObject({ status: 'completed', turns: 1 });
  });

  it('waits for an answer, and goes on with it', async () => {
    const asked = await project.troupe('run', 'asker', 'go');
    expect(asked).toMatchObject({ code: 5, err: expect.stringContaining('Which one?') });
    expect(await project.troupe('answer', 'last', 'a')).toMatchObject({ code: 0, out: 'Thank you.\n' });
  });

  it('leaves a run to the cluster on Ctrl-C, and cancels it from elsewhere', async () => {
    const run = project.start(['run', 'slow', 'go']);
    await run.says('calls shell');
    run.kill('SIGINT');
    const left = await run.ended;
    expect(left).toMatchObject({ code: 130, err: expect.stringContaining('the run goes on in the cluster') });
    expect((await project.troupe('ps')).out).toMatch(/slow +running/);
    const following = project.start(['resume', 'last']);
    expect(await project.troupe('cancel', 'last')).toMatchObject({ code: 0 });
    expect(await following.ended).toMatchObject({ code: 130, err: expect.stringContaining('cancelled') });
  });

  it('says how it is', async () => {
    expect(lastJson(await project.troupe('cluster', 'status', '--json'))).toMatchObject({
      restate: { nodes: 1, version: expect.stringMatching(/^\d+\./) },
      workers: [{ answers: true, services: ['troupe-run', 'troupe-session'] }],
      runs: { running: 0, waiting: 0, paused: 0 },
    });
    const { out } = await project.troupe('doctor');
    for (const about of ['restate', 'restate-admin', 'workers']) expect(out).toMatch(new RegExp(`ok +${about}: `));
    expect(await project.troupe('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringContaining('sound') });
  });

  it('stops with everything it started', async () => {
    const before = startedBy(up.pid);
    for (const part of ['restate-server', 'postgres', 'worker', 'troupe-reaper'])
      expect(before.filter(({ command }) => command.includes(part))).not.toEqual([]);
    up.kill('SIGTERM');
    expect(await up.ended).toMatchObject({ code: 0, err: expect.stringContaining('everything is stopped') });
    await expect.poll(() => stillThere(before)).toEqual([]);
  });

  it('goes on where it was, and leaves nothing behind when it is killed', async () => {
    up = project.start(['cluster', 'up', '--workers', '1']);
    await up.says('Ctrl-C stops everything');
    expect(await project.troupe('run', 'helper', 'hi again', '-q')).toMatchObject({ code: 0 });
    expect(lastJson(await project.troupe('ledger', 'stats', '--json'))).toMatchObject({ sessions: 4 });
    const before = startedBy(up.pid);
    up.kill('SIGKILL');
    await expect.poll(() => stillThere(before)).toEqual([]);
  });
});
