/** What `troupe permissions` shows and takes back, and that an answer for the project is one of its rules. */
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { systemClock } from '../../base/clock.ts';
import { openProject } from '../../project/open.ts';
import { createRuleBook } from '../../project/rule-book.ts';
import { permissionsCommand, removeRuleCommand } from './permissions.ts';

const files = {
  'troupe.yaml': 'permissions: { shell: { "npm test": allow, "*": ask }, fetch: deny }\n',
  'agents/a.md': '---\nmodel: test/x\npermissions: { write: { "src/**": allow } }\n---\nx',
};

describe('permissions', () => {
  it('are listed with where they stand, and what was remembered can be taken back', async () => {
    await using project = await temporaryProject(files);
    const env = { HOME: project.root };
    const book = createRuleBook(project.root, env);
    await book.add({ tool: 'shell', pattern: 'npm run lint' });
    await book.add({ tool: 'x__y' });
    const terminal = testTerminal({ env });
    const context = { cwd: project.root, terminal, clock: systemClock, openProject };
    expect(await permissionsCommand(context, { json: true })).toBe(0);
    const { rules } = JSON.parse(terminal.written.out);
    expect(rules).toHaveLength(6);
    expect(rules).toEqual(
      expect.arrayContaining([
        { from: 'settings', tool: 'shell', pattern: 'npm test', permission: 'allow', file: 'troupe.yaml' },
        { from: 'settings', tool: 'shell', pattern: '*', permission: 'ask', file: 'troupe.yaml' },
        { from: 'settings', tool: 'fetch', permission: 'deny', file: 'troupe.yaml' },
        { from: 'agent', agent: 'a', tool: 'write', pattern: 'src/**', permission: 'allow', file: 'agents/a.md' },
        { from: 'remembered', tool: 'shell', pattern: 'npm run lint', permission: 'allow', file: book.folder },
        { from: 'remembered', tool: 'x__y', permission: 'allow', file: book.folder },
      ]),
    );
    const people = testTerminal({ env });
    await permissionsCommand({ ...context, terminal: people }, {});
    // People are told the same files as programs, and of what was remembered the folder.
    for (const { from, tool = '', pattern = '', permission = '', file = '' } of rules as Readonly<Record<string, string>>[]) {
      const where = from === 'remembered' ? '~/.config/troupe/remembered' : file;
      const cells = [tool, pattern, permission, where].filter((cell) => cell !== '');
      expect(people.written.out.replaceAll(/ +/g, ' ')).toContain(`${cells.join(' ')}\n`);
    }
    await expect(removeRuleCommand(context, 'shell', 'npm run', {})).rejects.toThrow('No such rule');
    await expect(removeRuleCommand(context, 'shell', undefined, {})).rejects.toThrow('No such rule');
    await expect(removeRuleCommand(context, undefined, undefined, {})).rejects.toThrow('Which rule?');
    expect(await removeRuleCommand(context, 'shell', 'npm run lint', {})).toBe(0);
    expect(book.rules()).toEqual([{ tool: 'x__y' }]);
    expect(await removeRuleCommand(context, undefined, undefined, { all: true })).toBe(0);
    expect(book.rules()).toEqual([]);
  });

  it('of agents of other tools stand in the file that says so, which may be the settings of the tool', async () => {
    const json = (value: object): string => JSON.stringify(value);
    await using project = await temporaryProject({
      '.claude/agents/r.md': '---\nname: r\ntools: Bash(git diff:*), Read\n---\nx',
      '.claude/settings.json': json({ permissions: { allow: ['Bash(ls)'], deny: ['Read(.env)', 'Bash(git diff:*)'] } }),
      '.claude/settings.local.json': json({ permissions: { deny: ['Read(.env)'] } }),
      '.opencode/agents/build.md': '---\ndescription: d\npermission: { bash: { "git diff": allow } }\n---\nx',
      'opencode.jsonc': json({ permission: { webfetch: 'deny' }, agent: { build: { permission: { bash: { pwd: 'deny' } } } } }),
    });
    const terminal = testTerminal({ env: { HOME: project.root } });
    await permissionsCommand({ cwd: project.root, terminal, clock: systemClock, openProject }, { json: true });
    const rules = JSON.parse(terminal.written.out).rules as Readonly<Record<string, string>>[];
    const told = rules.map(({ agent, tool, pattern = '', permission, file }) =>
      [agent, tool, pattern, permission, file].join(' '),
    );
    expect(told.toSorted()).toEqual([
      'build edit  ask .opencode/agents/build.md',
      'build fetch  deny opencode.jsonc',
      'build shell * ask .opencode/agents/build.md',
      'build shell git diff allow .opencode/agents/build.md',
      'build shell pwd deny opencode.jsonc',
      'build write  ask .opencode/agents/build.md',
      'r read * allow .claude/settings.json, .claude/settings.local.json',
      'r read **/.env/** deny .claude/settings.json, .claude/settings.local.json',
      'r shell * ask .claude/agents/r.md',
      'r shell git diff * deny .claude/settings.json',
      'r shell ls allow .claude/settings.json',
    ]);
  });
});
