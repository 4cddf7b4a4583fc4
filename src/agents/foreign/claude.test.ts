import { describe, expect, it } from 'vitest';
import { readForeign } from '../../../test/fixtures/agents/read-foreign.ts';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { loadAgent } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';

const ALL = ['read', 'write', 'edit', 'list', 'search', 'shell', 'fetch', 'plan', 'ask'];

describe('an agent of Claude Code', () => {
  it('has every tool when it names none, and asks', async () => {
    const { definition, said } = await readForeign('claude', 'name: x', 'description: d', 'color: red');
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
    expect((await readForeign('claude', `tools: ${tools}`)).definition.tools).toEqual(expected);
  });

  it('loses what it disallows', async () => {
    const { definition } = await readForeign('claude', 'disallowedTools: Bash, Write, Edit, WebFetch');
    expect(definition.tools).toEqual(['read', 'list', 'search', 'plan', 'ask']);
    expect(definition.permissions).toEqual({});
  });

  it.each([
    ['sonnet', ['anthropic/claude-sonnet-5']],
    ['inherit', []],
    ['claude-opus-4-1', ['anthropic/claude-opus-4-1']],
    ['openai/gpt-x', ['openai/gpt-x']],
  ])('understands the model %s', async (model, expected) => {
    expect((await readForeign('claude', `model: ${model}`)).definition.models).toEqual(expected);
  });

  it.each([
    ['acceptEdits', { write: 'allow', edit: 'allow', shell: 'ask', fetch: 'ask' }],
    ['plan', { write: 'deny', edit: 'deny', shell: 'deny', fetch: 'ask' }],
    ['dontAsk', { write: 'deny', edit: 'deny', shell: 'deny', fetch: 'deny' }],
    ['bypassPermissions', { write: 'ask', edit: 'ask', shell: 'ask', fetch: 'ask' }],
  ])('understands the permission mode %s', async (mode, expected) => {
    expect((await readForeign('claude', `permissionMode: ${mode}`)).definition.permissions).toEqual(expected);
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
      { shell: { 'rm *': 'deny', '*': 'ask' }, read: { '**/.env/**': 'deny', '*': 'allow' } },
    ],
    // Every deny goes before every allow there.
    ['tools: Bash(git push:*)\ndisallowedTools: Bash(git:*)', ['shell'], { shell: { 'git *': 'deny', '*': 'ask' } }],
    ['tools: Bash(git diff:*)\npermissionMode: plan', ['shell'], { shell: 'deny' }],
    // As in a .gitignore: a name is meant wherever it is, and a folder with all that is in it.
    ['tools: Read\ndisallowedTools: Read(secrets)', ['read'], { read: { '**/secrets/**': 'deny', '*': 'allow' } }],
    ['tools: Read\ndisallowedTools: Read(secrets/)', ['read'], { read: { '**/secrets/**': 'deny', '*': 'allow' } }],
    ['tools: Read\ndisallowedTools: Read(/tok/)', ['read'], { read: { 'tok/**': 'deny', '*': 'allow' } }],
    ['tools: Read\ndisallowedTools: Read(a/b)', ['read'], { read: { 'a/b/**': 'deny', '*': 'allow' } }],
    ['tools: Read\ndisallowedTools: Read(a/*)', ['read'], { read: { 'a/*/**': 'deny', '*': 'allow' } }],
    ['tools: Read\ndisallowedTools: Read(a/**)', ['read'], { read: { 'a/**': 'deny', '*': 'allow' } }],
    ['tools: Edit(docs/)', ['edit'], { edit: { 'docs/*/**': 'allow', '*': 'ask' } }],
    ['tools: Write\ndisallowedTools: Write(docs)', ['write'], { write: { '**/docs/**': 'deny', '*': 'ask' } }],
    // Commands that show files may show one that is held back.
    [
      'tools: Bash(cat:*), Bash(ls:*), Read\ndisallowedTools: Read(.env)',
      ['shell', 'read'],
      { shell: { 'ls *': 'allow', 'cat *': 'ask', '*': 'ask' }, read: { '**/.env/**': 'deny', '*': 'allow' } },
    ],
    [
      'tools: Bash(cat src/*), Edit\ndisallowedTools: Edit(.env)',
      ['shell', 'edit'],
      { shell: { 'cat *': 'ask', '*': 'ask' }, edit: { '**/.env/**': 'deny', '*': 'ask' } },
    ],
    // Of a server, and of one of its tools.
    ['tools: mcp__gh\ndisallowedTools: mcp__gh__delete', ['mcp:gh'], { 'mcp:gh/delete': 'deny' }],
    ['tools: mcp__gh__a, Read\ndisallowedTools: mcp__gh', ['read'], {}],
    ['tools: mcp__gh__a, Read\ndisallowedTools: mcp__*', ['read'], {}],
  ])('reads the rules of %s', async (keys, tools, permissions) => {
    const { definition, said } = await readForeign('claude', ...keys.split('\n'));
    expect(said).toEqual([]);
    expect(definition.tools).toEqual(tools);
    expect(definition.permissions).toEqual(permissions);
  });

  it('asks where a rule cannot be kept', async () => {
    const { definition, said } = await readForeign('claude', 'tools: "Bash(a | b)"');
    expect(said).toEqual(['f/a.md:2:8: warning: the rule of "Bash(a | b)" is not kept; the tool asks first instead']);
    expect(definition.permissions).toEqual({ shell: 'ask' });
    const every = await readForeign('claude', 'tools: Edit, Write', 'permissionMode: acceptEdits', 'disallowedTools: Edit(~/x)');
    expect(every.definition.permissions).toEqual({ edit: 'ask', write: 'ask' });
  });

  it.each([
    ['disallowedTools: Read(secrets/**, Bash(rm:*)', '"disallowedTools" has a bracket that is not closed; every tool asks first'],
    ['disallowedTools: [Read(secrets/**]', 'the rule of "Read(secrets/**" is not kept; the tool asks first instead'],
    ['disallowedTools: { deny: [Read] }', '"disallowedTools" must be a list of tools; every tool asks first'],
    ['disallowedTools: [{ Read: x }]', 'the name of a tool must be a text; every tool asks first'],
    ['disallowedTools: Raed', 'the tool "Raed" is unknown, so nothing is banned by it; read asks first'],
    ['disalowedTools: Read', 'unknown key "disalowedTools" is ignored; every tool asks first'],
  ])('asks where a ban is not understood: %s', async (key, warning) => {
    const { definition, said } = await readForeign('claude', 'tools: Read', key);
    expect(said.join('\n')).toContain(warning);
    expect(definition.permissions).toEqual({ read: 'ask' });
  });

  it('has brackets in names of folders', async () => {
    const { definition, said } = await readForeign(
      'claude',
      'tools: Read, Edit',
      'disallowedTools: Read(app/(group)/**), Edit(x)',
    );
    expect(said).toEqual([]);
    expect(definition.permissions).toEqual({
      read: { 'app/(group)/**': 'deny', '*': 'allow' },
      edit: { '**/x/**': 'deny', '*': 'ask' },
    });
  });

  async function withSettings(tools: string, files: Readonly<Record<string, string>>) {
    await using project = await temporaryProject();
    for (const [name, text] of Object.entries(files)) await project.write(name, text);
    const path = await project.write('.claude/agents/a.md', `---\nname: a\ntools: ${tools}\n---\nx`);
    const loaded = await loadAgent({ path, root: project.root, origin: 'claude' });
    if (!loaded.ok) throw new Error(loaded.error.map(formatDiagnostic).join('\n'));
    return { permissions: loaded.value.definition.permissions, said: loaded.value.diagnostics.map(formatDiagnostic) };
  }
  const listed = (permissions: object): string => JSON.stringify({ permissions });

  it('keeps to both settings files, every deny before every ask before every allow', async () => {
    const { permissions, said } = await withSettings('Read, Bash, WebFetch, mcp__gh, mcp__x', {
      '.claude/settings.json': listed({
        allow: ['Bash(ls *)', 'mcp__gh__list', 'WebFetch'],
        ask: ['Read(secrets/a)', 'WebFetch(domain:a.org)', 'Bash(git push *)'],
      }),
      '.claude/settings.local.json': listed({
        allow: ['Bash(pwd)'],
        deny: ['Read(idx.txt)', 'Bash(ls:*)', 'Read(/secrets)', 'mcp__g*', 'WebFetch(domain:*.b.org)', 'Bash(git *)'],
      }),
    });
    expect(said).toEqual([]);
    expect(permissions).toEqual({
      read: { '**/idx.txt/**': 'deny', 'secrets/**': 'deny', '*': 'allow' },
      shell: { pwd: 'allow', 'ls *': 'deny', 'git *': 'deny', '*': 'ask' },
      fetch: { 'a.org': 'ask', '*.b.org': 'deny', '*': 'allow' },
      'mcp:gh': 'deny',
    });
  });

  it('is held back wherever a rule reaches there, and is given nothing by a star', async () => {
    const held = await withSettings('Read, Grep, Edit, Write', {
      '.claude/settings.json': listed({ deny: ['Read(.env)', 'Write(docs)'] }),
    });
    expect(held.permissions).toEqual({
      ...Object.fromEntries(['read', 'search'].map((tool) => [tool, { '**/.env/**': 'deny', '*': 'allow' }])),
      ...Object.fromEntries(['edit', 'write'].map((tool) => [tool, { '**/docs/**': 'deny', '*': 'ask' }])),
    });
    const allow = ['*', 'Ba*', 'Wr*', 'mcp__g*'];
    const star = await withSettings('Bash, Write, mcp__gh', { '.claude/settings.json': listed({ allow }) });
    expect(star.permissions).toEqual({ shell: 'ask', write: 'ask' });
  });

  it('asks with a warning where settings cannot be kept or read', async () => {
    const unsaid = await withSettings('Read, Edit', { '.claude/settings.json': listed({ deny: ['Read(//etc)', 'Edit(!x)'] }) });
    expect(unsaid.permissions).toEqual({ read: 'ask', edit: 'ask' });
    expect(unsaid.said).toEqual([
      '.claude/settings.json:1:25: warning: the rule of "Read(//etc)" is not kept; the tool asks first instead',
      '.claude/settings.json:1:39: warning: the rule of "Edit(!x)" is not kept; the tool asks first instead',
    ]);
    const broken = await withSettings('Read, mcp__gh', { '.claude/settings.local.json': '{ "permissions": { "deny": [' });
    expect(broken.permissions).toEqual({ read: 'ask', 'mcp:gh': 'ask' });
    expect(broken.said).toHaveLength(1);
    expect(broken.said[0]).toMatch(
      /^\.claude\/settings\.local\.json:1:\d+: warning: .*; every tool of the agents beside it asks first$/,
    );
    const word = await withSettings('Read', { '.claude/settings.json': listed({ deny: 'Read(x)' }) });
    expect(word.permissions).toEqual({ read: 'ask' });
    for (const [deny, expected] of [
      ['"deny": ["Read(secrets/**"]', 'ask'],
      ['"Deny": ["Read(x)"]', 'ask'],
      ['"deny": ["Raed(x)"]', 'ask'],
      ['"deny": [{}]', 'ask'],
      ['"deny": ["Read (x/**)"]', { 'x/**': 'deny', '*': 'allow' }],
      ['/* ours */ "deny": ["Read(x/**)",]', { 'x/**': 'deny', '*': 'allow' }],
    ] as const) {
      const found = await withSettings('Read', { '.claude/settings.json': `{ "permissions": { ${deny} } }` });
      expect([deny, found.permissions]).toEqual([deny, { read: expected }]);
      expect(found.said).toHaveLength(expected === 'ask' ? 1 : 0);
    }
    const star = await withSettings('Read, Bash, mcp__gh', { '.claude/settings.json': listed({ deny: ['*'] }) });
    expect(star.permissions).toEqual({ read: 'deny', shell: 'deny', 'mcp:gh': 'deny' });
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
    const { said } = await readForeign(
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
    const { definition, said } = await readForeign(
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
