import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { changedBetween, closedFiles } from './closed-files.ts';

const top = mkdtempSync(join(tmpdir(), 'troupe-closed-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));
const project = join(top, 'project');
const user = join(top, 'user');
const far = join(top, 'repository', '.git');
const places = { project, home: join(project, '.troupe'), ledgers: [], user, keys: join(top, 'keys') };

it('knows what was made, changed or taken away of what decides about the work, and nothing else', async () => {
  for (const folder of [join(project, 'agents'), join(project, '.git', 'hooks'), join(user, 'remembered'), join(far, 'hooks')])
    mkdirSync(folder, { recursive: true });
  writeFileSync(join(project, 'agents', 'a.md'), 'a');
  writeFileSync(join(project, 'troupe.yaml'), 'verify: [x]');
  writeFileSync(join(project, '.git', 'config'), '[core]');
  writeFileSync(join(far, 'hooks', 'pre-commit'), '#!/bin/sh', { mode: 0o644 });
  const before = await closedFiles(places, [far]);
  expect(changedBetween(before, await closedFiles(places, [far]))).toEqual([]);

  // What holds the same is the same, and what somebody has allowed meanwhile is no harm.
  utimesSync(join(project, '.git', 'config'), 1, 1);
  writeFileSync(join(user, 'remembered', 'rule.json'), '{}');
  writeFileSync(join(project, 'code.ts'), 'code');
  // Walls put these up where nobody may make any.
  for (const name of ['config.worktree', 'commondir']) writeFileSync(join(project, '.git', name), '');
  expect(changedBetween(before, await closedFiles(places, [far]))).toEqual([]);

  writeFileSync(join(project, 'agents', 'evil.md'), 'e');
  rmSync(join(project, 'troupe.yaml'));
  writeFileSync(join(project, '.git', 'commondir'), '/evil');
  writeFileSync(join(project, '.git', 'config'), '');
  chmodSync(join(far, 'hooks', 'pre-commit'), 0o755);
  writeFileSync(join(user, 'config.yaml'), 'sandbox: off');
  expect(changedBetween(before, await closedFiles(places, [far])).toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
    [
      { path: '.git/commondir', kind: 'git' },
      { path: '.git/config', kind: 'git' },
      { path: 'agents/evil.md', kind: 'agents' },
      { path: 'troupe.yaml', kind: 'settings' },
      { path: join(far, 'hooks', 'pre-commit'), kind: 'git' },
      { path: join(user, 'config.yaml'), kind: 'settings' },
    ].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
});
