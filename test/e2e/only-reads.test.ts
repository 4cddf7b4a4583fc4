/** Nothing is created in a folder by commands that only read. */
import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject } from './support-project.ts';

const COMMANDS: readonly (readonly string[])[] = [
  ['ps'],
  ['ps', '--json'],
  ['sessions'],
  ['show', 'last'],
  ['logs', 'last'],
  ['why', 'last'],
  ['cost'],
  ['inbox'],
  ['inbox', '--list'],
  ['query', 'SELECT 1'],
  ['context', 'last'],
  ['blame', 'agents/helper.md'],
  ['replay', 'last'],
  ['export', 'last'],
  ['attach', 'last'],
  ['test'],
  ['telemetry', 'status'],
  ['permissions'],
  ['agents', 'list'],
  ['models'],
  ['check'],
  ['artifacts', 'last'],
  ['tasks'],
  ['ledger', 'verify'],
];

it.each([false, true])('by no command, at a terminal: %s', async (interactive) => {
  await using project = await createTestProject();
  const files = async (): Promise<readonly string[]> => (await readdir(project.folder, { recursive: true })).toSorted();
  const before = await files();
  expect(before).toContain('troupe.yaml');
  const left: Record<string, readonly string[]> = {};
  for (const command of COMMANDS) {
    const terminal = testTerminal({ env: project.env, cwd: project.folder, interactive });
    await runProgram(command, terminal);
    const more = (await files()).filter((file) => !before.includes(file));
    if (more.length > 0) left[command.join(' ')] = more;
  }
  expect(left).toEqual({});
});
