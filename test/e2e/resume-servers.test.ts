/**
 * A tool server that is lost is a reason outside of a run: one that dies, cannot be started or goes away has the run go on at the
 * step that failed once it is back, with nothing asked or called twice.
 */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHttpMcpServer } from '../support/mcp/server.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { programOf } from '../support/programs/programs.ts';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { agentWith, createTestProject, expectKept, type TestProject } from './support-project.ts';

const SERVER = await programOf(join(import.meta.dirname, '../support/mcp/server.ts'));
const down: Reply = { fault: 'status', status: 503 };
const note: Reply = { calls: [{ name: 'tools__note', input: { text: 'x' } }] };

/** A server that can be taken away and brought back, and the settings with it. */
interface Lost extends AsyncDisposable {
  readonly settings: string;
  away(project: TestProject): Promise<void>;
  back(project: TestProject): Promise<void>;
}

/** Its program is not there while it is away. */
async function overStdio(): Promise<Lost> {
  const link = (project: TestProject, name: string): string => join(project.folder, name);
  return {
    settings: `mcp: { tools: { command: sh, args: [server.sh] } }\npermissions: { shell: allow, "mcp:tools": allow }\n`,
    away: (project) => rename(link(project, 'server.sh'), link(project, 'elsewhere.sh')),
    back: (project) => rename(link(project, 'elsewhere.sh'), link(project, 'server.sh')),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function overHttp(): Promise<Lost> {
  let server = await startHttpMcpServer();
  const port = Number(new URL(server.url).port);
  return {
    settings: `mcp: { tools: { url: "${server.url}" } }\npermissions: { shell: allow, "mcp:tools": allow }\n`,
    away: () => server.close(),
    back: async () => {
      server = await startHttpMcpServer(port);
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

const servers: readonly (readonly [string, () => Promise<Lost>])[] = [
  ['stdio', overStdio],
  ['HTTP', overHttp],
];

async function projectWith(lost: Lost, agent: string): Promise<TestProject> {
  const project = await createTestProject(lost.settings, agent);
  await project.write('server.sh', `exec '${process.execPath}' '${SERVER}'\n`);
  return project;
}

/** How often a tool of the server was called, as the ledger has it. */
async function called(project: TestProject, name: string): Promise<number> {
  const { out } = await project.look('logs', 'last', '--jsonl');
  return out.split('\n').filter((line) => line.includes('"event_type":"tool.call"') && line.includes(name)).length;
}

describe.each(servers)('a server over %s', (_name, create) => {
  it('that is not there at first: nothing is begun, and nothing asked', async () => {
    await using lost = await create();
    await using project = await projectWith(lost, agentWith('tools: ["mcp:tools"]'));
    const model = await project.serve(note, { text: 'All done.' });
    await lost.away(project);
    const first = await project.look('run', 'helper', 'Go.');
    expect(first.code).not.toBe(0);
    expect(`${first.out}${first.err}`).toContain('tools');
    expect(model.requests).toHaveLength(0);
    await lost.back(project);
    expect((await project.look('ps', '--all', '--json')).out).toBe('[]\n');
    expect(await project.look('run', 'helper', 'Go.')).toMatchObject({ code: 0, out: 'All done.\n' });
    expect(model.requests).toHaveLength(2);
    await expectKept(project, 'completed');
  });

  it('that is gone when a run goes on: it stays as it is, and goes on where it stopped once the server is back', async () => {
    await using lost = await create();
    await using project = await projectWith(lost, agentWith('tools: ["mcp:tools"]\nmaxRetries: 0'));
    const model = await project.serve(note, down, { text: 'All done.' });
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
    await lost.away(project);
    for (let time = 0; time < 2; time += 1) {
      const refused = await project.look('resume', 'last');
      expect(refused.code).not.toBe(0);
      expect(`${refused.out}${refused.err}`).toContain('tools');
    }
    expect(model.requests).toHaveLength(2);
    await lost.back(project);
    expect(await project.look('resume', 'last')).toMatchObject({ code: 0, out: 'All done.\n' });
    expect(model.requests).toHaveLength(3);
    expect(await called(project, 'note')).toBe(1);
    await expectKept(project, 'completed');
  });

  it('that a sub-agent could not have goes on below, with a caller that stood still for something else', async () => {
    await using lost = await create();
    await using project = await projectWith(lost, agentWith('agents: [second]\nmaxRetries: 0'));
    await project.write('agents/second.md', '---\nname: second\ntools: ["mcp:tools"]\nmaxRetries: 0\n---\nYou do it.\n');
    const isSecond = ({ body }: SeenRequest): boolean => JSON.stringify(body).includes('You do it.');
    let isDown = true;
    const model = await project.serve((request) => {
      if (isSecond(request)) return request.toolResults > 0 ? { text: 'It is noted.' } : note;
      if (request.toolResults === 0) return { calls: [{ name: 'second', input: { prompt: 'do', reason: 'need' } }] };
      return isDown ? down : { text: 'All done.' };
    });
    await lost.away(project);
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
    expect(model.requests.filter(isSecond)).toHaveLength(0);
    isDown = false;
    await lost.back(project);
    expect(await project.look('resume', 'last')).toMatchObject({ code: 0, out: 'All done.\n' });
    expect(model.requests.filter(isSecond)).toHaveLength(2);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('It is noted.');
    expect((await project.look('ps', '--all')).out).not.toContain('failed');
  });
});

it('that a run does not go on for want of a server is said at a terminal in whole words', async () => {
  await using lost = await overStdio();
  await using project = await projectWith(lost, agentWith('tools: ["mcp:tools", ask]'));
  await project.serve({ calls: [{ name: 'ask', input: { question: 'Which?' } }] }, { text: 'All done.' });
  expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
  await lost.away(project);
  await using person = sitDown(project, ['resume', 'last'], { columns: 60 });
  await person.ended;
  expect(person.screen()).toMatch(/interrupted · .*why .*The MCP server tools could not be\n +started: /s);
  await lost.back(project);
  expect((await project.look('answer', 'last', 'This.')).out).toBe('All done.\n');
});

it('a server that dies in a call: the model is told, it is not repeated, and the next call finds the server again', async () => {
  await using lost = await overStdio();
  await using project = await projectWith(lost, agentWith('tools: ["mcp:tools"]'));
  const crash: Reply = { calls: [{ name: 'tools__crash', input: {} }] };
  const model = await project.serve(crash, note, { text: 'All done.' });
  expect(await project.look('run', 'helper', 'Go.')).toMatchObject({ code: 0, out: 'All done.\n' });
  const told = JSON.stringify(model.requests[1]?.body);
  expect(told).toMatch(/server.*(ended|closed|died|gone|lost)/i);
  expect([await called(project, 'crash'), await called(project, 'note')]).toEqual([1, 1]);
});
