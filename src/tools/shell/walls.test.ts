import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commandWalls } from './walls.ts';

const top = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-command-walls-')));
const common = join(top, 'repository', '.git');
const own = join(common, 'worktrees', 'task');
const workspace = join(top, 'task', 'packages', 'one');

function laid(commondir: string, at = own): void {
  for (const folder of [at, join(common, 'objects'), workspace]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(at, 'commondir'), `${commondir}\n`);
  writeFileSync(join(top, 'task', '.git'), `gitdir: ${at}\n`);
}

it('opens of the repository of a worktree what a commit needs, also for a folder below its top', () => {
  laid('../..');
  const { write, keep, read } = commandWalls(workspace, undefined);
  expect(write).toEqual([workspace, own, join(common, 'objects')]);
  expect(keep).toEqual(expect.arrayContaining([join(top, 'task', '.git'), join(own, 'commondir')]));
  expect(read).toEqual(expect.arrayContaining(['config', 'refs', 'logs'].map((name) => join(common, name))));
  // What is installed there is found from below, and only read.
  expect(read).toContain(join(top, 'repository', 'node_modules'));
});

it('opens nothing that a file only names, which the work itself may have written', () => {
  const made = join(workspace, 'fake');
  laid(common, made);
  expect(commandWalls(workspace, undefined).write).toEqual([workspace]);
  rmSync(top, { recursive: true, force: true });
});
