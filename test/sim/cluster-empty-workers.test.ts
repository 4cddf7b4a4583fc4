/**
 * Workers in empty folders: they have nothing of the project but the ledger and the address of the engine. What the agents are,
 * what they may do and which options the command was given comes with the run.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { systemRandom } from '../../src/base/random.ts';
import { freePorts } from '../../src/cluster/free-ports.ts';
import { type LocalCluster, startLocalCluster } from '../../src/cluster/local-cluster.ts';
import type { ServerProcess } from '../../src/cluster/server-process.ts';
import { startWorker } from '../../src/cluster/worker-process.ts';
import { userText } from '../../src/events/messages.ts';
import { openProject } from '../../src/project/open.ts';
import type { Project, ProjectFlags } from '../../src/project/project.ts';
import { chooseOwnPorts } from '../support/cluster/own-ports.ts';

const top = mkdtempSync(join(tmpdir(), 'troupe-empty-'));
const root = join(top, 'project');
const checkout = join(import.meta.dirname, '..', '..');
const program = join(checkout, 'src', 'cli', 'main.ts');
/** As a prompt names the variable. */
const PLACE = '$' + '{place}';
let cluster: LocalCluster;
const workers: ServerProcess[] = [];

const script = (name: string, turns: readonly unknown[]): string => {
  writeFileSync(join(root, `${name}.yaml`), JSON.stringify(turns));
  return `scripted:${join(root, `${name}.yaml`)}`;
};

const calling = (name: string) => ({ toolCalls: [{ name, input: { prompt: 'x', reason: 'y' } }] });

function agent(name: string, frontmatter: string, prompt = 'You work.'): void {
  writeFileSync(join(root, 'agents', `${name}.md`), `---\nname: ${name}\n${frontmatter}\n---\n${prompt}\n`);
}

beforeAll(async () => {
  mkdirSync(join(root, 'agents'), { recursive: true });
  writeFileSync(join(root, 'troupe.yaml'), 'permissions: { shell: deny }\nvars: { place: here }\n');
  await chooseOwnPorts(root, 1);
  cluster = await startLocalCluster({
    ...{ root, folder: join(root, '.troupe', 'cluster'), nodes: 1, workers: 0 },
    env: { PATH: process.env['PATH'], HOME: root },
    packages: [join(checkout, 'tools', 'cluster')],
    ...{ program, clock: systemClock, random: systemRandom, say: () => undefined, gaveUp: () => undefined },
  });
  const [port = 0] = await freePorts([0]);
  for (const name of ['one', 'two', 'three']) {
    const folder = join(top, name);
    mkdirSync(folder);
    const { settings, admin } = cluster;
    const env = { PATH: process.env['PATH'], HOME: folder };
    workers.push(
      await startWorker({ root: folder, name, port, admin, settings, env, program, clock: systemClock, say: () => undefined }),
    );
  }
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await cluster?.stop();
  rmSync(top, { recursive: true, force: true });
});

async function open(flags?: ProjectFlags): Promise<Project> {
  const env = { HOME: root, TROUPE_LEDGER: cluster.settings.ledger, TROUPE_ENGINE: cluster.settings.engine };
  return await openProject({ cwd: root, env, flags });
}

async function runs(project: Project, name: string, prompt = 'go') {
  const started = await project.engine.start({ agent: name, input: userText(prompt), workspace: root });
  if (started.kind !== 'started') throw new Error(started.error.message);
  return { end: await started.handle.done, session: started.handle.session };
}

describe('workers in empty folders', () => {
  it('run agents that others call, as they were when the run started', async () => {
    agent('boss', `model: ${script('boss', [calling('helper'), { text: 'All done.' }])}\nagents: [helper]`);
    agent('helper', `model: ${script('helper', [{ text: 'I helped.' }])}`);
    await during(await open(), async (project) => {
      const { end } = await runs(project, 'boss');
      expect(end).toMatchObject({ kind: 'ended', result: { status: 'completed', report: { body: 'All done.' } } });
    });
  });

  it('hold what the project denies', async () => {
    const command = { name: 'shell', input: { command: 'touch made' } };
    agent(
      'runner',
      `model: ${script('runner', [{ toolCalls: [command] }, { text: 'Done.' }])}\ntools: [shell]\npermissions: { shell: allow }`,
    );
    agent('above', `model: ${script('above', [calling('runner'), { text: 'Over.' }])}\nagents: [runner]`);
    await during(await open(), async (project) => {
      const { session } = await runs(project, 'above');
      const results = await project.ledger.read({ session, types: ['tool.result'] });
      expect(JSON.stringify(results)).toContain('may not use shell');
    });
  });

  it('fill prompts and choose models by the options of the command, for every agent of the run', async () => {
    const other = script('other', [
      { toolCalls: [{ name: 'inner', input: { prompt: 'x', reason: 'y' } }] },
      { text: 'By the other.' },
    ]);
    agent('outer', 'agents: [inner]', `You are ${PLACE}.`);
    agent('inner', 'description: inner', `Inside of ${PLACE}.`);
    await during(await open({ model: other, vars: { place: 'elsewhere' } }), async (project) => {
      const { session } = await runs(project, 'outer');
      const setups = await project.ledger.read({ session, types: ['session.config'] });
      const said = setups.map(({ payload }) => Reflect.get(payload, 'system'));
      expect(said).toEqual([expect.stringContaining('You are elsewhere.'), expect.stringContaining('Inside of elsewhere.')]);
      expect(JSON.stringify(setups)).toContain('other.yaml');
    });
  });
});

async function during(project: Project, use: (project: Project) => Promise<void>): Promise<void> {
  try {
    await use(project);
  } finally {
    await project.close();
  }
}
