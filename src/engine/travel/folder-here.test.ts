/** Whether somebody can work in a folder that a worker may not have. */
import { expect, it } from 'vitest';
import { Interruption } from '../interruption.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { noFolderHere } from './folder-here.ts';

const node = { run: 'run_1', parent: undefined, started: { agent: 'coder' } } as unknown as DrivenRun;
const setup = (tools: readonly string[], executor?: string): AgentSetup =>
  ({ definition: { executor: executor && { name: executor } }, tools: tools.map((name) => ({ name })) }) as unknown as AgentSetup;

const looking = (isHere: boolean, cancelled?: string) =>
  ({
    owner: 'process 7 on two',
    workspaceOf: () => '/srv/project',
    places: { travelling: { isHere: async () => isHere } },
    outside: { cancelled: () => cancelled },
  }) as unknown as Parameters<typeof noFolderHere>[0];

it.each([
  ['a tool for files', setup(['ask', 'read'])],
  ['a shell', setup(['shell'])],
  ['an executor', setup([], 'claude-code')],
])('whoever has %s needs it', async (_what, agent) => {
  expect(await noFolderHere(looking(false), node, agent, false)).toMatchObject({
    code: 'no_folder',
    message: 'coder works in /srv/project, and there is no such folder where it was taken up (process 7 on two).',
  });
  expect(await noFolderHere(looking(true), node, agent, false)).toBeUndefined();
});

it('nobody else does', async () => {
  expect(await noFolderHere(looking(false), node, setup(['ask', 'fetch', 'helper']), false)).toBeUndefined();
});

it('what has begun does not end for it: it waits for a worker that has it, unless it is to end anyway', async () => {
  const begun = noFolderHere(looking(false), node, setup(['write']), true);
  await expect(begun).rejects.toThrow(Interruption);
  await expect(begun).rejects.toMatchObject({ kind: 'interrupted', failure: { code: 'no_folder' } });
  expect(await noFolderHere(looking(false, 'enough'), node, setup(['write']), true)).toBeUndefined();
});
