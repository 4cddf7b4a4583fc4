import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { userText } from '../events/messages.ts';
import type { RootOrigin } from '../events/run-origin.ts';
import { textResult } from '../tools/port.ts';
import { openProject } from './open.ts';

const files = {
  'agents/desk.md':
    '---\nmodel: test/own\ngroup: { mode: broadcast, workers: [coder, { agent: coder, name: second, model: test/other }] }\n---\nx',
  'agents/coder.md': '---\nmodel: test/coder\n---\nx',
};

describe('a model that is named on the command line', () => {
  it('is that of every agent, and of workers with a model of their own', async () => {
    await using project = await temporaryProject(files);
    const env = { HOME: project.root };
    const opened = await openProject({ cwd: project.root, root: project.root, env, flags: { model: 'test/all' } });
    try {
      const desk = await opened.groups.agent('desk');
      expect(desk?.models).toEqual(['test/all']);
      expect(desk?.group?.workers).toEqual(['coder', { agent: 'coder', name: 'second', model: 'test/all' }]);
      expect((await opened.groups.agent('coder'))?.models).toEqual(['test/all']);
    } finally {
      await opened.close();
    }
  });
});

describe('an agent whose file has an error', () => {
  const lead = (rest: string): string => `---\nmodel: test/own\n${rest}\n---\nx`;
  const broken = '---\nmodel: test/own\npermissions: { shel: deny }\n---\nx';
  it.each([
    ['a handoff goes to', 'handoff: bad'],
    ['advises', 'advisors: bad'],
    ['is a destination', 'router: { destinations: [bad] }'],
    ['is a member', 'team: { members: [bad] }'],
    ['is a worker', 'group: { mode: broadcast, workers: [bad] }'],
    ['is a sub-agent', 'agents: [bad]'],
    ['is dispatched to', 'dispatch: { agents: [bad] }'],
    ['a dispatch falls back on', 'dispatch: { agents: [good], fallback: bad }'],
    ['clarifies for a dispatch', 'dispatch: { agents: [good], clarification: bad }'],
    ['evaluates a group', 'group: { mode: reflect, evaluator: bad, workers: [good] }'],
    ['works for an architect', 'architect: { executor: bad }'],
    ['may be spawned', 'tools: [assistants]'],
  ])('never runs, also not one that %s', async (_title, rest) => {
    await using project = await temporaryProject({
      'agents/lead.md': lead(rest),
      'agents/bad.md': broken,
      'agents/good.md': lead(''),
    });
    const opened = await openProject({ cwd: project.root, root: project.root, env: { HOME: project.root } });
    try {
      expect(await opened.groups.agent('bad')).toBeUndefined();
      const request = { agent: 'bad', input: userText('x'), workspace: project.root };
      expect(await opened.engine.start(request)).toMatchObject({ kind: 'refused', error: { code: 'no_agent' } });
      // These name others only when they hand something over: there it is not, as said above.
      if (/^(?:tools|architect)/.test(rest)) return;
      const above = await opened.engine.start({ ...request, agent: 'lead' });
      expect(above).toMatchObject({ kind: 'refused', error: { message: expect.stringContaining('bad') } });
    } finally {
      await opened.close();
    }
  });

  it('never runs when it is named by its path', async () => {
    await using project = await temporaryProject({ 'elsewhere/bad.md': broken });
    const flags = { agentFile: `${project.root}/elsewhere/bad.md` };
    const opened = await openProject({ cwd: project.root, root: project.root, env: { HOME: project.root }, flags });
    try {
      await expect(opened.groups.agent('bad')).rejects.toThrow(/unknown tool "shel"/);
    } finally {
      await opened.close();
    }
  });
});

describe('an executor without a file', () => {
  const origins: readonly RootOrigin[] = [
    { kind: 'client', by: 'alice' },
    { kind: 'client', by: 'owner', rights: { commands: 'all', answers: true, approves: true } },
    { kind: 'person', client: 'api', name: 'owner' },
  ];
  it('is nobody for whoever asks from outside, whatever they may, and is where a file names it', async () => {
    const files = {
      'executors.yaml': 'executors: { mine: { address: "127.0.0.1:9" } }',
      'agents/own.md': '---\nexecutor: mine\n---\nx',
    };
    await using project = await temporaryProject(files);
    const opened = await openProject({ cwd: project.root, root: project.root, env: { HOME: project.root } });
    try {
      const request = { input: userText('x'), workspace: project.root };
      for (const origin of origins) {
        const refused = await opened.engine.start({ ...request, agent: 'executor:mine', origin });
        expect(refused).toMatchObject({ kind: 'refused', error: { code: 'no_agent' } });
      }
      expect(await opened.engine.start({ ...request, agent: 'own', origin: origins[1] })).toMatchObject({ kind: 'started' });
    } finally {
      await opened.close();
    }
  });
});

describe('a right in the settings that stands for nothing', () => {
  const agent = '---\nmodel: test/own\n---\nx';
  it.each([
    [
      'permissions: { shel: deny }',
      'troupe.yaml:1:16: error: unknown tool "shel" in "permissions"\n  fix: Did you mean "shell"?',
    ],
    ['permissions: { "mcp:githb/*": deny }', 'unknown MCP server "githb" in "permissions"'],
    ['permissions: { plan: { "a*": deny } }', '"plan" takes one word and no rules in "permissions"'],
    [
      'permissions: { shell: { "a | b": allow } }',
      'troupe.yaml:1:25: error: a rule is about one command, in which "|" cannot stand',
    ],
    ['permissions: { fetch: { "https://a": allow } }', '"https://a" is not a host'],
    ['permissions: { write: { "../a": allow } }', '"../a" is not a path in the workspace'],
  ])('stops every agent: %s', async (settings, message) => {
    await using project = await temporaryProject({ 'agents/one.md': agent, 'troupe.yaml': settings });
    const opened = await openProject({ cwd: project.root, root: project.root, env: { HOME: project.root } });
    try {
      await expect(opened.groups.agent('one')).rejects.toThrow(message);
    } finally {
      await opened.close();
    }
  });

  it("stops every agent also in one's own settings", async () => {
    const settings = { '.config/troupe/config.yaml': 'permissions: { shel: deny }' };
    await using project = await temporaryProject({ 'agents/one.md': agent, ...settings });
    const opened = await openProject({ cwd: project.root, root: project.root, env: { HOME: project.root } });
    try {
      await expect(opened.groups.agent('one')).rejects.toThrow(/config\.yaml:1:16: error: unknown tool "shel"/);
    } finally {
      await opened.close();
    }
  });

  it('stops those that a program brings along, unless it brings the tool as well', async () => {
    await using project = await temporaryProject({ 'troupe.yaml': 'permissions: { lookup: ask }' });
    const agents = [defineAgent({ name: 'own', model: 'test/own', prompt: 'x' })];
    const tools = [
      { name: 'lookup', description: '', inputSchema: {}, replay: 'safe' as const, run: async () => textResult('') },
    ];
    const options = { cwd: project.root, root: project.root, env: { HOME: project.root } };
    const without = await openProject(options, { agents });
    const with_ = await openProject(options, { agents, tools });
    try {
      await expect(without.groups.agent('own')).rejects.toThrow('unknown tool "lookup"');
      expect((await with_.groups.agent('own'))?.name).toBe('own');
    } finally {
      await without.close();
      await with_.close();
    }
  });
});
