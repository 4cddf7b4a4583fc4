import { describe, expect, it } from 'vitest';
import { readForeign } from '../../../test/fixtures/agents/read-foreign.ts';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { loadAgent } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';

describe('an agent of opencode', () => {
  it('understands its keys', async () => {
    const { definition, said } = await readForeign(
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
    // A star goes over folders.
    ['read: { "*secret*": deny }', { read: { '*': 'allow', '**/*secret*/**': 'deny' } }],
    ['read: { "src/*.ts": deny }', { read: { '*': 'allow', 'src/**/*.ts': 'deny' } }],
    ['read: { "*/tok/*": ask }', { read: { '*': 'allow', '**/tok/**': 'ask' } }],
    ['read: { "a*b": deny }', { read: { '*': 'allow', 'a*b': 'deny', 'a*/**/*b': 'deny' } }],
    ['edit: { "src/*": allow }', { edit: { '*': 'ask', 'src/**': 'allow' } }],
    // What a name says stays where a later star is laxer, and goes where it is stricter.
    ['bash: deny, "*": allow', { shell: 'deny', read: 'allow' }],
    ['bash: allow, "*": deny', { shell: 'deny', read: 'deny' }],
    ['"*": deny, bash: allow', { shell: 'allow', read: 'deny' }],
    ['"ed*": deny', { edit: 'deny', write: 'deny' }],
    ['webfetch: { a.org: deny, "*.b.org": allow }', { fetch: { 'a.org': 'deny', '*.b.org': 'allow', '*': 'ask' } }],
    ['edit: { "*": deny, "docs/*": allow, "*.env": deny }', { edit: { '*': 'deny', 'docs/**': 'allow', '**/*.env': 'deny' } }],
    ['webfetch: deny', { fetch: 'deny' }],
  ])('reads the rules %s', async (rules, expected) => {
    const { definition, said } = await readForeign('opencode', `permission: { ${rules} }`);
    expect(said).toEqual([]);
    expect(definition.permissions).toMatchObject(expected);
    if (rules.startsWith('edit')) expect(definition.permissions?.['write']).toEqual(definition.permissions?.['edit']);
  });

  it.each([
    ['bash: { "a | b": allow }', { shell: 'ask' }],
    ['bash: { "a | b": deny }', { shell: 'deny' }],
    ['bash: { "a | b": deny, "*": allow }', { shell: 'ask' }],
    ['bash: { "a | b": deny, "rm *": deny, "ls *": allow }', { shell: { '*': 'ask', 'rm *': 'deny', 'ls *': 'ask' } }],
    ['read: { "tok/": deny, "x/*": deny, "*": allow }', { read: 'ask' }],
    ['read: { "*": allow, "a?": deny, "x/*": deny }', { read: { '*': 'ask', 'x/**': 'deny' } }],
    ['grep: { "password*": deny, "*": allow }', { search: 'ask' }],
  ])('asks, with a warning, where ours cannot say %s', async (rules, expected) => {
    const { definition, said } = await readForeign('opencode', `permission: { ${rules} }`);
    expect(said).toEqual([expect.stringMatching(/warning: the rule of ".*" is not kept; the tool asks first instead$/)]);
    expect(definition.permissions).toMatchObject(expected);
  });

  it.each([
    ['permission: { read: Deny }', 'ask'],
    ['permission: 5', 'ask'],
    ['permission: { raed: deny }', 'ask'],
    ['permission: { read: { x: Deny } }', 'ask'],
    ['permissions: { read: deny }', 'ask'],
    ['permision: { read: deny }', 'ask'],
    ['tools: { read: "false" }', 'ask'],
    ['tools: { raed: false }', 'ask'],
    ['tools: [read]', 'ask'],
  ])('asks where a ban is not understood: %s', async (key, expected) => {
    const { definition, said } = await readForeign('opencode', key);
    expect(said).toHaveLength(1);
    if (key.includes('raed'))
      expect(said[0]).toContain('the tool "raed" is unknown, so nothing is banned by it; read asks first');
    expect(definition.permissions?.['read']).toBe(expected);
  });

  it('keeps to opencode.json: what it says of all agents, then of this one, then the file', async () => {
    await using project = await temporaryProject();
    const write = (name: string, value: object) => project.write(name, JSON.stringify(value));
    await write('opencode.json', {
      permission: { read: { '*': 'allow', 'secrets/**': 'deny' }, bash: { '*': 'allow', 'rm *': 'deny' }, webfetch: 'deny' },
      tools: { write: false },
      agent: { a: { permission: { list: 'deny', 'e*': 'deny' } }, b: { permission: 'deny' } },
    });
    const path = await project.write(
      '.opencode/agents/a.md',
      '---\npermission: { bash: { "git *": allow }, webfetch: ask }\n---\nx',
    );
    const load = async () => {
      const loaded = await loadAgent({ path, root: project.root, origin: 'opencode' });
      if (!loaded.ok) throw new Error(loaded.error.map(formatDiagnostic).join('\n'));
      return { ...loaded.value.definition, said: loaded.value.diagnostics.map(formatDiagnostic) };
    };
    const { permissions, tools, said } = await load();
    expect(said).toEqual([]);
    expect(tools).not.toContain('write');
    expect(permissions).toMatchObject({
      read: { '*': 'allow', 'secrets/**': 'deny' },
      shell: { '*': 'allow', 'rm *': 'deny', 'git *': 'allow' },
      fetch: 'ask',
      list: 'deny',
      edit: 'deny',
    });
    await write('.opencode/opencode.json', { permission: { '*': 'deny' } });
    expect((await load()).permissions).toEqual({
      ...Object.fromEntries(['edit', 'list', 'search', 'plan', 'ask'].map((tool) => [tool, 'deny'])),
      read: { '*': 'deny', 'secrets/**': 'deny' },
      shell: { '*': 'deny', 'rm *': 'deny', 'git *': 'allow' },
      fetch: 'ask',
    });
    await project.write('opencode.jsonc', '{ "permission": ');
    const broken = await load();
    expect(broken.said).toEqual([
      expect.stringMatching(/^opencode\.jsonc:1:\d+: warning: .*; every tool of the agents of opencode asks/),
    ]);
    expect(broken.permissions).toMatchObject({ shell: { 'git *': 'ask' } });
  });

  it('can deny everything with one word', async () => {
    const { definition } = await readForeign('opencode', 'permission: deny');
    expect(new Set(Object.values(definition.permissions ?? {}))).toEqual(new Set(['deny']));
  });

  it('may be switched off', async () => {
    expect((await readForeign('opencode', 'disable: true')).disabled).toBe(true);
  });

  it('is warned about, never refused', async () => {
    const { said } = await readForeign(
      'opencode',
      'tools: { baesh: true, edit: 1 }',
      'permission: { bash: perhaps }',
      'temperature: hot',
      'variant: x',
    );
    expect(said).toEqual([
      'f/a.md:2:10: warning: the tool "baesh" has no counterpart here and is left out |  fix: Did you mean "bash"?',
      'f/a.md:2:29: warning: "edit" must be true or false; until then it asks first',
      'f/a.md:3:21: warning: "bash" must be ask, allow or deny; until then it asks first',
      'f/a.md:4:14: warning: "temperature" is ignored: it must be a number from 0 to 2',
      'f/a.md:5:1: warning: "variant" of opencode is not supported and is ignored',
    ]);
  });
});
