import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../../base/limits.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';
import { loadAgent } from './load.ts';

async function load(content: string | Uint8Array, path = 'agents/a.md') {
  await using project = await temporaryProject();
  return await loadAgent({ path: await project.write(path, content), root: project.root });
}

/** What `troupe check` would print for the file. */
async function problems(content: string | Uint8Array, path?: string): Promise<readonly string[]> {
  const result = await load(content, path);
  return (result.ok ? result.value.diagnostics : result.error).map(formatDiagnostic);
}

async function definition(content: string, path?: string) {
  const result = await load(content, path);
  if (!result.ok) throw new Error(result.error.map(formatDiagnostic).join('\n'));
  return result.value.definition;
}

const withKeys = (...lines: readonly string[]): string => ['---', ...lines, '---', 'Do it.', ''].join('\n');

describe('a good agent file', () => {
  it('becomes a definition', async () => {
    const agent = await definition(
      withKeys(
        'name: reviewer',
        'description: "Reviews: all of it"',
        'model: anthropic/claude-x',
        'models: [openai/gpt-x, anthropic/claude-x]',
        'tools: [read, mcp:github/list]',
        'permissions: { shell: deny }',
        'handoff: writer',
        'advisors: risk',
        'llmTimeout: 90s',
        'budget: { usd: 0.5, wall: 1.5h }',
      ),
    );
    expect(agent).toEqual({
      name: 'reviewer',
      description: 'Reviews: all of it',
      models: ['anthropic/claude-x', 'openai/gpt-x'],
      tools: ['read', 'mcp:github/list'],
      permissions: { shell: 'deny' },
      handoff: { to: 'writer', include: 'report' },
      advisors: ['risk'],
      llmTimeout: 90_000,
      budget: { usd: 0.5, wall: 5_400_000 },
      prompt: 'Do it.',
      source: 'agents/a.md',
    });
  });

  it('may have a byte-order mark, CRLF and a shebang', async () => {
    const agent = await definition('\ufeff#!/usr/bin/env troupe\r\n---\r\nname: x\r\n---\r\nOne.\r\nTwo.\r\n');
    expect(agent).toMatchObject({ name: 'x', prompt: 'One.\nTwo.' });
  });

  it('may say nothing but its prompt', async () => {
    expect(await definition('---\n---\nHello')).toEqual({ name: 'a', models: [], prompt: 'Hello', source: 'agents/a.md' });
    expect(await definition('---\n# all defaults\n---\nHello')).toMatchObject({ name: 'a' });
  });

  it('is named after its file, with spaces and any script, in one Unicode form', async () => {
    expect((await definition('---\n---\nx', 'agents/Zoe\u0308 the Größte 審査.md')).name).toBe('Zoë the Größte 審査');
    expect((await definition(withKeys('handoff: Zoe\u0308'))).handoff?.to).toBe('Zoë');
  });

  it('keeps `---` further down in the prompt', async () => {
    expect((await definition('---\nname: a\n---\nabove\n---\nbelow')).prompt).toBe('above\n---\nbelow');
  });

  it('may use a few aliases', async () => {
    const agent = await definition(withKeys('agents: &both [b, c]', 'advisors: *both'));
    expect(agent.advisors).toEqual(['b', 'c']);
  });

  it('may lead its own team and judge its own group', async () => {
    expect(await problems(withKeys('team: { members: [b], supervisor: a }'))).toEqual([]);
    expect(await problems(withKeys('group: { mode: reflect, workers: [b], evaluator: a }'))).toEqual([]);
  });

  it('may review its own work, but not be any other group without workers', async () => {
    expect(await problems(withKeys('group: { mode: reflect }'))).toEqual([]);
    for (const mode of ['broadcast', 'sequential', 'orchestrator'])
      expect((await problems(withKeys(`group: { mode: ${mode} }`))).join()).toContain(`a group of mode ${mode} needs "workers"`);
  });
});

/** Each row: a file, and exactly what is said about it. */
const BAD: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'no frontmatter',
    'Just text',
    [
      'agents/a.md:1:1: error: the file does not start with a line `---`\n  fix: Start the file with a line `---`, then keys such as `model: …`, then another line `---`, then the prompt.',
    ],
  ],
  [
    'an open frontmatter',
    '#!/bin/x\n---\nname: a\n ---\n',
    ['agents/a.md:2:1: error: the frontmatter has no end\n  fix: Close it with a line that is exactly `---`.'],
  ],
  [
    'a list',
    withKeys('- a'),
    ['agents/a.md:2:1: error: the frontmatter is not a map of keys and values\n  fix: Write one `key: value` per line.'],
  ],
  [
    'a word',
    withKeys('hello'),
    ['agents/a.md:2:1: error: the frontmatter is not a map of keys and values\n  fix: Write one `key: value` per line.'],
  ],
  [
    'several problems at once',
    withKeys('modle: x', 'maxTurns: many', 'reasoning: hihg', 'router: { destinations: [] }', 'chat: "yes"'),
    [
      'agents/a.md:2:1: error: unknown key "modle"\n  fix: Did you mean "model"?',
      'agents/a.md:3:11: error: "maxTurns" must be a number, not "many"',
      'agents/a.md:4:12: error: "reasoning" must be one of none, minimal, low, medium, high, not "hihg"\n  fix: Did you mean "high"?',
      'agents/a.md:5:25: error: "router.destinations" must have at least 1 entry',
      'agents/a.md:6:7: error: "chat" must be true or false, not "yes"',
    ],
  ],
  [
    'broken YAML, and a missing include below it',
    `---\ndescription: Use: this\ntools:\n\t- x\n---\nSee \${include:none.md}.`,
    [
      'agents/a.md:2:14: error: a second `: ` in one line\n  fix: Put quotes around text that contains `: `.',
      'agents/a.md:4:1: error: a tab is used to indent\n  fix: Indent with spaces.',
      'agents/a.md:6:5: error: the include "none.md" does not exist',
    ],
  ],
  ['a key twice', withKeys('name: a', 'name: b'), ['agents/a.md:3:1: error: this key is given twice\n  fix: Keep one of them.']],
  [
    'a tag',
    withKeys('name: !!js/function x'),
    [
      'agents/a.md:2:7: error: tags such as `!name` are not allowed\n  fix: Remove the tag; put quotes around text that starts with `!`.',
    ],
  ],
  ['an alias without anchor', withKeys('name: *other'), ['agents/a.md:2:7: error: the alias *other has no anchor before it']],
  [
    'an alias inside itself',
    withKeys('input: &x { schema: { properties: *x } }'),
    ['agents/a.md:2:35: error: the alias *x stands inside what it names\n  fix: Write the value out.'],
  ],
  [
    'a key without a value',
    withKeys('model:', 'handoff: ~'),
    [
      'agents/a.md:2:1: error: "model" has no value\n  fix: Give it a value or remove the line.',
      'agents/a.md:3:1: error: "handoff" has no value\n  fix: Give it a value or remove the line.',
    ],
  ],
  [
    'a missing key deeper down',
    withKeys('group:', '  workers: [b]'),
    ['agents/a.md:2:1: error: "group" needs the key "mode"\n  fix: Add `mode: …` to it.'],
  ],
  [
    'an unknown key deeper down',
    withKeys('team:', '  members: [b]', '  superviser: c'),
    ['agents/a.md:4:3: error: unknown key "superviser" in "team"\n  fix: Did you mean "supervisor"?'],
  ],
  [
    'a mistake in one of several forms',
    withKeys('group:', '  mode: broadcast', '  workers:', '    - b', '    - { agent: c, modle: x }'),
    ['agents/a.md:6:19: error: unknown key "modle" in "group.workers[2]"\n  fix: Did you mean "model"?'],
  ],
  [
    'none of several forms',
    withKeys('handoff: [b]'),
    ['agents/a.md:2:10: error: "handoff" must be text or a map of keys, not a list'],
  ],
  [
    'text in place of a list',
    withKeys('tools: read, edit'),
    ['agents/a.md:2:8: error: "tools" must be a list, not "read, edit"\n  fix: Write [read, edit].'],
  ],
  [
    'a time without a unit',
    withKeys('llmTimeout: soon'),
    ['agents/a.md:2:13: error: "llmTimeout" is not a duration; write 90s, 10m or 1.5h'],
  ],
  [
    'numbers out of range',
    withKeys('maxTurns: 0', 'temperature: 3', 'maxRetries: 1.5', 'budget: { usd: -1 }'),
    [
      'agents/a.md:2:11: error: "maxTurns" must be more than 0',
      'agents/a.md:3:14: error: "temperature" must be at most 2',
      'agents/a.md:4:13: error: "maxRetries" must be a whole number, not 1.5',
      'agents/a.md:5:16: error: "budget.usd" must be at least 0',
    ],
  ],
  [
    'no time at all for what may take some',
    withKeys('llmTimeout: 0', 'toolTimeout: 0s', 'verify: { commands: [make], timeout: 0.4ms }', 'budget: { wall: 0 }'),
    [
      'agents/a.md:2:13: error: "llmTimeout" must be more than 0',
      'agents/a.md:3:14: error: "toolTimeout" must be more than 0',
      'agents/a.md:4:38: error: "verify.timeout" must be more than 0',
    ],
  ],
  [
    'nor for those who work for others',
    withKeys('group: { mode: broadcast, workers: [b], workerTimeout: 0, collectTimeout: 0 }'),
    [
      'agents/a.md:2:56: error: "group.workerTimeout" must be more than 0',
      'agents/a.md:2:75: error: "group.collectTimeout" must be more than 0',
    ],
  ],
  [
    'nor for those who were chosen',
    withKeys('dispatch: { agents: [c], timeout: 0, retryDelay: 0 }'),
    ['agents/a.md:2:35: error: "dispatch.timeout" must be more than 0'],
  ],
  [
    'an MCP server with a bad address',
    withKeys('mcp:', '  web: { url: nowhere }'),
    ['agents/a.md:3:15: error: "mcp.web.url" must be a URL, not "nowhere"'],
  ],
  [
    'two core patterns and a router',
    withKeys('team: { members: [b] }', 'dispatch: { agents: [c] }', 'router: { destinations: [d] }'),
    [
      'agents/a.md:3:1: error: "dispatch" cannot stand beside "team": an agent has one core pattern\n  fix: Keep one of team, dispatch; put the other into an agent of its own and name that one.',
      'agents/a.md:4:1: error: "router" cannot stand beside "team"\n  fix: A router is a plain session that chooses. Move the destinations to an agent that this one hands off to.',
    ],
  ],
  [
    'an agent that names itself',
    withKeys('handoff: a', 'advisors: [b, a]'),
    [
      'agents/a.md:2:10: error: the agent names itself as handoff: it would run for ever\n  fix: Name another agent, or remove it.',
      'agents/a.md:3:15: error: the agent names itself as advisor: it would run for ever\n  fix: Name another agent, or remove it.',
    ],
  ],
  [
    'names listed twice',
    withKeys('tools: [read, read]', 'agents:', '  - b', '  - b'),
    [
      'agents/a.md:2:15: error: "read" is listed twice in "tools"\n  fix: Keep one.',
      'agents/a.md:5:5: error: "b" is listed twice in "agents"\n  fix: Keep one.',
    ],
  ],
  [
    'implausible JSON Schemas',
    withKeys(
      'input:',
      '  schema: { type: objekt }',
      'output:',
      '  format: text',
      '  schema: { type: object, properties: [a], required: yes }',
    ),
    [
      'agents/a.md:3:19: error: "objekt" is not a JSON Schema type\n  fix: Did you mean "object"?',
      'agents/a.md:5:11: error: "output.schema" needs the format json, not text\n  fix: Write `format: json`, or remove the schema.',
      'agents/a.md:6:39: error: "properties" must be a map from names to schemas',
      'agents/a.md:6:54: error: "required" must be a list of property names\n  fix: It stands beside "properties".',
    ],
  ],
  [
    'a name with a slash',
    withKeys('name: a/b'),
    ['agents/a.md:2:7: error: the name "a/b" contains a slash\n  fix: Give the agent another `name`.'],
  ],
  [
    'a hidden name',
    withKeys('name: .a'),
    ['agents/a.md:2:7: error: the name ".a" starts with a dot\n  fix: Give the agent another `name`.'],
  ],
  [
    'the name of the person at the keyboard',
    withKeys('name: User'),
    [
      'agents/a.md:2:7: error: the name "User" is what the person at the keyboard is called\n  fix: Give the agent another `name`.',
    ],
  ],
  [
    'a name that would act on the terminal',
    withKeys('name: "a\\e[2J"'),
    ['agents/a.md:2:7: error: the name "a\\u001b[2J" contains a control character\n  fix: Give the agent another `name`.'],
  ],
  [
    'no prompt',
    '---\nname: a\n---\n\n',
    ['agents/a.md:2:1: warning: the prompt is empty\n  fix: Write below the second `---` what the agent is to do.'],
  ],
  [
    'an unknown variable',
    `---\n---\nToday is \${DTAE}; in shell, \${x.y()} and $\${DATE} are fine.`,
    [
      `agents/a.md:3:10: warning: unknown variable "DTAE" is left as it is\n  fix: Did you mean "DATE"? To keep it as text, write $\${DTAE}.`,
    ],
  ],
];

describe('a bad agent file', () => {
  it.each(BAD)('%s', async (_title, content, expected) => {
    expect(await problems(content)).toEqual(expected);
  });

  it('has the same positions with CRLF and a byte-order mark', async () => {
    const content = withKeys('name: a', 'tools: [read, read]');
    const expected = ['agents/a.md:3:15: error: "read" is listed twice in "tools"\n  fix: Keep one.'];
    expect(await problems(content)).toEqual(expected);
    expect(await problems(`\ufeff${content.replaceAll('\n', '\r\n')}`)).toEqual(expected);
  });
});

describe('a hostile agent file', () => {
  const first = async (content: string | Uint8Array): Promise<string | undefined> => (await problems(content))[0];

  it('is refused when it is huge', async () => {
    expect(await first(withKeys('name: a') + 'x'.repeat(limits.agentFileBytes))).toContain('limit agentFileBytes');
    expect(await first(withKeys(`description: ${'x'.repeat(limits.frontmatterBytes)}`))).toContain('limit frontmatterBytes');
  });

  it('is refused when it is binary', async () => {
    expect(await first('---\n---\na\0b')).toContain('the file is a binary file');
    expect(await first(Uint8Array.of(0x2d, 0x2d, 0xff, 0xfe))).toContain('the file is not valid UTF-8');
  });

  it.each([
    ['brackets', `a: ${'['.repeat(60_000)}`],
    ['braces', '{a: '.repeat(15_000)],
    ['dashes', '- '.repeat(30_000)],
    ['keys', '? '.repeat(30_000)],
  ])('cannot overflow the stack with %s', async (_title, yaml) => {
    expect(await first(withKeys(yaml))).toContain('limit frontmatterDepth');
  });

  it('cannot grow by aliases', async () => {
    const levels = Array.from({ length: 30 }, (_, index) => `x${index + 1}: &x${index + 1} [*x${index}, *x${index}]`);
    expect(await first(withKeys('x0: &x0 [lol]', ...levels))).toContain('Excessive alias count');
    expect(await first(withKeys('a: &a 1', `b: [${'*a, '.repeat(200)}]`))).toContain('limit frontmatterAliases');
  });

  it('is cut off when everything in it is wrong', async () => {
    const all = await problems(withKeys(...Array.from({ length: 500 }, (_, index) => `wrong${index}: 1`)));
    expect(all).toHaveLength(limits.diagnosticsPerFile + 1);
    expect(all.at(-1)).toContain('and 400 more problems');
  });
});

describe('a file that is not there to be read', () => {
  it('does not make anybody wait', async () => {
    await using project = await temporaryProject({ 'agents/x.md': '' });
    const path = join(project.root, 'agents/pipe.md');
    await promisify(execFile)('mkfifo', [path]);
    const result = await loadAgent({ path, root: project.root });
    expect(result.ok ? [] : result.error.map(formatDiagnostic)).toEqual([
      'agents/pipe.md:1:1: error: the file is not a regular file',
    ]);
  });

  it('is reported', async () => {
    await using project = await temporaryProject({ 'secret.md': '---\n---\nkey', 'inside/.env.md': '---\n---\nKEY=1' });
    const root = join(project.root, 'inside');
    await mkdir(join(root, 'agents', 'folder.md'), { recursive: true });
    await symlink(join(project.root, 'secret.md'), join(root, 'agents', 'link.md'));
    await symlink(join(root, '.env.md'), join(root, 'agents', 'keys.md'));
    await symlink('round.md', join(root, 'agents', 'round.md'));
    const message = async (path: string): Promise<string> => {
      const result = await loadAgent({ path: join(root, path), root });
      return result.ok ? 'loaded' : result.error.map(formatDiagnostic).join('\n');
    };
    expect(await message('agents/none.md')).toBe('agents/none.md:1:1: error: the file does not exist');
    expect(await message('agents/folder.md')).toBe('agents/folder.md:1:1: error: the file is not a regular file');
    expect(await message('agents/link.md')).toContain('agents/link.md:1:1: error: the file is outside the project folder');
    expect(await message('agents/keys.md')).toContain('may hold secrets and is never read');
    expect(await message('agents/round.md')).toContain('is a symbolic link that leads to itself');
    if (process.getuid?.() !== 0) {
      const path = await project.write('inside/agents/locked.md', withKeys('name: x'));
      await chmod(path, 0o000);
      expect(await message('agents/locked.md')).toContain('the file may not be read');
    }
  });
});
