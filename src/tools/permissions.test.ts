import { describe, expect, it } from 'vitest';
import type { Permission } from '../permissions/rule-map.ts';
import { decide, decideShown, isRemembered, type Permissions } from './permissions.ts';

const builtIn = (name: string, replay: 'safe' | 'never' = 'safe') => ({ name, replay });
const remote = (replay: 'safe' | 'never', readOnly = false) => ({
  name: 'git__push',
  replay,
  readOnly,
  origin: { server: 'git', tool: 'push' },
});

describe('decide: what a tool may do without asking', () => {
  const table: readonly [string, Parameters<typeof decide>[0], Permissions, Permissions, Permission][] = [
    ['read is allowed', builtIn('read'), {}, {}, 'allow'],
    ['write is allowed inside the workspace', builtIn('write', 'never'), {}, {}, 'allow'],
    ['fetch is allowed', builtIn('fetch'), {}, {}, 'allow'],
    ['shell asks', builtIn('shell', 'never'), {}, {}, 'ask'],
    ['an MCP tool that reads is allowed', remote('safe', true), {}, {}, 'allow'],
    ['an MCP tool that may be repeated but changes things asks', remote('safe'), {}, {}, 'ask'],
    ['an MCP tool that changes things asks', remote('never'), {}, {}, 'ask'],
    ['a server cannot borrow the name of a built-in', { ...remote('never'), name: 'read' }, {}, {}, 'ask'],
    ['the agent decides', builtIn('shell', 'never'), { shell: 'allow' }, {}, 'allow'],
    ['the project decides', builtIn('shell', 'never'), {}, { shell: 'allow' }, 'allow'],
    ['the stricter wins, agent', builtIn('shell', 'never'), { shell: 'deny' }, { shell: 'allow' }, 'deny'],
    ['the stricter wins, project', builtIn('shell', 'never'), { shell: 'allow' }, { shell: 'ask' }, 'ask'],
    ['a star covers everything', builtIn('read'), { '*': 'deny' }, {}, 'deny'],
    ['an exact name goes before the star', builtIn('read'), { '*': 'deny', read: 'allow' }, {}, 'allow'],
    ['a star of the project holds against an exact name of the agent', builtIn('read'), { read: 'allow' }, { '*': 'ask' }, 'ask'],
    ['a server by name', remote('never'), { 'mcp:git': 'allow' }, {}, 'allow'],
    ['a server by star', remote('never'), { 'mcp:git/*': 'deny', 'mcp:git': 'allow' }, {}, 'deny'],
    ['one tool of a server', remote('never'), { 'mcp:git/*': 'deny', 'mcp:git/push': 'allow' }, {}, 'allow'],
    ['the name that models see', remote('never'), { git__push: 'allow', 'mcp:git': 'deny' }, {}, 'allow'],
    ['names from the prototype do not count', builtIn('toString'), {}, {}, 'allow'],
  ];
  it.each(table)('%s', (_title, tool, agent, project, expected) => {
    expect(decide(tool, agent, [project])).toBe(expected);
  });

  it('of several owners the stricter wins, whoever comes first', () => {
    const shell = builtIn('shell', 'never');
    expect(decide(shell, { shell: 'allow' }, [{ shell: 'allow' }, { '*': 'deny' }])).toBe('deny');
    expect(decide(shell, {}, [{ shell: 'deny' }, { shell: 'allow' }])).toBe('deny');
    const lines = { shell: { 'git *': 'allow' } } as const;
    expect(decide(shell, {}, [lines, { shell: { 'git push*': 'deny', '*': 'allow' } }], { input: { command: 'git push' } })).toBe(
      'deny',
    );
    expect(decide(shell, {}, [lines, {}], { input: { command: 'git diff' } })).toBe('allow');
  });
});

describe('rules for a fetch', () => {
  const rules = { fetch: { '*.example.org': 'allow', 'bad.example.org': 'deny', '*': 'ask' } } as const;

  it.each([
    ['https://docs.example.org/page', 'allow'],
    ['https://bad.example.org/', 'deny'],
    ['https://example.com/?docs.example.org', 'ask'],
    ['no address', 'ask'],
  ])('of %s: %s', (url, expected) => {
    expect(decide(builtIn('fetch'), rules, [], { input: { url } })).toBe(expected);
    expect(decide(builtIn('fetch'), {}, [rules], { input: { url } })).toBe(expected);
  });

  it('ask where none of them fits', () => {
    const only = { fetch: { '*.example.org': 'allow' } } as const;
    const of = (url: string) => decide(builtIn('fetch'), only, [], { input: { url } });
    expect([of('https://docs.example.org/'), of('https://example.com/')]).toEqual(['allow', 'ask']);
  });
});

describe('what somebody said "always" to', () => {
  const write = builtIn('write', 'never');
  const call = { input: { path: 'src/a.ts' }, path: 'src/a.ts' };
  const remembered = [{ tool: 'write', pattern: 'src/a.ts' }];

  it('is done where the rules ask, and nowhere where they deny', () => {
    expect(decide(write, { write: 'ask' }, [], call)).toBe('ask');
    expect(decide(write, { write: 'ask' }, [], { ...call, remembered })).toBe('allow');
    expect(decide(write, { write: 'deny' }, [], { ...call, remembered })).toBe('deny');
    expect(decide(write, { write: 'ask' }, [{ write: { 'src/**': 'deny' } }], { ...call, remembered })).toBe('deny');
  });

  it('is for that tool and that file', () => {
    expect(decide(builtIn('edit', 'never'), { edit: 'ask' }, [], { ...call, remembered })).toBe('ask');
    expect(decide(builtIn('edit', 'never'), { edit: 'ask' }, [], { ...call, remembered: [{ tool: 'write' }] })).toBe('ask');
    expect(decide(write, { write: 'ask' }, [], { input: { path: 'src/b.ts' }, path: 'src/b.ts', remembered })).toBe('ask');
  });

  it('opens of what is protected that one file', () => {
    const opened = [{ tool: 'protected:agents', pattern: 'agents/a.md' }];
    expect(isRemembered(opened, 'protected:agents', 'agents/a.md')).toBe(true);
    expect(isRemembered(opened, 'protected:agents', 'agents/b.md')).toBe(false);
    expect(isRemembered(opened, 'protected:agents', undefined)).toBe(false);
    expect(isRemembered(opened, 'protected:settings', 'agents/a.md')).toBe(false);
  });
});

describe('what a result may show', () => {
  const rules = { read: { 'secret/**': 'deny', 'asks/*': 'ask', '*': 'allow' } } as const;

  it.each([
    ['src/a.ts', true, true],
    ['asks/b', false, true],
    ['secret', false, false],
    ['secret/deep/c', false, false],
    ['SECRET/d', false, false],
  ])('of %s: its lines %s, its name %s', (path, lines, name) => {
    expect([decideShown('search', path, [rules]), decideShown('list', path, [{}, rules])]).toEqual([lines, name]);
  });

  it('goes by the rules of the tool itself, too, and by the stricter', () => {
    expect(decideShown('search', 'a', [{ search: { a: 'deny', '*': 'allow' } }])).toBe(false);
    expect(decideShown('list', 'a', [{ list: { a: 'deny', '*': 'allow' } }])).toBe(false);
    expect(decideShown('search', 'secret/x', [{ read: { '*': 'allow' } }, rules])).toBe(false);
  });

  it('goes by the rules for read alone where one file is changed', () => {
    expect(decideShown('edit', 'a', [{ edit: { a: 'ask', '*': 'allow' } }])).toBe(true);
    expect(decideShown('edit', 'asks/b', [rules])).toBe(false);
  });

  it('goes by what was remembered, and not by one word', () => {
    expect(decideShown('search', 'asks/b', [rules], [{ tool: 'read', pattern: 'asks/b' }])).toBe(true);
    expect(decideShown('search', 'secret/b', [rules], [{ tool: 'read', pattern: 'secret/b' }])).toBe(false);
    expect(decideShown('search', 'a', [{ '*': 'ask', read: 'ask' }])).toBe(true);
  });
});
