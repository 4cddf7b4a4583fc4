import { expect, it } from 'vitest';
import { checkArchitect } from './check-architect.ts';
import type { AgentDefinition } from './definition.ts';

const problems = (changes: Partial<AgentDefinition>): string[] => {
  const agent = {
    name: 'lead',
    models: [],
    prompt: 'You lead.',
    source: 'agents/lead.md',
    architect: { executor: 'hand' },
    ...changes,
  };
  const place = { file: 'agents/lead.md', line: 1, column: 1 };
  return checkArchitect(agent, () => place).map(({ severity, message }) => `${severity}: ${message}`);
};

it.each([
  ['nothing', { tools: ['read', 'list', 'search', 'plan', 'ask'] }, []],
  [
    'tools that it never gets',
    { tools: ['read', 'shell'] },
    ['warning: an architect has no hands: it does not get the tool "shell"'],
  ],
  ['sub-agents', { agents: ['hand'] }, ['warning: an architect calls no sub-agents']],
  ['servers', { mcp: { files: { command: 'x' } } }, ['warning: an architect gets no tools of MCP servers']],
  [
    'the executor twice',
    { architect: { executor: 'hand', fallbackExecutors: ['hand'] } },
    ['error: "hand" is the executor itself'],
  ],
  [
    'two at once in one folder',
    { architect: { executor: 'hand', workspace: 'in-place', parallel: 2 } },
    ['error: tasks in one folder are worked on one after the other'],
  ],
  [
    'nobody to fall back on',
    { architect: { executor: 'hand', failurePolicy: { onRepeatedError: 'downgrade_executor' } } },
    ['warning: there is nobody to give a task to that goes on failing'],
  ],
  ['no architect', { architect: undefined, tools: ['shell'] }, []],
] as const)('finds %s', (_what, changes, found) =>
  expect(problems(changes as unknown as Partial<AgentDefinition>)).toEqual(found),
);
