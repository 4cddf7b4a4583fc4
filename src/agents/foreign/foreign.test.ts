import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { loadAgent, type Origin } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';

async function read(origin: Origin, ...keys: readonly string[]) {
  await using project = await temporaryProject();
  const path = await project.write('f/a.md', ['---', ...keys, '---', 'Do it.'].join('\n'));
  const result = await loadAgent({ path, root: project.root, origin });
  if (!result.ok) throw new Error(result.error.map(formatDiagnostic).join('\n'));
  return { ...result.value, said: result.value.diagnostics.map((one) => formatDiagnostic(one).split('\n').join(' |')) };
}

const ALL = ['read', 'write', 'edit', 'list', 'search', 'shell', 'fetch', 'plan', 'ask'];

describe('an agent of Claude Code', () => {
  it('has every tool when it names none, and asks', async () => {
    const { definition, said } = await read('claude', 'name: x', 'description: d', 'color: red');
    expect(said).toEqual([]);
    expect(definition).toMatchObject({ name: 'x', models: [], tools: ALL });
    expect(definition.permissions).toEqual({ write: 'ask', edit: 'ask', shell: 'ask', fetch: 'ask' });
  });

  it.each([
    ['Read, Write, Edit', ['read', 'write', 'edit']],
    ['[Glob, LS, Grep, TodoWrite]', ['list', 'search', 'plan']],
    ['"*"', ALL],
    ['mcp__gh, mcp__gh__*, mcp__gh__list_issues', ['mcp:gh', 'mcp:gh/list_issues']],
    ['[]', []],
  ])('maps the tools %s', async (tools, expected) => {
    expect((await read('claude', `tools: ${tools}`)).definition.tools).toEqual(expected);
  });

  it('loses what it disallows', async () => {
    const { definition } = await read('claude', 'disallowedTools: Bash, Write, Edit, WebFetch');
    expect(definition.tools).toEqual(['read', 'list', 'search', 'plan', 'ask']);
    expect(definition.permissions).toEqual({});
  });

  it.each([
    ['sonnet', ['anthropic/claude-sonnet-5']],
    ['inherit', []],
    ['claude-opus-4-1', ['anthropic/claude-opus-4-1']],
    ['openai/gpt-x', ['openai/gpt-x']],
  ])('understands the model %s', async (model, expected) => {
    expect((await read('claude', `model: ${model}`)).definition.models).toEqual(expected);
  });

  it.each([
    ['acceptEdits', { write: 'allow', edit: 'allow', shell: 'ask', fetch: 'ask' }],
    ['plan', { write: 'deny', edit: 'deny', shell: 'deny', fetch: 'ask' }],
    ['dontAsk', { write: 'deny', edit: 'deny', shell: 'deny', fetch: 'deny' }],
    ['bypassPermissions', { write: 'ask', edit: 'ask', shell: 'ask', fetch: 'ask' }],
  ])('understands the permission mode %s', async (mode, expected) => {
    expect((await read('claude', `permissionMode: ${mode}`)).definition.permissions).toEqual(expected);
  });

  it.each([
    ['tools: Bash(git diff:*)', ['shell'], { shell: { 'git diff *': 'allow', '*': 'ask' } }],
    [
      'tools: "Bash(npm run build), Bash(git log *), Read"',
      ['shell', 'read'],
      { shell: { 'npm run build': 'allow', 'git log *': 'allow', '*': 'ask' } },
    ],
    ['tools: Edit(src/**)', ['edit'], { edit: { 'src/**': 'allow', '*': 'ask' } }],
    ['tools: WebFetch(domain:example.org)', ['fetch'], { fetch: { 'example.org': 'allow', '*': 'ask' } }],
    ['tools: Read(./src/**)', ['read'], { read: { 'src/**': 'allow', '*': 'allow' } }],
    [
      'tools: Bash, Read\ndisallowedTools: Bash(rm:*), Read(.env)',
      ['shell', 'read'],
      { shell: { 'rm *': 'deny', '*': 'ask' }, read: { '**/.env': 'deny', '*': 'allow' } },
    ],
    // Every deny goes before every allow there.
    ['tools: Bash(git push:*)\ndisallowedTools: Bash(git:*)', ['shell'], { shell: { 'git *': 'deny', '*': 'ask' } }],
    ['tools: Bash(git diff:*)\npermissionMode: plan', ['shell'], { shell: 'deny' }],
  ])('reads the rules of %s', async (keys, tools, permissions) => {
    const { definition, said } = await read('claude', ...keys.split('\n'));
    expect(said).toEqual([]);
    expect(definition.tools).toEqual(tools);
    expect(definition.permissions).toEqual(permissions);
  });

  it('asks where a rule cannot be kept', async () => {
    const { definition, said } = await read('claude', 'tools: "Bash(a | b)"');
    expect(said).toEqual(['f/a.md:2:8: warning: the rule of "Bash(a | b)" is not kept; the tool asks first instead']);
    expect(definition.permissions).toEqual({ shell: 'ask' });
  });

  it('keeps to the rules of .claude/settings.json', async () => {
    await using project = await temporaryProject();
    await project.write(
      '.claude/settings.json',
      JSON.stringify({
        permissions: {
          allow: ['Bash(npm test)', 'Bash(git:*)', 'mcp__gh__list', 'Skill(x)', 'WebFetch', 'mcp__other__x'],
          ask: ['Bash(git push:*)'],
          deny: ['Bash(rm:*)', 'Read(secrets/**)', 'Edit(~/x)', 'mcp__gh__delete'],
        },
      }),
    );
    const path = await project.write('.claude/agents/a.md', '---\nname: a\ntools: Bash, Read, Edit, WebFetch, mcp__gh\n---\nx');
    const loaded = await loadAgent({ path, root: project.root, origin: 'claude' });
    expect(loaded.ok && loaded.value.definition.permissions).toEqual({
      shell: { 'npm test': 'allow', 'git *': 'allow', 'git push *': 'ask', 'rm *': 'deny', '*': 'ask' },
      read: { 'secrets/**': 'deny', '*': 'allow' },
      edit: 'ask',
      fetch: 'allow',
      'mcp:gh/list': 'allow',
      'mcp:gh/delete': 'deny',
    });
  });

  it('is warned about, never refused', async () => {
    const { said } = await read(
      'claude',
      'tools: Raed',
      'model: sonet',
      'hooks: { Stop: [] }',
      'descripton: x',
      'maxTurns: many',
      'permissionMode: bypassPermissions',
      `description: ${'x'.repeat(5_000)}`,
    );
    expect(said).toEqual([
      'f/a.md:2:8: warning: the tool "Raed" has no counterpart here and is left out |  fix: Did you mean "Read"?',
      'f/a.md:3:8: warning: unknown model "sonet"; the project\'s default is used |  fix: Did you mean "sonnet"?',
      'f/a.md:4:1: warning: "hooks" of Claude Code is not supported and is ignored',
      'f/a.md:5:1: warning: unknown key "descripton" is ignored |  fix: Did you mean "description"?',
      'f/a.md:6:11: warning: "maxTurns" is ignored: it must be a whole number above 0',
      'f/a.md:7:17: warning: a file may not switch permissions off; its tools ask first',
      'f/a.md:8:14: warning: the description is cut to 4000 characters',
    ]);
  });

  it('is read line by line when it is not YAML', async () => {
    const { definition, said } = await read(
      'claude',
      'name: "quoted"',
      'description: One: two. "Three": four',
      '  and more: of it',
      'tools:',
      '  - Read',
      '  - Grep',
      'maxTurns: 7',
    );
    expect(said).toHaveLength(1);
    expect(definition).toMatchObject({
      name: 'quoted',
      description: 'One: two. "Three": four\nand more: of it',
      tools: ['read', 'search'],
      maxTurns: 7,
    });
  });
});

describe('an agent of opencode', () => {
  it('understands its keys', async () => {
    const { definition, said } = await read(
      'opencode',
      'mode: primary',
      'temperature: 0.3',
      'top_p: 0.9',
      'maxSteps: 5',
      'tools: { "*": false, read: true, grep: true, bash: true, task: false }',
      'permission: { bash: { "*": ask, "git *": allow } }',
    );
    expect(said).toEqual([]);
    expect(definition).toMatchObject({
      temperature: 0.3,
      topP: 0.9,
      maxTurns: 5,
      tools: ['read', 'search', 'shell'],
      permissions: { shell: { '*': 'ask', 'git *': 'allow' } },
    });
  });

  it.each([
    ['bash: { "*": ask, "git *": allow, "git push*": deny }', { shell: { '*': 'ask', 'git *': 'allow', 'git push*': 'deny' } }],
    // The last that fits decides there.
    ['bash: { "git *": allow, "*": ask }', { shell: { '*': 'ask' } }],
    // What ours cannot say asks.
    ['bash: { "a | b": allow }', { shell: 'ask' }],
    ['bash: { "a | b": deny }', { shell: 'deny' }],
    ['bash: { "a | b": deny, "*": allow }', { shell: 'ask' }],
    ['edit: { "*": deny, "docs/*": allow, "*.env": deny }', { edit: { '*': 'deny', 'docs/**': 'allow', '**/*.env': 'deny' } }],
    ['webfetch: deny', { fetch: 'deny' }],
  ])('reads the rules %s', async (rules, expected) => {
    const { definition, said } = await read('opencode', `permission: { ${rules} }`);
    expect(said).toEqual([]);
    expect(definition.permissions).toMatchObject(expected);
    if (rules.startsWith('edit')) expect(definition.permissions?.['write']).toEqual(definition.permissions?.['edit']);
  });

  it('can deny everything with one word', async () => {
    const { definition } = await read('opencode', 'permission: deny');
    expect(new Set(Object.values(definition.permissions ?? {}))).toEqual(new Set(['deny']));
  });

  it('may be switched off', async () => {
    expect((await read('opencode', 'disable: true')).disabled).toBe(true);
  });

  it('is warned about, never refused', async () => {
    const { said } = await read(
      'opencode',
      'tools: { baesh: true, edit: 1 }',
      'permission: { bash: perhaps }',
      'temperature: hot',
      'variant: x',
    );
    expect(said).toEqual([
      'f/a.md:2:10: warning: the tool "baesh" has no counterpart here and is left out |  fix: Did you mean "bash"?',
      'f/a.md:2:29: warning: "edit" is ignored: it must be true or false',
      'f/a.md:3:21: warning: "bash" is ignored: it must be ask, allow or deny',
      'f/a.md:4:14: warning: "temperature" is ignored: it must be a number from 0 to 2',
      'f/a.md:5:1: warning: "variant" of opencode is not supported and is ignored',
    ]);
  });
});
