/** A right for a tool that its server does not have may have been meant as a ban: with it no agent runs, in whatever role. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { programOf } from '../support/programs/programs.ts';
import { agentWith, createTestProject, type TestProject } from './support-project.ts';

const SERVER = await programOf(join(import.meta.dirname, '../support/mcp/server.ts'));
const mcp = `mcp: { tools: { command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(SERVER)}] } }\n`;
const noted = { calls: [{ name: 'tools__note', input: { text: 'x' } }] };
const settingsWith = (permissions: string): string => `${mcp}permissions: { ${permissions} }\n`;

/** Whatever was said, and how often a model was asked. */
async function runs(project: TestProject, agent = 'helper') {
  const model = await project.serve(noted, { text: 'All done.' });
  const { code, out, err } = await project.look('run', agent, 'Go.');
  return { code, said: `${out}${err}`, asked: model.requests.length };
}

describe('a right of the settings', () => {
  it.each([
    ['"mcp:tools": allow, "mcp:tools/noet": deny', '"mcp:tools/note"'],
    ['"mcp:tools": allow, "tools__noet": deny', '"tools__note"'],
    ['"mcp:tools": allow, "mcp:tools/delete_*": deny', 'has no tools that fit'],
  ])('that stands for no tool refuses the run: %s', async (permissions, meant) => {
    await using project = await createTestProject(settingsWith(permissions), agentWith('tools: ["mcp:tools"]'));
    const { code, said, asked } = await runs(project);
    expect(code).not.toBe(0);
    expect(asked).toBe(0);
    expect(said).toContain('troupe.yaml');
    expect(said).toContain(meant);
    const doctor = await project.look('doctor', '--offline');
    expect(doctor.out).toContain(meant);
    expect(doctor.code).not.toBe(0);
  });

  it.each(['"mcp:tools": allow, "mcp:tools/fail": deny', '"mcp:tools/n*": allow', '"tools__note": allow'])(
    'that stands for one is taken as it is: %s',
    async (permissions) => {
      await using project = await createTestProject(settingsWith(permissions), agentWith('tools: ["mcp:tools/note"]'));
      expect(await runs(project)).toMatchObject({ code: 0, asked: 2 });
    },
  );
});

describe('a ban of another tool', () => {
  const file = (rest: string): string => `---\nname: second\ndescription: Notes.\ntools: mcp__tools\n${rest}---\nYou note.\n`;
  const SETTINGS = '.claude/settings.json';
  const denied = (word: string): string => JSON.stringify({ permissions: { deny: [word] } });

  it.each([
    ['of its agent', 'disallowedTools: mcp__tools__noet\n', denied('Read(x)'), '.claude/agents/second.md:5:'],
    ['of its settings', '', denied('mcp__tools__noet'), `${SETTINGS}:1:`],
  ])('that stands for no tool refuses the agent, and says where: %s', async (_what, rest, settings, where) => {
    await using project = await createTestProject(`${mcp}permissions: { "mcp:tools": allow }\n`, agentWith('tools: [list]'));
    await project.write('.claude/agents/second.md', file(rest));
    await project.write(SETTINGS, settings);
    const { code, said, asked } = await runs(project, 'second');
    expect(code).not.toBe(0);
    expect(asked).toBe(0);
    const doctor = await project.look('doctor', '--offline');
    expect(doctor.code).not.toBe(0);
    for (const text of [said, doctor.out]) {
      expect(text).toContain(where);
      expect(text).toContain('has no tool for "mcp__tools__noet"');
      expect(text).toContain('Did you mean "mcp__tools__note"?');
    }
  });

  it('is none where it allows: lists of what is allowed keep old names', async () => {
    await using project = await createTestProject(`${mcp}permissions: { "mcp:tools": allow }\n`, agentWith('tools: [list]'));
    await project.write('.claude/agents/second.md', file(''));
    await project.write(SETTINGS, JSON.stringify({ permissions: { allow: ['mcp__tools__noet'] } }));
    expect(await runs(project, 'second')).toMatchObject({ asked: 2 });
  });

  it('that stands for one, or has stars for the server or the tool, is taken as it is', async () => {
    await using project = await createTestProject(`${mcp}permissions: { "mcp:tools": allow }\n`, agentWith('tools: [list]'));
    await project.write('.claude/agents/second.md', file('disallowedTools: mcp__tools__fail, mcp__tools__delete_*\n'));
    await project.write(SETTINGS, denied('mcp__*__delete_repo'));
    expect(await runs(project, 'second')).toMatchObject({ asked: 2 });
  });

  it('of opencode can be for none: no agent of it has tools of servers', async () => {
    await using project = await createTestProject(`${mcp}permissions: { "mcp:tools": allow }\n`, agentWith('tools: [list]'));
    await project.write(
      '.opencode/agents/second.md',
      '---\ndescription: x\ntools: { tools_noet: false, "tools_*": true }\n---\nYou note.\n',
    );
    const model = await project.serve({ text: 'All done.' });
    await project.look('run', 'second', 'Go.');
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('tools__note');
  });
});

describe('a right of an agent', () => {
  const vain =
    '---\nname: second\ntools: ["mcp:tools"]\npermissions: { "mcp:tools": allow, "mcp:tools/noet": deny }\n---\nYou note.\n';

  it('that stands for no tool refuses it, and says which was meant', async () => {
    await using project = await createTestProject(mcp, agentWith('tools: [list]'));
    await project.write('agents/second.md', vain);
    const { code, said, asked } = await runs(project, 'second');
    expect(code).not.toBe(0);
    expect(asked).toBe(0);
    expect(said).toContain('agents/second.md: the MCP server tools has no tool for "mcp:tools/noet"');
    expect(said).toContain('Did you mean "mcp:tools/note"?');
  });

  it.each([
    ['sub-agent', 'agents: [second]'],
    ['end of a handoff', 'handoff: second'],
    ['advisor', 'advisors: [second]'],
    ['member', 'team: { members: [second] }'],
    ['worker', 'group: { mode: sequential, workers: [second] }'],
    ['destination', 'router: { destinations: [second] }'],
  ])('refuses it as a %s, too', async (_role, key) => {
    await using project = await createTestProject(mcp, agentWith(key));
    await project.write('agents/second.md', vain);
    const isSecond = (body: unknown): boolean => JSON.stringify(body).includes('You note.');
    const model = await project.serve((request) => {
      if (isSecond(request.body)) return noted;
      const text = JSON.stringify(request.body);
      if (request.toolResults > 0) return { text: 'All done.' };
      if (text.includes('"handoff-to"')) return { calls: [{ name: 'handoff-to', input: { agent: 'second' } }] };
      if (text.includes('"second"')) return { calls: [{ name: 'second', input: { prompt: 'do', reason: 'need' } }] };
      return { text: 'All done.' };
    });
    await project.look('run', 'helper', 'Go.');
    expect(model.requests.filter(({ body }) => isSecond(body))).toEqual([]);
    const { out } = await project.look('logs', 'last', '--jsonl');
    expect(out).toContain('noet');
    expect(out).not.toContain('"event_type":"tool.call","name":"tools__note"');
  });
});
