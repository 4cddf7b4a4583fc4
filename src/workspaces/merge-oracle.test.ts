/**
 * Work of several tasks against git's own merge: random sets of edits, in domains that are disjoint and that overlap.
 * `TROUPE_SEEDS` says how many.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commitAll, type RandomCase, randomCase } from '../../test/support/workspaces/random-edits.ts';
import { git, testRepository, value } from '../../test/support/workspaces/test-repository.ts';
import { mergeAll } from './merge.ts';
import type { MergedWork } from './port.ts';
import { withPrivateGit } from './private-git.ts';
import { findRepository } from './repository.ts';

const CASES = Number(process.env['TROUPE_SEEDS'] ?? 200);

/**
 * Porcelain in a checkout, in one shell for all cases: one merge after the other, and one with conflicts is taken back as a
 * whole. Its input is a line for each case, with the commits of its tasks.
 */
const ORACLE = `
diff="git diff-tree -r -M -p --binary --full-index --unified=3 --diff-algorithm=myers"
number=0
while read -r commits; do
  git checkout -q -f --detach "$base" || exit 1
  task=0
  for commit in $commits; do
    $diff "$base" "$commit" > "$out/$number-$task.patch"
    if git merge -q --no-ff --no-edit "$commit" >/dev/null 2>&1; then echo "$task" >> "$out/$number.merged"
    else
      git ls-files -u | cut -f 2 | sort -u > "$out/$number-$task.conflicts"
      git reset -q --hard
      git clean -qfdx
    fi
    task=$((task + 1))
  done
  $diff "$base" HEAD > "$out/$number.patch"
  number=$((number + 1))
done
`;

const lines = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n').filter(Boolean);

it(`${CASES} random sets of edits go together as git's own merge has it`, async () => {
  const cases = fc.sample(randomCase, CASES);
  const { top, home, options } = await testRepository();
  const { base, commits } = commitAll(
    top,
    cases.flatMap(({ tasks }) => tasks),
  );
  const left = [...commits];
  const own = cases.map(({ tasks }) => left.splice(0, tasks.length));
  const out = join(home, 'oracle');
  mkdirSync(out);
  const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' };
  const env = { ...process.env, ...who, base, out };
  const input = own.map((names) => `${names.join(' ')}\n`).join('');
  expect(spawnSync('sh', ['-c', ORACLE], { cwd: top, env, input }).status).toBe(0);

  const tally = { disjoint: 0, overlapping: 0, left: 0, leftOfDisjoint: 0 };
  const kinds = new Set<string>();
  await withPrivateGit(value(await findRepository(top, process.env)), home, options.environment, async (privately) => {
    for (const [number, one] of cases.entries()) {
      const patches = one.tasks.map((_, task) => ({
        task: `${task}`,
        patch: readFileSync(join(out, `${number}-${task}.patch`)),
      }));
      const outcome = value(await mergeAll(privately, { base, patches }));
      compare(one, join(out, `${number}`), outcome);
      tally[one.disjoint ? 'disjoint' : 'overlapping'] += 1;
      tally[one.disjoint ? 'leftOfDisjoint' : 'left'] += outcome.left.length;
      for (const { conflicts } of outcome.left) for (const conflict of conflicts) kinds.add(conflict.kind);
    }
  });
  expect(tally.disjoint).toBeGreaterThan(CASES / 4);
  expect(tally.overlapping).toBeGreaterThan(CASES / 4);
  expect(tally.left).toBeGreaterThan(CASES / 10);
  expect(tally.leftOfDisjoint).toBe(0);
  expect([...kinds]).toEqual(expect.arrayContaining(['content', 'add/add', 'modify/delete']));
  expect(git(top, 'status', '--porcelain')).toBe('');
});

function compare(one: RandomCase, files: string, outcome: MergedWork): void {
  expect(outcome.merged).toEqual(lines(`${files}.merged`));
  const all = [...outcome.merged, ...outcome.left.map(({ task }) => task)].toSorted();
  expect(all).toEqual(one.tasks.map((_, task) => `${task}`));
  expect(Buffer.compare(Buffer.from(outcome.patch), readFileSync(`${files}.patch`))).toBe(0);
  for (const { task, conflicts, against, marked } of outcome.left) {
    // A file where the other side has a folder gets a commit behind its name.
    const expected = lines(`${files}-${task}.conflicts`).map((path) => path.replace(/~\w+$/, ''));
    const told = new Set(conflicts.flatMap(({ path, says }) => [path, ...expected.filter((each) => says.includes(each))]));
    expect(expected.filter((path) => !told.has(path))).toEqual([]);
    expect(against.length).toBeGreaterThan(0);
    expect(marked.length).toBeGreaterThan(0);
  }
}
