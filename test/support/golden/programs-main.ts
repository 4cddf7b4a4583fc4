/**
 * Writes the golden sessions of this release in which real programs take part: `node test/support/golden/programs-main.ts 0.1.0`.
 * The example of an architect: its executor is Troupe itself, a process for each task, in worktrees of a repository.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const [version = ''] = process.argv.slice(2);
const top = join(import.meta.dirname, '../../..');
// Its name stands in what is recorded: nobody's own.
const home = '/tmp/troupe-golden';
const folder = join(home, 'project');
rmSync(home, { recursive: true, force: true });
mkdirSync(home);
const node = join(home, 'node');
copyFileSync(process.execPath, node);
cpSync(join(top, 'examples/22-architect'), folder, { recursive: true });
const env = { PATH: `${home}:/usr/bin:/bin`, HOME: home };
const does = (cwd: string, program: string, ...words: readonly string[]): void =>
  void execFileSync(program, [...words], { cwd, env, stdio: 'inherit' });
const repository = join(folder, 'workspace');
does(repository, 'git', 'init', '-q');
does(repository, 'git', 'add', '-A');
does(repository, 'git', '-c', 'user.name=golden', '-c', 'user.email=golden@example.org', 'commit', '-qm', 'first');
does(
  folder,
  process.execPath,
  join(top, 'src/cli/main.ts'),
  'run',
  'lead',
  'Add a CLI tool to this repo and cover it with tests.',
);
const ledger = join(home, 'programs.db');
renameSync(join(folder, '.troupe/ledger.db'), ledger);
const { packed } = await import('./packed.ts');
await packed(ledger, version);
rmSync(home, { recursive: true, force: true });
