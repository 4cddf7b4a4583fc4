/** What real executors ask for, as calls of our tools: the same rules decide about it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { understood } from './asked-call.ts';

const workspace = mkdtempSync(join(tmpdir(), 'troupe-asked-'));
afterAll(() => rmSync(workspace, { recursive: true }));
const inside = join(workspace, 'a');

const asked = (input: Json | undefined, title = 'A call', kind = 'execute') =>
  understood(
    {
      ...{ id: 'c', title, kind, status: 'pending', locations: [], output: '', outputBytes: 0, diffs: [] },
      ...present({ input }),
    },
    workspace,
  );
const shell = (command: string, more: object = {}) => ({ tool: 'shell', input: { command, ...more } });

describe('commands', () => {
  it.each([
    { of: 'Claude Code', input: { command: 'npm test', description: 'Tests' }, calls: [shell('npm test')] },
    { of: 'Codex', input: { command: 'npm test', cwd: inside }, calls: [shell('npm test', { cwd: inside })] },
    { of: 'an older Codex', input: { command: ['bash', '-lc', 'npm test'] }, calls: [shell('npm test')] },
    { of: 'Copilot', input: { command: 'npm test', commands: ['npm test'] }, calls: [shell('npm test')] },
    { of: 'Cline', input: { commands: ['npm test', 'rm -rf a'] }, calls: [shell('npm test'), shell('rm -rf a')] },
  ])('of $of', async ({ input, calls }) => {
    expect(await asked(input)).toEqual({ calls });
  });

  it.each([
    { commands: ['npm test', { cmd: 'rm' }] },
    { commands: ['npm test', ''] },
    { commands: [] },
    { commands: 'npm test' },
    { command: 'ls', cwd: 5 },
    { command: 'ls', cwd: '.', workdir: 'a' },
    { command: 'ls', env: ['PATH=/w/bin'] },
    {},
  ])('that cannot be told for sure always ask: %j', async (input) => {
    expect(await asked(input)).toMatchObject({
      calls: [{ tool: 'executor', input: { does: 'A call', kind: 'execute', input } }],
    });
  });

  it.each(['read', 'search', 'edit', 'fetch', 'think', 'other'])('are commands in a call of kind %s, too', async (kind) => {
    expect(await asked({ path: 'a.txt', command: 'rm -rf /' }, 'A call', kind)).toMatchObject({
      calls: [shell('rm -rf /'), {}],
    });
  });

  it('are judged with what else the call is about', async () => {
    expect(await asked({ path: 'a.txt', command: 'ls' }, 'A call', 'edit')).toMatchObject({
      calls: [shell('ls'), { tool: 'edit', input: { path: 'a.txt' } }],
    });
    expect(await asked({ command: 'ls' }, 'mcp__github__create_issue', 'other')).toMatchObject({
      calls: [shell('ls'), { tool: 'github__create_issue' }],
    });
  });

  it('are all of them, with their arguments and variables', async () => {
    expect(await asked({ command: 'ls lib', cmd: 'rm -rf /' })).toEqual({ calls: [shell('ls lib'), shell('rm -rf /')] });
    expect(await asked({ command: 'rm', args: ['-rf', '/'] })).toEqual({ calls: [shell('rm -rf /')] });
    expect(await asked({ command: 'ls', env: { PATH: '/w/bin' } })).toEqual({ calls: [shell('PATH=/w/bin ls')] });
  });

  it.each(['cwd', 'workdir', 'directory', 'workingDirectory'])('outside of the workspace are refused (%s)', async (key) => {
    expect(await asked({ command: 'ls lib', [key]: '/etc' })).toEqual({
      refused: expect.stringContaining('outside the workspace'),
    });
  });

  it('of editors are no programs', async () => {
    const calls = [{ tool: 'edit', input: { path: 'a.txt' } }];
    expect(await asked({ command: 'str_replace', path: 'a.txt' }, 'A call', 'edit')).toMatchObject({ calls });
  });
});
