/** What agents must not write, because whoever writes it can give itself rights, and what they must not even read. */
import { spawnSync } from 'node:child_process';
import { link, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TestWorkspace, testWorkspace } from '../../../test/support/tool-workspace.ts';
import { definitionSchema } from '../../agents/definition/definition.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createBuiltIns } from '../built-ins.ts';
import { decideProtected } from '../permissions.ts';
import type { OrdinaryTool, ToolContext, ToolOutcome } from '../port.ts';
import { KEYS_OF_AGENTS } from './agent-file.ts';
import type { ProtectedPlaces } from './guard.ts';

const placesIn = (folder: string): ProtectedPlaces => ({
  project: folder,
  home: join(folder, 'state'),
  ledgers: [join(folder, 'data/ledger.db')],
  user: join(folder, '.config/troupe'),
  keys: join(folder, '.local/state/troupe/seal.keys'),
  servers: async () => ['tools/server.mjs', 'tools/later.mjs', 'docs'].map((path) => join(folder, path)),
});

function toolsOf(places?: ProtectedPlaces) {
  const made = createBuiltIns({ clock: systemClock, random: systemRandom, environment: process.env, places });
  return (name: string): OrdinaryTool => {
    const tool = made.get(name)?.();
    if (tool === undefined || tool.kind !== undefined) throw new Error(name);
    return tool;
  };
}

const said = (outcome: ToolOutcome): string =>
  outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

async function project(): Promise<TestWorkspace> {
  const place = await testWorkspace();
  for (const folder of ['data/ledger.db-payloads', 'state', '.config/troupe/agents', 'src/agents', 'other', 'shared'])
    await mkdir(join(place.path, folder), { recursive: true });
  for (const file of [
    'data/ledger.db',
    'data/ledger.db-wal',
    'data/ledger.db-payloads/p',
    'state/key',
    'troupe.yaml',
    'other/troupe.yaml',
  ])
    await writeFile(join(place.path, file), 'kept\n');
  return place;
}

const CLOSED = [
  ...[
    'agents/evil.md',
    'agents/deep/er/evil.md',
    './x/../agents/evil.md',
    'Agents/evil.md',
    'AGENTS/x.md',
    'other/agents/evil.md',
  ],
  ...[
    '.claude/agents/x.md',
    'sub/.claude/settings.json',
    '.opencode/agent/x.md',
    '.squad/team.md',
    '.ai-team/team.md',
    '.Squad/x',
  ],
  ...['troupe.yaml', 'sub/troupe.yaml', 'TROUPE.YAML', '.mcp.json', 'a/b/.mcp.json', 'troupe.yaml.', 'troupe.yaml '],
  ...['opencode.json', 'sub/opencode.jsonc', '.vscode/mcp.json', 'sub/.VSCode/mcp.JSON'],
  ...['.git/hooks/pre-commit', 'sub/.GIT/config', '.git', 'git~1/config', '.g\u200Cit/config', '.ｇit/config', '.git./config'],
  ...['.troupe/x', 'sub/.troupe/ledger.db', 'deep/er/.Troupe/x', '.config/troupe/config.yaml', '.config/troupe/agents/x.md'],
  ...['data/ledger.db', 'data/ledger.db-wal', 'data/ledger.db-shm', 'data/ledger.db-journal', 'data/ledger.db-payloads/x'],
  ...['data/ledger.db-bell'],
  ...['data/LEDGER.db', 'state/key', 'state/new/deep'],
  ...['.env', 'sub/.env', '.ENV', '.env.local', '.env.production.local', '.env.example.local'],
  ...['tools/server.mjs', 'tools/Server.mjs', 'x/../tools/later.mjs'],
];
const OPEN = [
  'src/agents/code.ts',
  'agents.md',
  'data/ledger.db.txt',
  'troupe.yaml.md',
  '.github/x.yml',
  'git/config',
  'claude/x',
  '.vscode/settings.json',
  'mcp.json',
  ...['.env.example', '.env.local.sample', '.envrc', 'x.env'],
  // A folder that a server is told of is not what it runs.
  ...['docs/a.md', 'tools/other.mjs', 'sub/tools/server.mjs'],
];

describe('write and edit', () => {
  it.each(CLOSED)('do not touch %j', async (path) => {
    await using place = await project();
    const tool = toolsOf(placesIn(place.path));
    const wrote = await tool('write').run({ path, content: 'evil' }, place.context);
    expect(wrote).toMatchObject({ kind: 'error', message: expect.stringMatching(/closed to agents|not open to agents/) });
    expect(await tool('edit').run({ path, old: 'kept', new: 'evil' }, place.context)).toMatchObject({
      kind: 'error',
      message: expect.stringMatching(/closed to agents|not open to agents/),
    });
  });

  it.each(OPEN)('are free to write %j', async (path) => {
    await using place = await project();
    const wrote = await toolsOf(placesIn(place.path))('write').run({ path, content: 'fine' }, place.context);
    expect(said(wrote)).toContain('Created');
  });

  it('find the same place under another name: links in either direction', async () => {
    await using place = await project();
    await symlink('shared', join(place.path, 'agents'));
    await symlink('data', join(place.path, 'alias'));
    await symlink('.claude', join(place.path, 'tool'));
    await mkdir(join(place.path, '.claude'));
    const write = toolsOf(placesIn(place.path))('write');
    for (const path of ['shared/evil.md', 'agents/evil.md', 'alias/ledger.db', 'alias/ledger.db-shm', 'tool/settings.json'])
      expect(await write.run({ path, content: 'evil' }, place.context), path).toMatchObject({ kind: 'error' });
  });

  it('find the same place where it is mounted', async ({ skip }) => {
    await using place = await project();
    await mkdir(join(place.path, 'agents'));
    await mkdir(join(place.path, 'bound'));
    const bound = join(place.path, 'bound');
    if (spawnSync('mount', ['--bind', join(place.path, 'agents'), bound]).status !== 0) return skip('only root mounts');
    try {
      const wrote = await toolsOf(placesIn(place.path))('write').run({ path: 'bound/evil.md', content: 'x' }, place.context);
      expect(wrote.kind).toBe('error');
    } finally {
      spawnSync('umount', [bound]);
    }
  });

  it('know a repository by what lies in it, whatever it is called, and make none', async () => {
    await using place = await project();
    const write = toolsOf(placesIn(place.path))('write');
    const put = async (path: string) => (await write.run({ path, content: 'ref: refs/heads/x\n' }, place.context)).kind;
    for (const path of [
      'vendor/objects/a',
      'vendor/refs/a',
      'vendor/config',
      'linked/HEAD',
      'half/HEAD',
      'half/refs/a',
      'half/config',
    ])
      expect([path, await put(path)]).toEqual([path, 'ok']);
    for (const path of ['vendor/HEAD', 'linked/commondir', 'half/objects/a'])
      expect([path, await put(path)]).toEqual([path, 'error']);
    await mkdir(join(place.path, 'bare/objects'), { recursive: true });
    await mkdir(join(place.path, 'bare/refs'));
    await writeFile(join(place.path, 'bare/HEAD'), 'ref: refs/heads/x\n');
    for (const path of ['bare/config', 'bare/hooks/pre-commit', 'bare/new'])
      expect([path, await put(path)]).toEqual([path, 'error']);
    await mkdir(join(place.path, 'objects'));
    await mkdir(join(place.path, 'refs'));
    expect(await put('HEAD')).toBe('error');
  });

  it('know the file of an agent by what it says, wherever it lies, and what nothing but pages say is free', async () => {
    await using place = await project();
    const tool = toolsOf(placesIn(place.path));
    const closed = {
      'bots/me.md': '---\ntools: [read]\n---\nYou.\n',
      'bots/plain': '---\nmodel: openai/x\n---\nYou.\n',
      'bots/marked.md':
        '\uFEFF#!/usr/bin/env troupe\r\n---\r\ndescription: it\r\n"permissions" : { shell: allow }\r\n---\r\nYou.\r\n',
      'shared/team.markdown': '---\nname: lead\nteam:\n  members: [a]\n---\n',
    };
    const open = {
      'docs/page.md': '---\ntitle: Tools\nname: page\ntags: [a]\n---\ntools: kept\n',
      'docs/rule.md': 'model: kept\n---\n',
      'docs/line.md': '---\nmodel: a line is all that stands above\n',
      'deploy/model.yaml': '---\nmodel: kept\n---\nmodel: b\n',
      'notes.md': '---\ntitle: a\n---\n\n---\nmodel: kept\n---\n',
    };
    for (const [path, text] of Object.entries({ ...closed, ...open })) {
      await mkdir(dirname(join(place.path, path)), { recursive: true });
      await writeFile(join(place.path, path), text);
    }
    const context: ToolContext = { ...place.context, seen: noted };
    for (const path of Object.keys(closed)) {
      expect(said(await tool('write').run({ path, content: 'x' }, context)), path).toContain('files of agents are closed');
      expect(await tool('write').protects?.({ path, content: '' }, place.path), path).toBe('agents');
      expect(said(await tool('read').run({ path }, context)), path).toContain('---');
    }
    for (const path of Object.keys(open))
      expect(said(await tool('write').run({ path, content: 'x' }, context)), path).not.toContain('closed');
  });

  it('keep out of the agents that were read, there or not, by any name of theirs', async () => {
    await using place = await project();
    await mkdir(join(place.path, 'bots'));
    await writeFile(join(place.path, 'bots/said-nothing'), 'kept');
    await link(join(place.path, 'bots/said-nothing'), join(place.path, 'hard'));
    const places = {
      ...placesIn(place.path),
      agents: () => ['bots/said-nothing', 'bots/gone.md'].map((one) => join(place.path, one)),
    };
    const tool = toolsOf(places);
    for (const path of ['bots/said-nothing', 'hard', 'bots/gone.md', 'BOTS/Gone.md'])
      expect(said(await tool('write').run({ path, content: 'x' }, place.context)), path).toContain('files of agents are closed');
    const loud = await tool('shell').run({ command: 'printf b > bots/said-nothing' }, place.context);
    expect(loud.evidence?.find(({ type }) => type === 'cli.run')?.payload).toMatchObject({ protected: ['bots/said-nothing'] });
  });

  it('in a worktree of a group keep out of its copy of the agents, and are free elsewhere in it', async () => {
    await using place = await project();
    const workspace = join(place.path, 'state/worktrees/g1');
    await mkdir(workspace, { recursive: true });
    const context: ToolContext = { ...place.context, workspace };
    const write = toolsOf(placesIn(place.path))('write');
    expect(said(await write.run({ path: 'src/a.ts', content: 'fine' }, { ...context, seen: noted }))).toContain('Created');
    for (const path of ['agents/evil.md', 'tools/server.mjs', 'below/tools/server.mjs'])
      expect(said(await write.run({ path, content: 'x' }, { ...context, seen: noted })), path).toContain('closed');
  });

  it('know what servers run by other names of it, and open it by a permission of its own', async () => {
    await using place = await project();
    await mkdir(join(place.path, 'tools'));
    await writeFile(join(place.path, 'real.mjs'), 'kept');
    await symlink('../real.mjs', join(place.path, 'tools/server.mjs'));
    await link(join(place.path, 'real.mjs'), join(place.path, 'hard.mjs'));
    const tool = toolsOf(placesIn(place.path));
    for (const path of ['tools/server.mjs', 'real.mjs', 'hard.mjs'])
      expect(said(await tool('edit').run({ path, old: 'kept', new: 'evil' }, place.context)), path).toContain(
        'what an MCP server or an executor of this project runs is closed to agents, which could give themselves rights. ' +
          'Only the owner can open it (permission protected:servers).',
      );
    expect(await tool('write').protects?.({ path: 'hard.mjs', content: '' }, place.path)).toBe('servers');
    const opened: ToolContext = { ...place.context, opened: 'servers' };
    expect(said(await tool('edit').run({ path: 'real.mjs', old: 'kept', new: 'fine' }, opened))).toContain('Edited');
  });

  it('do so without any settings, by name', async () => {
    await using place = await testWorkspace();
    for (const path of ['.git/config', 'x/.troupe/y', '.claude/agents/x.md', 'troupe.yaml'])
      expect(await toolsOf()('write').run({ path, content: 'x' }, place.context), path).toMatchObject({ kind: 'error' });
  });

  it('may touch exactly what a call was given leave for', async () => {
    await using place = await project();
    const write = toolsOf(placesIn(place.path))('write');
    expect(await write.protects?.({ path: 'agents/new.md', content: '' }, place.path)).toBe('agents');
    expect(await write.protects?.({ path: 'state/key', content: '' }, place.path)).toBeUndefined();
    expect(await write.protects?.({ path: 'src/a.ts', content: '' }, place.path)).toBeUndefined();
    const opened: ToolContext = { ...place.context, opened: 'agents' };
    expect(said(await write.run({ path: 'agents/new.md', content: 'fine' }, opened))).toContain('Created');
    expect(await write.run({ path: 'troupe.yaml', content: 'evil' }, opened)).toMatchObject({ kind: 'error' });
    expect(await write.run({ path: 'data/ledger.db', content: 'evil' }, opened)).toMatchObject({ kind: 'error' });
  });
});

const noted = { version: async () => null, unread: async () => undefined, changedBy: async () => undefined };

it('every key of an agent gives it away, or is one that a page may have', () => {
  const ofPages = ['name', 'description', 'input', 'output', 'tags', 'examples', 'temperature', 'topP', 'reasoning'];
  expect([...KEYS_OF_AGENTS, ...ofPages].toSorted()).toEqual(Object.keys(definitionSchema.shape).toSorted());
});

describe('read, list and search', () => {
  it('do not see state, wherever it is', async () => {
    await using place = await project();
    await link(join(place.path, 'data/ledger.db'), join(place.path, 'innocent.txt'));
    await mkdir(join(place.path, 'sub/.troupe'), { recursive: true });
    await writeFile(join(place.path, 'sub/.troupe/x'), 'kept\n');
    const tool = toolsOf(placesIn(place.path));
    for (const path of ['data/ledger.db', 'data/ledger.db-payloads/p', 'state/key', 'sub/.troupe/x', 'innocent.txt'])
      expect(await tool('read').run({ path }, place.context), path).toMatchObject({ kind: 'error' });
    const listed = said(await tool('list').run({ pattern: '**' }, place.context));
    expect(listed).not.toMatch(/ledger|state|\.troupe/);
    expect(said(await tool('search').run({ text: 'kept' }, place.context))).not.toMatch(/ledger|state|\.troupe/);
    expect(await tool('search').run({ text: 'kept', path: 'data/ledger.db-payloads' }, place.context)).toMatchObject({
      kind: 'error',
    });
  });

  it('see agents, settings and the repository', async () => {
    await using place = await project();
    expect(said(await toolsOf(placesIn(place.path))('read').run({ path: 'troupe.yaml' }, place.context))).toContain('kept');
  });
});

describe('a command', () => {
  it('that changes what is protected does not go unseen', async () => {
    await using place = await project();
    await mkdir(join(place.path, 'agents'));
    await writeFile(join(place.path, 'agents/a.md'), 'a');
    const shell = toolsOf(placesIn(place.path))('shell');
    const quiet = await shell.run({ command: 'cat agents/a.md; echo x > src/agents/y' }, place.context);
    expect(quiet.evidence?.[0]?.payload).not.toHaveProperty('protected');
    const command =
      'echo evil > agents/evil.md; printf b > agents/a.md; touch -d 2001-01-01 agents/a.md; mkdir -p .git/hooks; echo x > .git/hooks/p';
    const loud = await shell.run({ command }, place.context);
    const changed = ['.git/hooks/p', 'agents/a.md', 'agents/evil.md'];
    expect(loud.evidence?.find(({ type }) => type === 'cli.run')?.payload).toMatchObject({ protected: changed });
    expect(said(loud)).toContain('files changed that are closed to agents: .git/hooks/p, agents/a.md, agents/evil.md');
    await rename(join(place.path, 'agents'), join(place.path, 'moved'));
    expect(await readFile(join(place.path, 'moved/a.md'), 'utf8')).toBe('b');
  });
});

describe('the permission', () => {
  it('has to be given by name, by the owner and for the agent', () => {
    expect(decideProtected('agents')).toBe('deny');
    expect(decideProtected('agents', { 'protected:agents': 'allow' }, [{ '*': 'allow' }])).toBe('deny');
    expect(decideProtected('agents', { '*': 'allow' }, [{ 'protected:agents': 'allow' }])).toBe('deny');
    expect(decideProtected('agents', { protected: 'allow' }, [{ 'protected:agents': 'ask' }])).toBe('ask');
    expect(decideProtected('git', { protected: 'allow' }, [{ 'protected:agents': 'allow' }])).toBe('deny');
    expect(decideProtected('agents', { 'protected:agents': 'allow' }, [{ protected: 'allow' }])).toBe('allow');
    expect(decideProtected('agents', { protected: 'allow' }, [{ protected: 'allow' }, {}])).toBe('allow');
    expect(decideProtected('agents', { protected: 'allow' }, [{ protected: 'allow' }, { protected: 'deny' }])).toBe('deny');
  });
});

it('the keys that open what is sealed are not read, shown, found or changed, by any name', async () => {
  await using place = await project();
  const keys = placesIn(place.path).keys;
  await mkdir(join(keys, '..'), { recursive: true });
  await writeFile(keys, 'kept\n');
  await link(keys, join(place.path, 'innocent.txt'));
  const tool = toolsOf(placesIn(place.path));
  for (const path of ['.local/state/troupe/seal.keys', 'innocent.txt']) {
    expect((await tool('read').run({ path }, place.context)).kind, path).toBe('error');
    expect((await tool('write').run({ path, content: 'x' }, place.context)).kind, path).toBe('error');
  }
  expect(said(await tool('search').run({ text: 'kept', path: '.local' }, place.context))).not.toContain('seal.keys');
  expect(await readFile(keys, 'utf8')).toBe('kept\n');
});
