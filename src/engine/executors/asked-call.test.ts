/** What real executors ask for, as calls of our tools: the same rules decide about it. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { understood } from './asked-call.ts';

const asked = (input: Json | undefined, title = 'A call', kind = 'execute') =>
  understood(
    {
      ...{ id: 'c', title, kind, status: 'pending', locations: [], output: '', outputBytes: 0, diffs: [] },
      ...present({ input }),
    },
    '/w',
  );
const shell = (command: string, more: object = {}) => ({ tool: 'shell', input: { command, ...more } });

describe('commands', () => {
  it.each([
    { of: 'Claude Code', input: { command: 'npm test', description: 'Tests' }, calls: [shell('npm test')] },
    { of: 'Codex', input: { command: 'npm test', cwd: '/w/a' }, calls: [shell('npm test', { cwd: '/w/a' })] },
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
    {},
  ])('that cannot be told for sure always ask: %j', async (input) => {
    expect(await asked(input)).toMatchObject({
      calls: [{ tool: 'executor', input: { does: 'A call', kind: 'execute', input } }],
    });
  });
});
