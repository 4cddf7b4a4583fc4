/**
 * Places for many tasks in a large repository: `node bench/worktrees.ts [--files 5000] [--places 50] [--at-once 4]`.
 * Time and disk for so many worktrees as `src/workspaces` makes them, each with what its task did captured as a patch and
 * removed again, against what git takes for as many of its own (`git worktree add`). The repository has uncommitted changes,
 * as people's have.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { atMost } from '../src/base/at-most.ts';
import { systemClock } from '../src/base/clock.ts';
import { createIds } from '../src/base/ids.ts';
import { systemRandom } from '../src/base/random.ts';
import type { Result } from '../src/base/result.ts';
import { createWorkspaces } from '../src/workspaces/workspaces.ts';
import { filesIn } from './meter.ts';
import { bytes, number, table } from './table.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '5000' },
    places: { type: 'string', default: '50' },
    'at-once': { type: 'string', default: '4' },
  },
});
const [files, places, many] = [Number(values.files), Number(values.places), Number(values['at-once'])];
const FILES_PER_FOLDER = 50;
const LINE = 'const value = compute(first, second); // a line as there are many\n';

const top = mkdtempSync(join(tmpdir(), 'troupe-bench-worktrees-'));
const repo = join(top, 'repo');
const home = join(top, 'home');
const git = (...parameters: readonly string[]): string => execFileSync('git', parameters, { cwd: repo, encoding: 'utf8' });

function makeRepository(): void {
  mkdirSync(repo);
  mkdirSync(home);
  git('init', '-q');
  for (let index = 0; index < files; index += 1) {
    const folder = join(repo, `part-${Math.floor(index / FILES_PER_FOLDER)}`);
    if (index % FILES_PER_FOLDER === 0) mkdirSync(folder);
    // About 4 KB each, none like another.
    writeFileSync(join(folder, `file-${index}.js`), `// ${index}\n${LINE.repeat(40 + (index % 40))}`);
  }
  git('add', '-A');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.org', 'commit', '-qm', 'all');
  for (let index = 0; index < 20; index += 1) writeFileSync(join(repo, `part-0/file-${index}.js`), `changed ${index}\n`);
}

const must = <Value>(result: Result<Value, { readonly message: string }>): Value => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

/** What the files take on the disk, in blocks. */
const onDisk = (folder: string): number => filesIn(folder).reduce((sum, file) => sum + statSync(file).blocks * 512, 0);

async function timed<Value>(work: () => Promise<Value>): Promise<{ readonly ms: number; readonly value: Value }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

try {
  makeRepository();
  const load = loadavg()[0] ?? Number.NaN;
  const tree = onDisk(repo);
  const objects = onDisk(join(repo, '.git'));
  const ids = createIds(systemClock, systemRandom);
  const workspaces = createWorkspaces({ home, environment: process.env, clock: systemClock, ids });
  const names = Array.from({ length: places }, (_one, index) => `task-${index}`);
  const inTurn = atMost(many);
  const each = <Value>(work: (task: string) => Promise<Value>) =>
    timed(() => Promise.all(names.map((one) => inTurn(() => work(one)))));
  const made = await each(async (task) =>
    must(await workspaces.prepare({ repo, session: 'ses_bench', task, base: 'working-tree' })),
  );
  const disk = onDisk(home);
  for (const { place } of made.value) writeFileSync(join(place.path, 'part-1/file-50.js'), 'done\n');
  const captured = await timed(() =>
    Promise.all(made.value.map(({ place }) => inTurn(async () => must(await workspaces.capture(place))))),
  );
  if (captured.value.some((one) => one.files.length !== 1)) throw new Error('a patch has not exactly what was done');
  const removed = await timed(() =>
    Promise.all(made.value.map(({ place }) => inTurn(async () => must(await workspaces.remove(place, { force: true }))))),
  );
  const bare = await timed(async () => {
    for (const name of names) git('worktree', 'add', '-q', '--detach', join(top, 'bare', name), 'HEAD');
  });
  const bareDisk = onDisk(join(top, 'bare'));
  const seconds = (ms: number): string => number(ms / 1_000, 1);
  const head = [`${places} worktrees of ${files} files (${bytes(tree - objects)})`, 'here', 'git alone'];
  const rows = [
    [`made, ${many} at once (git: one after the other), s`, seconds(made.ms), seconds(bare.ms)],
    ['the same for each, ms', number(made.ms / places, 0), number(bare.ms / places, 0)],
    ['disk', bytes(disk), bytes(bareDisk)],
    ['disk for each', bytes(disk / places), bytes(bareDisk / places)],
    ['one file changed in each, captured as a patch, s', seconds(captured.ms), '–'],
    ['removed, s', seconds(removed.ms), '–'],
  ];
  process.stdout.write(`load ${number(load)}\n\n${table(head, rows)}\n`);
} finally {
  rmSync(top, { recursive: true, force: true });
}
