import { writeFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../base/limits.ts';
import { checkProject } from './check-project.ts';
import { expandPrompt } from './definition/variables.ts';
import { discoverAgents, listAgentFiles } from './discover.ts';
import { formatDiagnostic } from './text/diagnostics.ts';

const FIXTURE = join(import.meta.dirname, '../../test/fixtures/agents/project');

describe('a project with agents of several tools', () => {
  const found = checkProject({ projectRoot: FIXTURE, userConfigDir: join(FIXTURE, 'user'), mcpServers: ['github'] });

  it('has each name once, the nearest first', async () => {
    const { agents, shadowed } = await found;
    expect(agents.map(({ definition, origin }) => `${definition.name} (${origin}, ${definition.source})`)).toEqual([
      'fixer (project, agents/team/fixer.md)',
      'triage (project, agents/triage.md)',
      'code-reviewer (claude, .claude/agents/code-reviewer.md)',
      'docs-writer (opencode, .opencode/agents/docs-writer.md)',
      `helper (user, ${join(FIXTURE, 'user/agents/helper.md')})`,
    ]);
    expect(shadowed.map(({ agent, by }) => `${agent.definition.name}: ${agent.origin} behind ${by.origin}`)).toEqual([
      'fixer: claude behind project',
      'triage: user behind project',
    ]);
  });

  it('is read with warnings only', async () => {
    expect((await found).diagnostics.map((one) => formatDiagnostic(one).split('\n')[0])).toEqual([
      '.claude/agents/code-reviewer.md:3:14: warning: the frontmatter is not valid YAML and was read line by line (a second `: ` in one line)',
      '.claude/agents/code-reviewer.md:4:1: warning: the tool "WebSearch" has no counterpart here and is left out',
      '.claude/agents/notes.md:1:1: warning: the file does not start with a line `---`',
    ]);
  });

  it('reads the agents of Claude Code as they are', async () => {
    const reviewer = (await found).agents.find(({ definition }) => definition.name === 'code-reviewer')?.definition;
    expect(reviewer).toMatchObject({
      models: ['anthropic/claude-sonnet-5'],
      tools: ['read', 'search', 'list', 'shell', 'mcp:github/get_pull_request'],
      permissions: { shell: { 'git diff *': 'allow', '*': 'ask' } },
    });
    expect(reviewer?.description).toContain('Examples: <example>Context: A function was added. user: "Please');
    expect(expandPrompt(reviewer?.prompt ?? '', { BASE: 'x' })).toContain(`for \${BASE:-main}.`);
  });

  it('reads the agents of opencode as they are', async () => {
    const writer = (await found).agents.find(({ definition }) => definition.name === 'docs-writer')?.definition;
    expect(writer).toMatchObject({
      models: ['anthropic/claude-sonnet-5'],
      temperature: 0.1,
      maxTurns: 12,
      tools: ['read', 'write', 'edit', 'list', 'search', 'fetch', 'plan', 'ask'],
      permissions: { write: 'allow', edit: 'allow', fetch: 'deny' },
    });
  });

  it('has includes from a folder that holds no agents', async () => {
    const triage = (await found).agents.find(({ definition }) => definition.name === 'triage')?.definition;
    expect(triage?.prompt).toBe(`You are \${AGENT}. Today is \${DATE}.\n\nBe brief and say what you do not know.`);
  });
});

describe('finding agents', () => {
  it('gives nothing, without complaint, where there is nothing', async () => {
    await using project = await temporaryProject();
    const found = await discoverAgents({ projectRoot: project.root, userConfigDir: join(project.root, 'none') });
    expect(found).toEqual({ agents: [], shadowed: [], salvaged: [], broken: new Set(), diagnostics: [] });
  });

  it('names both files when a name is used twice', async () => {
    await using project = await temporaryProject({
      'agents/a.md': '---\nname: x\n---\n1',
      'agents/b.md': '---\nname: x\n---\n2',
    });
    const { agents, diagnostics } = await discoverAgents({ projectRoot: project.root });
    expect(agents).toHaveLength(1);
    expect(diagnostics.map(formatDiagnostic)).toEqual([
      'agents/b.md:2:7: error: a second agent named "x": agents/a.md has the same name\n  fix: Give one of them another `name`.',
    ]);
  });

  it('goes one folder deep and no further, and follows no link out', async () => {
    await using outside = await temporaryProject({ 'secret.md': '---\n---\nkey' });
    await using project = await temporaryProject({
      'agents/one/a.md': '---\n---\nx',
      'agents/one/two/b.md': '---\n---\nx',
      'agents/.c.md': '',
    });
    await symlink(outside.root, join(project.root, 'agents/linked'));
    await symlink(join(outside.root, 'secret.md'), join(project.root, 'agents/secret.md'));
    const { agents, diagnostics } = await discoverAgents({ projectRoot: project.root });
    expect(agents.map(({ definition }) => definition.name)).toEqual(['a']);
    expect(diagnostics.map(({ message }) => message)).toEqual(['the file is outside the project folder']);
  });

  it('says when the folder is a file', async () => {
    await using project = await temporaryProject({ agents: 'x' });
    const { diagnostics } = await discoverAgents({ projectRoot: project.root });
    expect(diagnostics.map(formatDiagnostic)).toEqual(['agents:1:1: error: this is not a folder']);
  });

  it('stops at the limit', async () => {
    await using project = await temporaryProject({ 'agents/n0.md': '' });
    const file = (index: number): string => join(project.root, 'agents', `n${index}.md`);
    for (let index = 1; index <= limits.agentFilesPerFolder; index += 1) writeFileSync(file(index), '');
    const listed = await listAgentFiles({ projectRoot: project.root });
    expect(listed.files).toHaveLength(limits.agentFilesPerFolder);
    expect(listed.diagnostics.map(({ message }) => message)).toEqual([expect.stringContaining('limit agentFilesPerFolder')]);
  });
});
