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
    await expect(removeRuleCommand(context, 'shell', 'npm run', {})).rejects.toThrow('No such rule');
    await expect(removeRuleCommand(context, 'shell', undefined, {})).rejects.toThrow('No such rule');
    await expect(removeRuleCommand(context, undefined, undefined, {})).rejects.toThrow('Which rule?');
    expect(await removeRuleCommand(context, 'shell', 'npm run lint', {})).toBe(0);
    expect(book.rules()).toEqual([{ tool: 'x__y' }]);
    expect(await removeRuleCommand(context, undefined, undefined, { all: true })).toBe(0);
    expect(book.rules()).toEqual([]);
  });
});
